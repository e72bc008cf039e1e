"""The rules of reading, in the order in which they are applied. Each can be switched off by its name."""

from collections.abc import Collection, Sequence

from api.text.normalize.abbreviations import ABBREVIATIONS, INITIALS, PLURALS
from api.text.normalize.addresses import EMAILS, HANDLES, URLS
from api.text.normalize.amounts import MONEY, PERCENT, SCALES
from api.text.normalize.dates import DATES, YEARS
from api.text.normalize.emoji import EMOJI
from api.text.normalize.fractions import FRACTIONS
from api.text.normalize.hindi import HINDI, WITH_DIGITS
from api.text.normalize.markup import DANDAS, HTML, MARKDOWN
from api.text.normalize.numbers import NUMBERS, ORDINALS, RANGES, ROMAN, VERSIONS
from api.text.normalize.phones import PHONES
from api.text.normalize.symbols import OPERATORS, SYMBOLS
from api.text.normalize.times import TIMES
from api.text.normalize.units import THOUSANDS, UNITS
from api.text.rule import Rule
from api.text.sentences import base_language

MASTER_SWITCH = "normalize"

# What nobody wants to hear in any language.
LAYOUT: tuple[Rule, ...] = (HTML, MARKDOWN, EMOJI, DANDAS)


def _english(*, day_first: bool) -> tuple[Rule, ...]:
    """What is most particular comes first: a date is taken before its numbers are."""
    return (
        EMAILS,  #         jo@example.com       jo at example dot com
        URLS,  #           https://a.com/b      a dot com slash b
        HANDLES,  #        #AllHands @jo        hashtag All Hands, at jo
        PHONES,  #         555-1234             five five five, one two three four
        THOUSANDS,  #      1 000 000            1,000,000
        DATES[day_first],  # 2024-01-15         January fifteenth, twenty twenty-four
        VERSIONS,  #       v1.2.3               v one point two point three
        RANGES,  #         9-5                  nine to five
        TIMES,  #          10:30am              ten thirty A M
        OPERATORS,  #      C++, 3 * 4           C plus plus, three times four
        ROMAN,  #          Henry VIII           Henry the eighth
        PLURALS,  #         member(s)            members
        ABBREVIATIONS,  #  Dr. No, No. 5        Doctor No, Number five
        INITIALS,  #       J. K., U.S.A.        J K, U S A
        MONEY,  #          $3.50                three dollars and fifty cents
        PERCENT,  #        50%                  fifty percent
        UNITS,  #          5km                  five kilometers
        SCALES,  #         2.5M                 two point five million
        FRACTIONS,  #      3/4                  three quarters
        ORDINALS,  #       22nd                 twenty-second
        YEARS,  #          1984                 nineteen eighty-four
        NUMBERS,  #        1,984                one thousand nine hundred eighty-four
        SYMBOLS,  #        &                    and
    )


_AMERICAN, _BRITISH = _english(day_first=False), _english(day_first=True)
_DAY_FIRST = ("en-gb", "en-au", "en-nz", "en-ie", "en-in", "en-za")

# By name, each once: a rule that several languages have is switched off in all of them.
RULES: tuple[str, ...] = tuple(dict.fromkeys(rule.name for rule in (*LAYOUT, *_AMERICAN, *HINDI)))


def rules_for(language: str, digits: Collection[str] = ()) -> Sequence[Rule]:
    """The rules on how a language is read; each works within one sentence.

    In the languages of `digits` the engine reads these better than names of numbers, and is left whole numbers.
    """
    base = base_language(language)
    if base == "hi":
        return WITH_DIGITS if base in digits else HINDI
    if base != "en":
        return ()
    return _BRITISH if language.lower().replace("_", "-").startswith(_DAY_FIRST) else _AMERICAN
