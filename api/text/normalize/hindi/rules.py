"""The rules on how Hindi is read, with the English that is mixed into it.

Digits stay digits until the last rule, so that each rule can rely on those before it.
"""

from api.text.normalize import (
    abbreviations,
    addresses,
    amounts,
    dates,
    fractions,
    numbers,
    phones,
    symbols,
    times,
    units,
)
from api.text.normalize.hindi.abbreviations import ABBREVIATIONS, INITIALS
from api.text.normalize.hindi.amounts import MONEY, PERCENT, SCALES, THOUSANDS, UNITS
from api.text.normalize.hindi.dates import DATES, YEARS
from api.text.normalize.hindi.english import among_english, in_english, with_letters
from api.text.normalize.hindi.fractions import FRACTIONS
from api.text.normalize.hindi.numbers import NAMES, ORDINALS, RANGES, VERSIONS, WRITTEN_OUT
from api.text.normalize.hindi.phones import PHONES
from api.text.normalize.hindi.spelling import DEVANAGARI
from api.text.normalize.hindi.symbols import OPERATORS, SYMBOLS
from api.text.normalize.hindi.times import TIMES
from api.text.rule import Rule

_ENGLISH: tuple[Rule, ...] = tuple(
    map(
        in_english,
        (
            phones.PHONES,
            units.THOUSANDS,
            dates.DATES[True],
            numbers.RANGES,
            symbols.OPERATORS,
            amounts.MONEY,
            amounts.PERCENT,
            units.UNITS,
            amounts.SCALES,
            fractions.FRACTIONS,
        ),
    )
)

# For an engine that reads digits better than their names.
WITH_DIGITS: tuple[Rule, ...] = (
    addresses.EMAILS,  #            jo@example.com      jo at example dot com
    addresses.URLS,
    addresses.HANDLES,
    DEVANAGARI,  #                  १२३, क्‍या, छ:         123, क्या, छः
    *_ENGLISH,  #                   only 5 km away      only five kilometers away
    with_letters(times.TIMES),  #   5:30 PM पर           five thirty P M पर
    PHONES,  #                      9876543210          9 8 7 6 5, 4 3 2 1 0
    DATES,  #                       15/08/1947          15 अगस्त 1947
    THOUSANDS,  #                   1,23,456            123456
    VERSIONS,  #                    1.2.3               1 पॉइंट 2 पॉइंट 3
    numbers.ROMAN,
    abbreviations.PLURALS,
    abbreviations.ABBREVIATIONS,  # Dr. शर्मा            Doctor शर्मा
    abbreviations.INITIALS,  #      U.S.A. में           U S A में
    MONEY,  #                       ₹1.5 लाख            डेढ़ लाख रुपये
    RANGES,  #                      20-25 लोग           20 से 25 लोग
    TIMES,  #                       5:30 बजे             साढ़े 5 बजे
    PERCENT,  #                     50%                 50 प्रतिशत
    UNITS,  #                       5 km, 10 किग्रा       5 किलोमीटर, 10 किलोग्राम
    symbols.IDIOMS,  #              C++                 C plus plus
    ABBREVIATIONS,  #               डॉ. शर्मा             डॉक्टर शर्मा
    INITIALS,  #                    ए.पी.जे.              ए पी जे
    OPERATORS,  #                   3 * 4               3 गुणा 4
    SCALES,  #                      2.5 करोड़             ढाई करोड़
    FRACTIONS,  #                   3/4                 तीन चौथाई
    ORDINALS,  #                    5वीं                 पाँचवीं
    numbers.ORDINALS,  #            22nd                twenty-second
    among_english(numbers.VERSIONS),
    among_english(dates.YEARS),  #  IPL 2024 में          IPL twenty twenty-four में
    among_english(numbers.NUMBERS),  # iPhone 15, 5G     iPhone fifteen, five G
    YEARS,  #                       1947                19 सौ 47
    WRITTEN_OUT,  #                 3.14, -5, 007       3 दशमलव 1 4, माइनस 5, 0 0 7
    in_english(symbols.SYMBOLS),
    SYMBOLS,  #                     &                   और
)
HINDI: tuple[Rule, ...] = (
    *WITH_DIGITS,
    NAMES,  #                       123456              एक लाख तेईस हज़ार चार सौ छप्पन
)
