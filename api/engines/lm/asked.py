"""What is wrong with an ask, before it meets the others."""

from api.engines.lm.base import Ask
from api.errors import EngineFailed, InputTooLong


def refuse_the_impossible(ask: Ask, context: int, vocabulary: int) -> None:
    """What asks for what is not there would fail in the middle of a batch."""
    if len(ask.prompt) + ask.most > context:
        raise InputTooLong(
            f"This is too long for the language model: {len(ask.prompt)} tokens and an answer of up to "
            f"{ask.most}, where it holds {context}.",
            param="input",
        )
    allowed = (ask.allowed[0], ask.allowed[-1]) if ask.allowed else ()
    strangers = [token for token in (*ask.prompt, *ask.stop, *allowed) if not 0 <= token < vocabulary]
    nothing = not ask.prompt or ask.most < 1 or (ask.allowed is not None and not len(ask.allowed))
    if strangers or nothing:
        raise EngineFailed("The engine asked the language model for what it does not know.")
