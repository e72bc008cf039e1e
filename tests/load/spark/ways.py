"""The improvements, in the order in which they are switched on. The first row has none of them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Ways:
    """How a request is served. Each field says what is done; without it, what is done at first sight."""

    names_once: bool = False
    device_once: bool = False
    windows: bool = False
    prompt_in_ids: bool = False
    speakers_kept: bool = False
    early: bool = False
    together: bool = False
    head_cut: bool = False
    as_buffer_allows: bool = False


TOLD = {
    "names_once": "1A: tokens are looked up by name once, and not by each request",
    "device_once": "1B: the codec is not moved to its device before each call",
    "windows": "2A: the new tokens are decoded among 24 before them, and not all from the start",
    "prompt_in_ids": "2C: the prompt's fixed parts are ids already",
    "speakers_kept": "3C: the speaker's 32 tokens and their vector are kept, not written by the model",
    "early": "3D: first sound after 8 tokens and not 16, then after 12 each and not 24",
    "together": "3B: windows of all streams are decoded in one call",
    "head_cut": "of the head only the 8,192 rows of speech are computed",
    "as_buffer_allows": "as Chorus does it: chunks grow, and are exact as soon as the listener's buffer allows",
}


def rows() -> Iterator[tuple[str, Ways]]:
    """Each with all that the rows above it have."""
    ways = Ways()
    yield "as first written", ways
    for improvement in fields(Ways):
        ways = replace(ways, **{improvement.name: True})
        yield f"+ {TOLD[improvement.name]}", ways
