"""Kokoro's residual blocks on a CPU, 87 % of the model's work, as machine code made for the CPU at hand.

    toom         fewer products: the mathematics
    machine      LLVM: loops, vectors, compiled functions
    convolution  norm, snake, convolution and sum in one pass through the cache
    statistics   what a norm has to know of a row
    snake        a SnakeBlock on these, and the threads that share its work

It needs `llvmlite`, which brings its own compiler. Where that is absent, torch does the same more slowly.
"""
