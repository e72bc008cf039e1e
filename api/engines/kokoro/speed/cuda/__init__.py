"""What the model does otherwise on an NVIDIA GPU. Nothing here changes what is computed, only how.

    norm    norm and snake as one kernel (Triton)
    steps   the model's two steps, small ones recorded and replayed in dense buckets (`engines/computing/cuda`)
    quicken what is tried, and taken if it sounds the same

Each is small and plain, because none of it has run on a GPU yet: on a CPU the kernel runs in Triton's interpreter,
and what is recorded runs unrecorded, without a question from the host to the device (tests/engines/kokoro).
"""
