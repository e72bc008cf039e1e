"""Abbreviations and initials, and the full stops in them that do not end a sentence."""

import re
from collections.abc import Iterator

from api.text.rule import Rule
from api.text.sentences import ends_sentence
from api.text.traced import Edit, groups

# Read so wherever they stand.
_ALWAYS = {
    "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Prof.": "Professor", "Sr.": "Senior", "Jr.": "Junior",
    "Gen.": "General", "Sen.": "Senator", "Rep.": "Representative", "Gov.": "Governor", "Capt.": "Captain",
    "Lt.": "Lieutenant", "Col.": "Colonel", "Sgt.": "Sergeant", "Rev.": "Reverend", "Hon.": "Honorable",
    "Pres.": "President", "Messrs.": "Messieurs", "Mt.": "Mount", "Ft.": "Fort",
    "Ave.": "Avenue", "Blvd.": "Boulevard", "Rd.": "Road", "Ln.": "Lane", "Hwy.": "Highway", "Pkwy.": "Parkway",
    "Apt.": "Apartment", "Bldg.": "Building", "Inc.": "Incorporated", "Ltd.": "Limited", "Corp.": "Corporation",
    "Co.": "Company", "Bros.": "Brothers", "Univ.": "University", "Assn.": "Association",
    "vs.": "versus", "vs": "versus", "etc.": "et cetera", "etc": "et cetera", "e.g.": "for example",
    "eg.": "for example", "i.e.": "that is", "ie.": "that is", "a.k.a.": "also known as",
    "aka": "also known as", "approx.": "approximately", "dept.": "department", "Dept.": "Department",
    "est.": "established", "Est.": "Established", "govt.": "government", "Govt.": "Government",
    "misc.": "miscellaneous", "et al.": "and others", "cf.": "compare", "viz.": "namely", "incl.": "including",
    "excl.": "excluding", "max.": "maximum", "min.": "minimum", "avg.": "average", "tel.": "telephone",
    "Tel.": "Telephone", "ext.": "extension", "w/o": "without", "w/": "with", "b/c": "because",
    "asap": "A S A P", "ASAP": "A S A P", "Ph.D.": "P H D", "Ph.D": "P H D", "PhD": "P H D", "p.s.": "P S",
}  # fmt: skip
# Read so only before a number.
_BEFORE_NUMBER = {
    "No.": "Number", "no.": "number", "Nos.": "Numbers", "nos.": "numbers", "№": "number", "p.": "page",
    "pp.": "pages", "vol.": "volume", "Vol.": "Volume", "fig.": "figure", "Fig.": "Figure", "figs.": "figures",
    "ch.": "chapter", "Ch.": "Chapter", "sec.": "section", "Sec.": "Section", "c.": "circa", "ca.": "circa",
    "art.": "article", "Art.": "Article", "eq.": "equation", "Eq.": "Equation", "Rm.": "Room", "#": "number",
}  # fmt: skip


def _any_of(table: dict[str, str]) -> str:
    return "|".join(re.escape(key) for key in sorted(table, key=len, reverse=True))


# After a number, "min." is a unit.
_WORD = re.compile(
    rf"(?<![\w.@/])(?!(?<=[0-9][ -])min\.)(?P<short>{_any_of(_ALWAYS)})(?![\w])(?P<glue>(?<=/)(?=\S))?"
)
_COUNTED = re.compile(rf"(?<![\w.&])(?P<short>{_any_of(_BEFORE_NUMBER)})[ ]?(?=[0-9])")
_DOCTOR = re.compile(r"(?<!\w)Dr(?:\.?(?=[ ][A-Z])|\.(?!\w))")
_DRIVE = re.compile(
    r"(?<!\w)(?!(?:The|A|An|This|That|My|Our|Your|His|Her|Their|Is|Was)[ ])"
    r"(?:[A-Z][\w'-]{0,30}|[0-9]{1,3}(?:st|nd|rd|th))[ ](?P<short>Dr\.)(?![ ]?[A-Z])"
)
_STREET = re.compile(r"(?<=[a-z] )St\.(?![ ]?[A-Z])")
_STREET_IN_ADDRESS = re.compile(r"(?<=[a-z] )(?P<short>St)\.?(?=,|[ ](?:and|in|at|near|to)\b)")
_SAINT = re.compile(r"(?<!\w)(?P<short>St)\.?(?=[ ][A-Z])")


def _expanded(match: re.Match[str]) -> str:
    return _at_end(match, _ALWAYS[match["short"]] + (" " if match["glue"] is not None else ""))


def _before_number(match: re.Match[str]) -> Iterator[Edit]:
    space = "" if match.group().endswith(" ") else " "
    return groups(match, short=_BEFORE_NUMBER[match["short"]] + space)


def _at_end(match: re.Match[str], full: str) -> str:
    """The word, with the full stop where that also ends the sentence."""
    return f"{full}." if match.group().endswith(".") and ends_sentence(match) else full


ABBREVIATIONS = Rule(
    "abbreviations",
    (
        (_COUNTED, _before_number),
        (_DRIVE, lambda match: groups(match, short=_at_end(match, "Drive"))),
        (_STREET, lambda match: _at_end(match, "Street")),
        (_STREET_IN_ADDRESS, "Street"),
        (_DOCTOR, lambda match: _at_end(match, "Doctor")),
        (_SAINT, "Saint"),
        (_WORD, _expanded),
    ),
)

_LETTERS = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,8}(?!\w)")
_INITIAL = re.compile(r"(?<!\w)(?P<letter>[A-Z])(?P<stop>\.)(?=[ ]?[A-Z][\w.'])")


def _letters(match: re.Match[str]) -> str:
    """`U.S.A.` as "U S A"; the last full stop stays where it also ends the sentence."""
    letters = " ".join(match.group().upper().replace(".", ""))
    return f"{letters}." if ends_sentence(match) else letters


def _initial(match: re.Match[str]) -> Iterator[Edit]:
    glued = match.string[match.end() : match.end() + 1] != " "
    return groups(match, stop=" " if glued else "")


# "Member(s)": a reader says it once.
PLURALS = Rule("plurals", ((re.compile(r"(?<=[^\W\d_]{2})\(s\)(?!\w)"), "s"),))

INITIALS = Rule("initials", ((_LETTERS, _letters), (_INITIAL, _initial)))
