"""Line ends: which of them a listener should hear as an end, and which only wrapped a line."""

import re

from api.text.traced import Edit, Traced

_LINE_END = re.compile(r"(?<! )[ ]*\n[\n ]*")
_STOPS = frozenset(".!?:;,…。！？；：，、।॥؟۔—–-")
_CLOSERS = "\"')]}»”’」』）*_"
# A line that was broken because it was full is about as long as a page is wide.
_FULL_LINE = 40


def unwrap(text: Traced) -> Traced:
    """Join wrapped lines; end the others with a full stop where the writer had none, so that a heading does
    not run into the text below it."""
    if "\n" not in text.text:
        return text
    return text.edited(
        edit
        for match in _LINE_END.finditer(text.text)
        for edit in _line_end(text.text, match.start(), match.end(), match.group())
    )


def _line_end(text: str, start: int, end: int, white: str) -> tuple[Edit, ...]:
    previous = text.rfind("\n", max(0, start - _FULL_LINE), start)
    full = previous < 0 and start > _FULL_LINE
    following = text[end : end + 1]
    last = text[max(0, start - 8) : start].rstrip(_CLOSERS)[-1:]
    if white.count("\n") == 1 and last not in _STOPS and (full or following.islower()):
        return ((start, end, " "),)
    if following and (last.isalnum() or "\u0900" <= last <= "\u0d7f"):
        return ((start, start, _full_stop(last)), (start, end, "\n"))
    return ((start, end, "\n"),)


def _full_stop(after: str) -> str:
    """The full stop of the script, or none where its use would be a guess.

    In India the north ends sentences with a danda; Gujarati and the south write a full stop.
    """
    if after < "\u0590" or "\u0b80" <= after <= "\u0d7f" or "\u0a80" <= after <= "\u0aff":
        return "."
    if "\u0900" <= after <= "\u0b7f":
        return "।"
    return "。" if "\u3040" <= after <= "\u9fff" else ""
