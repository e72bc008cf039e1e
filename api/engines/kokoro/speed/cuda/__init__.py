"""What the model does otherwise on an NVIDIA GPU. Nothing here changes what is computed, only how.

    norm    norm and snake as one kernel (Triton)
    graphs  small steps recorded once and replayed, in dense buckets of rows and lengths
    steps   the model's two steps on these
    quicken what is tried, and taken if it sounds the same

Each is small and plain, because none of it has run on a GPU yet: on a CPU the kernel runs in Triton's interpreter,
and what is recorded runs unrecorded, without a question from the host to the device (tests/engines/kokoro).
"""
