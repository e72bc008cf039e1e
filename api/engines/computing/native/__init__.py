"""Convolutions after snakes on a CPU, which is most of a vocoder's work, as machine code made for the CPU at hand.

    toom         fewer products: the mathematics
    machine      LLVM: loops, vectors, compiled functions
    activation   the norm and the snake before a convolution
    convolution  norm, snake, convolution and sum in one pass through the cache
    dots         the same with products of bytes
    statistics   what a norm has to know of a row
    layer, kit   a convolution's weights, and the functions for some shapes of them
    crew         the threads that share the work

It needs `llvmlite`, which brings its own compiler. Where that is absent, torch does the same more slowly.
"""
