"""What Kokoro makes of the device at hand: `make bench-kokoro`, or `python -m tests.load.kokoro --help`.

stage      the full-size model and the reference on the same random weights, and lines of natural lengths
limits     what this device can compute and move at most, measured in the same run
rates      audio seconds a second, ours and the reference's in turns, and where the time goes
listeners  a server with more and more workers, and people who listen (on a GPU)
"""
