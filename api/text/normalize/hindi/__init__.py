"""How Hindi is read."""

from api.text.normalize.hindi.rules import HINDI, WITH_DIGITS

__all__ = ["HINDI", "WITH_DIGITS"]
