"""vLLM's AsyncLLM: the tokens are computed in a process of its own, which lives and dies with this one.

arguments    what vLLM is told, each with its reason
manners      what it is not to do here: log in its own form, phone home, fork, leave things behind
process      what is ours in vLLM's process: it dies with its parent, and its log is ours
turns        engines start one after the other on a GPU
model        asks in, tokens out
"""

from api.engines.lm.vllm.model import VllmModel

__all__ = ["VllmModel"]
