"""Names of numbers, held against those that espeak says of digits: written by others, from other sources.

espeak reads a name's letters by rules, and drops other vowels than a speaker would; so a name is not asked to
sound exactly like its number, but more like it than like any other.
"""

import random
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

import pytest

from api.engines.kokoro.pronouncing.espeak import Espeak
from api.text.normalize.hindi.numerals import LONGEST_NAMED, cardinal, halved, ordinal

# What does not tell one number from another: stress, length, which of two vowels a letter stands for.
_ALIKE = str.maketrans({"ə": "a", "ʌ": "a", "ɛ": "ai", "ɪ": "i", "w": "ʋ", "b": "ʋ", "ɾ": "r", "ʈ": "t", "j": "i"})
_TWICE = re.compile(r"(.)\1+")
_SILENT = re.compile(r"[ˈˌː̃.^\s]")


@pytest.fixture(scope="module")
def espeak() -> Iterator[Espeak]:
    espeak = Espeak()
    yield espeak
    espeak.close()


def sound(espeak: Espeak, text: str) -> str:
    return _TWICE.sub(r"\1", _SILENT.sub("", espeak.phonemes(text, "hi")).translate(_ALIKE))


def test_each_name_below_a_hundred_sounds_like_its_number_and_no_other(espeak: Espeak) -> None:
    numbers = [sound(espeak, str(number)) for number in range(100)]
    for number in range(100):
        name = sound(espeak, cardinal(str(number)))
        alike = [SequenceMatcher(None, name, other, autojunk=False).ratio() for other in numbers]
        assert max(range(100), key=alike.__getitem__) == number, cardinal(str(number))
        assert alike[number] > 0.7


def test_larger_names_are_put_together_as_espeak_puts_them(espeak: Espeak) -> None:
    """With what is below a hundred put back as digits, both say the same, sound by sound."""
    below = {cardinal(str(number)): str(number) for number in range(100)}
    drawn = random.Random(1)
    numbers = [100, 101, 1000, 1001, 10**5, 10**7, 10**9, 10**9 - 1, 10**11, 10**13 - 1, 90_000_009]
    numbers += [drawn.randrange(10**size) + 10**size for size in range(2, 12) for _ in range(40)]
    for number in numbers:
        named = "एक सौ" if number == 100 else cardinal(str(number))
        spoken = " ".join(below.get(word, word) for word in named.split()).replace("हज़ार", "हजार")
        assert sound(espeak, spoken) == sound(espeak, str(number)), (number, spoken)


def test_no_two_numbers_have_one_name() -> None:
    numbers = [
        *range(20_000),
        *(10**size + delta for size in range(5, 12) for delta in range(0, 10**size, 10**size // 50)),
    ]
    assert len({cardinal(str(number)) for number in numbers}) == len(set(numbers))


def test_what_is_too_long_to_follow_is_read_digit_by_digit() -> None:
    assert cardinal("9" * LONGEST_NAMED).startswith("निन्यानवे खरब")
    assert cardinal("9" * (LONGEST_NAMED + 1)) == " ".join(["नौ"] * (LONGEST_NAMED + 1))
    assert cardinal("007") == "शून्य शून्य सात"


@pytest.mark.parametrize(
    ("number", "said"),
    [("1.5", "डेढ़"), ("2.50", "ढाई"), ("3.5", "साढ़े 3"), ("1.25", "सवा"), ("2.25", "सवा 2"), ("1.75", "पौने 2"),
     ("0.5", "0.5"), ("1.4", "1.4"), ("12", "12"), ("99.75", "पौने 100")],
)  # fmt: skip
def test_halves_and_quarters_have_names_of_their_own(number: str, said: str) -> None:
    assert halved(number) == said


def test_ordinals_agree_with_what_they_count() -> None:
    assert [ordinal("1", vowel) for vowel in "ाीे"] == ["पहला", "पहली", "पहले"]
    assert [ordinal("21", vowel) for vowel in "ाीे"] == ["इक्कीसवाँ", "इक्कीसवीं", "इक्कीसवें"]
