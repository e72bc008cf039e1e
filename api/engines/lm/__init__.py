"""Language models that speak in tokens: what an engine asks of one, whichever runtime it runs on."""

from api.engines.lm.base import GREEDY, Ask, Ending, LanguageModel, Sampling, Tokens

__all__ = ["GREEDY", "Ask", "Ending", "LanguageModel", "Sampling", "Tokens"]
