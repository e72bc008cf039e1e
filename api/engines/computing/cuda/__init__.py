"""An NVIDIA GPU: small steps recorded once, and replayed."""
