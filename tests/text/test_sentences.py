"""Sentences end where a reader of the language says so."""

import pytest

from api.text.characters import SENTENCE
from api.text.sentences import base_language, mark
from api.text.traced import Traced


def sentences(text: str, language: str) -> list[str]:
    return [sentence.strip() for sentence in mark(Traced(text), language).text.split(SENTENCE)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en-us", "Dr. Smith met Mr. Jones.|They left at 5 p.m. sharp.|Why?|Nobody knows!"),
        ("en", "See approx. 5 in vol. 2, no. 3 now.|I said no.|He was 5.|Then he grew."),
        ("en", "The U.S. Navy came.|I live in the U.S.|He does not."),
        ("en", "Go to https://example.com/What?X=1 now.|Then rest."),
        ("en", "1. First of all."),
        ("de", "Das ist z.B. gut.|Am 3. Mai war es kalt.|Ja!"),
        ("pt-br", "Olá, mundo.|Tudo bem?"),
        ("es", "¿Qué tal?|Muy bien."),
        ("cmn", "你好。|今天天气很好！|我们走吧。"),
        ("ja", "これはペンです。|ありがとう！"),
        ("hi", "यह है।|वह है।"),
        ("hi", "डॉ. शर्मा और प्रो. सिंह आए।|रु. 500 दिए॥|5 कि.मी. दूर है।|सं. 5 देखो।"),
        ("hi", "के. एल. राहुल, ए. पी. जे. अब्दुल कलाम।|Dr. Sharma ने कहा।"),
        ("hi", "वह आया.|फिर गया.|हाँ?"),
        ("bn", "ডা. রায় এলেন।|তিনি গেলেন।"),
        ("ta", "திரு. குமார் வந்தார்.|அவர் சென்றார்."),
        ("ar", "كيف حالك؟|أنا بخير."),
        ("xx-unknown", "One here.|Two there."),
    ],
)
def test_a_text_falls_into_sentences(language: str, text: str) -> None:
    glue = "" if language in {"cmn", "ja"} else " "
    assert sentences(text.replace("|", glue), language) == text.split("|")


@pytest.mark.parametrize(
    ("code", "base"), [("en-US", "en"), ("pt_br", "pt"), ("cmn", "zh"), (" DE ", "de"), ("", "")]
)
def test_language_codes_of_engines_are_known(code: str, base: str) -> None:
    assert base_language(code) == base
