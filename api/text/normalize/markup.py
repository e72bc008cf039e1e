"""HTML and Markdown, down to the words that a reader would see."""

import html
import re
from collections.abc import Iterator

from api.text.rule import Rule
from api.text.traced import Edit, groups

_BLOCK = "p|br|div|li|tr|h[1-6]|blockquote|section|article|hr|pre|d[dt]|break"
_INLINE = (
    "a|abbr|aside|audio|b|body|button|code|del|details|dl|em|figcaption|figure|font|footer|form|head|header|html"
    "|i|img|input|ins|kbd|label|link|main|mark|meta|nav|ol|option|q|s|samp|script|select|small|source|span|strong"
    "|style|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|title|u|ul|var|video"
    "|emphasis|lang|phoneme|prosody|say-as|sentence|speak|voice"
)

_ATTRIBUTES = r"(?:\s[^<>=]{1,80}=[^<>]{0,1000})?+\s{0,9}/?>"
_COMMENT = re.compile(r"<!--(?:(?!-->|<!--)[\s\S]){0,5000}-->")
_BLOCK_TAG = re.compile(rf"</?(?:{_BLOCK}){_ATTRIBUTES}", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE}){_ATTRIBUTES}", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5});")


def _entity(match: re.Match[str]) -> str | None:
    plain = html.unescape(match.group())
    return plain if plain.isprintable() else " "


HTML = Rule(
    "html",
    ((_COMMENT, ""), (_BLOCK_TAG, "\n"), (_TAG, ""), (_ENTITY, _entity)),
)

_FENCE = re.compile(r"^[ ]{0,3}(?:`{3,}|~{3,})[^`\n]{0,200}$", re.MULTILINE)
_RULER = re.compile(r"^[ ]{0,3}(?:(?:\*[ ]?){3,}+|(?:-[ ]?){3,}+|(?:_[ ]?){3,}+|={3,}+)$", re.MULTILINE)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ ]+", re.MULTILINE)
_HEADING_END = re.compile(r"(?<=[^#\s])[ ]+#{1,6}[ ]*$", re.MULTILINE)
_QUOTE = re.compile(r"^[ ]{0,3}(?:>[ ]?)++", re.MULTILINE)
_BULLET = re.compile(r"^[ ]{0,99}[-*+•‣◦▪●][ ]++(?:\[[ xX]\][ ]++)?", re.MULTILINE)
_ITEM = re.compile(r"^(?P<indent>[ ]{0,99})[0-9]{1,3}(?P<mark>[.)])(?=[ ])", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ ]{0,3}\|?[ ]*+:?-+:?[ ]*+(?:\|[ ]*+(?::?-+:?[ ]*+)?)++$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ ]{0,3}\|[^\n]*$", re.MULTILINE)
_BAR = re.compile(r"[ ]*+\|(?=([ ]*+))")
_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ ]*+\S{1,2000}[^\n]{0,200}$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]:?")
_LINK = re.compile(
    r"(?P<opening>!?\[)[^\[\]\n]{0,1000}+"
    r"(?P<target>\]\([ ]?<?(?:[^()\s]|\([^()\s]*+\)){0,2000}+"
    r"(?:[ ]{1,9}\"[^\"\n]{0,200}\")?[ ]?\)|\]\[[^\[\]\n]{0,200}\])"
)
_AUTOLINK = re.compile(r"(?P<opening><)(?:https?://|mailto:)[^<>\s]{1,2000}+(?P<closing>>)", re.IGNORECASE)
_TICKS = re.compile(r"`++")
_STARS = re.compile(r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<=\w)\*{2,3}(?=\w)")
_UNDERSCORES = re.compile(r"(?<![\w])_{1,3}(?=[^\W_])|(?<=[^\s_])_{1,3}(?!\w)")
_STRUCK = re.compile(r"(?<!~)~~(?!~)")
_ESCAPE = re.compile(r"(?P<slash>\\)[\\`*_{}\[\]()#+.!|>~-]")


def _row(match: re.Match[str]) -> Iterator[Edit]:
    """Cells follow each other as the parts of a list."""
    for bar in _BAR.finditer(match.string, match.start(), match.end()):
        outer = bar.start() == match.start() or bar.end(1) == match.end()
        yield (bar.start(), bar.end(), "\n" if outer else ",")


def _item(match: re.Match[str]) -> Iterator[Edit]:
    """`1. Eggs` is heard as "one, eggs": a full stop would make a sentence of the number."""
    return groups(match, indent="\n", mark=",")


# A stroke at the end of an Indic sentence is a danda for which the keyboard had no key.
_STROKE = re.compile(r"(?<=[\u0900-\u0d7f])[ ]?\|{1,2}(?=\s|\Z)")
DANDAS = Rule("dandas", ((_STROKE, "।"),))

# What Markdown sets on a line of its own gets an empty line before it here, so that it is not taken for a
# wrapped line later.
MARKDOWN = Rule(
    "markdown",
    (
        (_FENCE, "\n"),
        (_RULER, "\n"),
        (_TABLE_RULE, "\n"),
        (_TABLE_ROW, _row),
        (_DEFINITION, ""),
        (_QUOTE, ""),
        (_HEADING, "\n"),
        (_HEADING_END, "\n"),
        (_BULLET, "\n"),
        (_ITEM, _item),
        (_FOOTNOTE, ""),
        (_LINK, lambda match: groups(match, opening="", target="")),
        (_AUTOLINK, lambda match: groups(match, opening="", closing="")),
        (_TICKS, ""),
        (_STARS, ""),
        (_UNDERSCORES, ""),
        (_STRUCK, ""),
        (_ESCAPE, lambda match: groups(match, slash="")),
    ),
)
