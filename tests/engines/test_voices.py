import pytest

from api.engines.voices import GENDERS, KOKORO, KOKORO_LANGUAGES, OPENAI, find_language, role_of
from api.errors import InvalidRequest

KNOWN = (
    "en-gb",
    "en-us",
    "fr-fr",
    "fr-be",
    "es",
    "es-419",
    "cmn",
    "yue",
    "hi",
    "it",
    "ja",
    "pt",
    "pt-br",
    "nb",
    "he",
    "de",
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("en-us", "en-us"),
        ("EN_US", "en-us"),
        (" en ", "en-us"),
        ("en-au", "en-us"),
        ("en-gb", "en-gb"),
        ("fr", "fr-fr"),
        ("fr-ca", "fr-fr"),
        ("fr-be", "fr-be"),
        ("es-mx", "es"),
        ("pt", "pt"),
        ("zh", "cmn"),
        ("zh-CN", "cmn"),
        ("zh-TW", "cmn"),
        ("zh-HK", "yue"),
        ("zh-Hans", "cmn"),
        ("ja-JP", "ja"),
        ("no", "nb"),
        ("he-IL", "he"),
        ("de-AT", "de"),
    ],
)
def test_a_language_is_found_by_the_names_that_clients_use(asked: str, found: str) -> None:
    assert find_language(asked, KNOWN) == found


@pytest.mark.parametrize("letter", KOKORO_LANGUAGES)
def test_kokoros_letters_are_languages(letter: str) -> None:
    assert find_language(letter, KNOWN) in KNOWN


@pytest.mark.parametrize("asked", ["", "xx", "klingon", "123", "-", "e-n", "q"])
def test_a_language_nobody_speaks_is_refused(asked: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        find_language(asked, KNOWN)
    assert caught.value.param == "language"


def test_an_engine_with_one_dialect_serves_the_others() -> None:
    assert find_language("en-us", ("en-gb",)) == "en-gb"
    assert find_language("pt", ("pt-br",)) == "pt-br"


def test_openai_has_thirteen_voices_each_a_different_known_one() -> None:
    assert len(OPENAI) == len(set(OPENAI.values())) == 13
    assert set(OPENAI.values()) <= set(KOKORO)


@pytest.mark.parametrize("name", KOKORO)
def test_a_name_says_its_language_and_gender(name: str) -> None:
    assert role_of(name)[:2] == (KOKORO_LANGUAGES[name[0]], GENDERS[name[1]])


def test_no_two_names_have_the_same_role() -> None:
    assert len({role_of(name) for name in KOKORO}) == len(KOKORO)
    assert role_of("af_alloy") == ("en-us", "female", 0)
    assert role_of("am_puck") == ("en-us", "male", 7)
