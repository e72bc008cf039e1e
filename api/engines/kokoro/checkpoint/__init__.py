"""A folder of the hub's files as published comes in, a model with its weights goes out; a voice's file too.

loading    reads safely, keeps the tensors as safetensors beside the file, checks every shape
weights    every spelling of a checkpoint brought to one, norms folded
names      where each of the model's tensors stands in the published file
"""

from api.engines.kokoro.checkpoint.loading import Loaded, build, load, read_pack, read_pth

__all__ = ["Loaded", "build", "load", "read_pack", "read_pth"]
