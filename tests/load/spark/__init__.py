"""What each improvement of a speech language model's pipeline brings: `python -m tests.load.spark`.

ways       the improvements, in the order in which they are switched on
pipeline   one request's way from text to sound, with as many of them as are asked for
stage      the models: in the published layout, of random weights
memory     what each part of them takes of a device
"""
