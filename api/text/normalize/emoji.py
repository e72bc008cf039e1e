"""Emoji and emoticons: seen, never heard. A listener who is told "smiling face" hears a stranger's words."""

import re

from api.text.rule import Rule

_PICTURE = (
    "\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u2604\u2606-\u27bf\u2934\u2935\u2b00-\u2bff\u2605\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_EMOJI = re.compile(f"[{_PICTURE}][{_PICTURE}\u200d\u20e3\ufe0f]*+")
_KEYCAP = re.compile("(?<=[0-9#*])\u20e3")
_EMOTICON = re.compile(r"(?<![^\s])(?:[:;=8][-'^o]?[)(\]\[dDpPoO/\\|3*]|[xX]D|<3|\^_\^|:'\()(?![^\s.,!?])")

EMOJI = Rule("emoji", ((_EMOJI, " "), (_KEYCAP, ""), (_EMOTICON, "")))
