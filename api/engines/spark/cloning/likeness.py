"""What Spark knows of somebody whom it heard in a clip."""

from dataclasses import dataclass

from api.types import Voice


@dataclass(frozen=True, slots=True)
class Likeness(Voice):
    """A voice made of a clip.

    `globals` are the 32 tokens of who speaks. `codes` are the semantic tokens of the clip, and `transcript` what
    is said in it: the model reads both before it goes on in the same voice. Without a transcript there are none.
    """

    globals: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()
    transcript: str = ""
