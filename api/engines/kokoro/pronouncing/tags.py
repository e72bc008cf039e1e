"""Parts of speech by rule of thumb, for when spaCy's model is not installed.

The pronouncing dictionary asks for them where one spelling has two readings. Signs and function words are as
certain here as in a model; of the others, only what their neighbour gives away is told.
"""

from collections.abc import Iterator, Sequence
from typing import Any

_SIGNS = {
    **dict.fromkeys(".!?", "."),
    **dict.fromkeys(":;…—–", ":"),
    **dict.fromkeys("([{", "-LRB-"),
    **dict.fromkeys(")]}", "-RRB-"),
    **dict.fromkeys("$£€", "$"),
    **dict.fromkeys("“«", "``"),
    **dict.fromkeys("”»", "''"),
    ",": ",",
}
_WORDS = {
    "determiner": "a an the this these those my your his its our their some any no every each",
    "before a verb": "to will would can could shall should must may might do does did don't doesn't didn't can't"
    " won't cannot couldn't wouldn't shouldn't not n't ca wo i you we they who let's",
    "before a participle": "have has had having been be is are was were being am 've",
    "preposition": "in of at by vs vs.",
    "before a sentence": '. ! ? : ; … ( " “',
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()} | {"": "before a sentence"}
_AFTER = {"determiner": "NN", "before a verb": "VB", "before a participle": "VBN"}
_ALONE = {"i": "PRP", "to": "TO"}
_KNOWN = {"determiner": "DT", "preposition": "IN"}


def tagged(doc: Any) -> Any:
    """The spaCy document, with its tokens' tags set."""
    tokens = list(doc)
    for token, tag in zip(
        tokens, tags([t.text for t in tokens], [bool(t.whitespace_) for t in tokens]), strict=True
    ):
        token.tag_ = tag
    return doc


def tags(words: Sequence[str], spaces: Sequence[bool]) -> Iterator[str]:
    """A Penn Treebank tag for each token, empty where nothing is known; `spaces` says after which there is one."""
    for at, word in enumerate(words):
        before = words[at - 1].lower() if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        apart = not at or spaces[at - 1]
        yield _sign(word, apart, spaces[at]) or _word(word, before, after)


def _sign(word: str, space_before: bool, space_after: bool) -> str:  # noqa: FBT001
    if word in ('"', "''", "``"):
        return "``" if space_before and not space_after else "''"
    if word in ("-", "--"):
        return ":" if space_before and space_after else "HYPH"
    return _SIGNS.get(word[0], "") if len(set(word)) == 1 else ""


def _word(word: str, before: str, after: str) -> str:
    lower, kind = word.lower(), _KINDS.get(before, "")
    if word[0].isdigit():
        return "CD"
    if lower == "a":
        # "a cat" and "A cat", but "plan A" and "A, B and C".
        article = word == "a" or (kind == "before a sentence" and after.islower())
        return "DT" if article and after[:1].isalnum() else "NN"
    if lower == "used" and kind != "before a participle":
        return "VBD"
    return _ALONE.get(lower) or _KNOWN.get(_KINDS.get(lower, "")) or _AFTER.get(kind, "")
