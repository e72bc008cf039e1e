"""What a text must hold for a pattern to match in it at all, read off the pattern itself.

Most patterns ask for a digit or a sign that most texts have not. To look for it costs a hundredth of a search.
"""

import re
from collections.abc import Iterable, Sequence
from re import _constants as op  # type: ignore[attr-defined]  # the parser is `re`'s own, and typeshed leaves it out
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from api.text.traced import Needs

# Larger sets are of no help: some character of theirs is in every text.
_LARGEST = 10_000


def needs_of(pattern: re.Pattern[str]) -> Needs:
    """The rarest first. What this does not understand it takes for no need."""
    found = set(_all_of(_parser.parse(pattern.pattern, pattern.flags), pattern.flags))
    return tuple(sorted(found, key=_commonness))


def _all_of(parts: Iterable[tuple[Any, Any]], flags: int) -> list[frozenset[str]]:
    return [need for kind, what in parts for need in _of(kind, what, flags)]


def _of(kind: Any, what: Any, flags: int) -> list[frozenset[str]]:
    needs: list[frozenset[str]] = []
    match kind:
        case op.LITERAL:
            needs = _one_of([chr(what)], flags)
        case op.IN if what[0][0] in (op.LITERAL, op.RANGE):
            needs = _one_of(_members(what), flags)
        case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT if what[0]:
            needs = _all_of(what[2], flags)
        case op.BRANCH:
            needs = _any_of([_all_of(branch, flags) for branch in what[1]])
        case op.SUBPATTERN:
            _, flags_on, flags_off, group = what
            needs = _all_of(group, flags & ~flags_off | flags_on)
        case op.ASSERT:
            needs = _all_of(what[1], flags)
        case op.ATOMIC_GROUP:
            needs = _all_of(what, flags)
    return needs


def _any_of(branches: Sequence[Sequence[frozenset[str]]]) -> list[frozenset[str]]:
    """What one of the branches needs, each by what is rarest in it."""
    if not all(branches):
        return []
    return [frozenset().union(*(min(branch, key=_commonness) for branch in branches))]


def _one_of(characters: Sequence[str], flags: int) -> list[frozenset[str]]:
    """Which letters are the same but for their case is a long story, and left to `re`."""
    if not characters or (flags & re.IGNORECASE and any(c.upper() != c.lower() for c in characters)):
        return []
    return [frozenset(characters)]


def _members(kinds: Sequence[tuple[Any, Any]]) -> list[str]:
    """The characters of a set; none where it has too many, or kinds of them."""
    members: list[str] = []
    for kind, what in kinds:
        first, last = (what, what) if kind is op.LITERAL else what if kind is op.RANGE else (0, _LARGEST)
        if last - first >= _LARGEST:
            return []
        members += map(chr, range(first, last + 1))
    return members


def _commonness(need: frozenset[str]) -> tuple[float, int]:
    """How likely a text has one of these: small letters and the space most of all."""
    common = sum(10.0 if c == " " else 1.0 if c.islower() or c in ".," else 0.1 for c in need if c < "\x80")
    return common, len(need)
