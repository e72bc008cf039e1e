"""espeak's IPA in the alphabet that Kokoro was trained on: as misaki writes it, symbol for symbol."""

import re

from api.engines.kokoro.pronouncing.espeak import TIE

_SYLLABIC = "\u0329"
_NASAL = "\u0303"

# Of two spellings that begin alike the longer one comes first.
_ENGLISH = (
    (f"ʔˌn{_SYLLABIC}", "ʔn"),
    ("a^ɪ", "I"),
    ("a^ʊ", "W"),
    ("d^ʒ", "ʤ"),
    ("e^ɪ", "A"),
    ("t^ʃ", "ʧ"),
    ("ɔ^ɪ", "Y"),
    ("ə^l", "ᵊl"),
    (f"ʔn{_SYLLABIC}", "ʔn"),
    ("ʲo", "jo"),
    ("ʲə", "jə"),
    ("e", "A"),
    ("ʲ", ""),
    ("ɚ", "əɹ"),
    ("r", "ɹ"),
    ("x", "k"),
    ("ç", "k"),
    ("ɐ", "ə"),
    ("ɬ", "l"),
    (_NASAL, ""),
)
_BRITISH = (("e^ə", "ɛː"), ("iə", "ɪə"), ("ə^ʊ", "Q"))
_AMERICAN = (("o^ʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""))
_PLAIN_ENGLISH = (("o", "ɔ"), ("ɾ", "T"), ("ʔ", "t"), (TIE, ""))

_FOREIGN = (
    ("a^ɪ", "I"),
    ("a^ʊ", "W"),
    ("d^z", "ʣ"),
    ("d^ʒ", "ʤ"),
    ("e^ɪ", "A"),
    ("o^ʊ", "O"),
    ("s^s", "S"),
    ("t^s", "ʦ"),
    ("t^ʃ", "ʧ"),
    ("ɔ^ɪ", "Y"),
    ("ə^ʊ", "Q"),
    (TIE, ""),
    ("-", ""),
)

_LETTER_BEFORE_SYLLABIC = re.compile(rf"(\S){_SYLLABIC}")


def english(ipa: str, *, british: bool) -> str:
    ipa = _replaced(ipa, _ENGLISH)
    ipa = _LETTER_BEFORE_SYLLABIC.sub(r"ᵊ\1", ipa).replace(_SYLLABIC, "")
    return _replaced(ipa, (*(_BRITISH if british else _AMERICAN), *_PLAIN_ENGLISH))


def foreign(ipa: str) -> str:
    return _replaced(ipa, _FOREIGN)


def _replaced(ipa: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        ipa = ipa.replace(old, new)
    return ipa
