"""Language models that speak in tokens: what an engine asks of one, whichever runtime it runs on.

    base       the contract
    opening    which runtime, and how much of the machine
    plan       what config.json (shape) and the driver (gpus) say, and what follows for memory
    rows/      torch and transformers, with a running batch of our own
    vllm/      vLLM's AsyncLLM, with its engine in a process of its own

Importing this package imports neither of the two.
"""

from api.engines.lm.base import GREEDY, Ask, Ending, LanguageModel, Sampling, Tokens
from api.engines.lm.opening import CONTEXT, missing, needs, open_language_model

__all__ = [
    "CONTEXT",
    "GREEDY",
    "Ask",
    "Ending",
    "LanguageModel",
    "Sampling",
    "Tokens",
    "missing",
    "needs",
    "open_language_model",
]
