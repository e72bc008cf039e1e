"""What is to be known of the device that computes."""


def is_fatal(error: Exception) -> bool:
    """Whether the device is lost for this process: after that, nothing that is tried on it can succeed."""
    return type(error).__name__ == "AcceleratorError" or str(error).startswith("CUDA error")
