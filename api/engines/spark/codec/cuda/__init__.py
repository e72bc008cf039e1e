"""What the decoder does otherwise on an NVIDIA GPU. Nothing here changes what is computed, only how.

    snake     the snake as one kernel (Triton)
    recorded  small steps recorded once and replayed, in buckets of windows and of tokens wanted of them
    quicken   what is tried, and taken if it sounds the same

None of it has run on a GPU yet: on a CPU the kernel runs in Triton's interpreter, and what is recorded runs
unrecorded, without a question from the host to the device (tests/engines/spark/codec).
"""
