"""The rules of reading, in the order in which they are applied. Each can be switched off by its name."""

from collections.abc import Sequence

from api.text.normalize.emoji import EMOJI
from api.text.normalize.markup import HTML, MARKDOWN
from api.text.rule import Rule
from api.text.sentences import base_language

MASTER_SWITCH = "normalize"

ANY_LANGUAGE: tuple[Rule, ...] = (HTML, MARKDOWN, EMOJI)
ENGLISH: tuple[Rule, ...] = ()

RULES: tuple[str, ...] = tuple(rule.name for rule in (*ANY_LANGUAGE, *ENGLISH))


def rules_for(language: str) -> Sequence[Rule]:
    """The rules on how a language is read; each works within one sentence."""
    return ENGLISH if base_language(language) == "en" else ()
