"""Names that callers know, in every engine: OpenAI's voices, Kokoro's voices, and languages."""

from collections.abc import Iterable, Mapping

from api.errors import InvalidRequest
from api.types import Voice

# Kokoro's published voices, by language letter and gender letter.
_KOKORO_NAMES: Mapping[str, str] = {
    "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
    "am": "adam echo eric fenrir liam michael onyx puck santa",
    "bf": "alice emma isabella lily",
    "bm": "daniel fable george lewis",
    "ef": "dora",
    "em": "alex santa",
    "ff": "siwis",
    "hf": "alpha beta",
    "hm": "omega psi",
    "if": "sara",
    "im": "nicola",
    "jf": "alpha gongitsune nezumi tebukuro",
    "jm": "kumo",
    "pf": "dora",
    "pm": "alex santa",
    "zf": "xiaobei xiaoni xiaoxiao xiaoyi",
    "zm": "yunjian yunxi yunxia yunyang",
}
KOKORO: tuple[str, ...] = tuple(
    f"{letters}_{name}" for letters, names in _KOKORO_NAMES.items() for name in names.split()
)

KOKORO_LANGUAGES: Mapping[str, str] = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "zh",
}

GENDERS: Mapping[str, str] = {"f": "female", "m": "male"}

# OpenAI's voices, each the Kokoro voice that Kokoro-FastAPI's users know it as, the missing ones added.
OPENAI: Mapping[str, str] = {
    "alloy": "am_adam",
    "ash": "af_nicole",
    "ballad": "bm_fable",
    "coral": "bf_emma",
    "echo": "af_bella",
    "fable": "af_sarah",
    "onyx": "bm_george",
    "nova": "bf_isabella",
    "sage": "am_michael",
    "shimmer": "af_sky",
    "verse": "am_fenrir",
    "marin": "af_heart",
    "cedar": "am_puck",
}

# How the same language is called elsewhere: ISO 639-3 and the spellings that clients send.
_SAME: Mapping[str, str] = {
    "zh": "cmn",
    "zh-cn": "cmn",
    "zh-tw": "cmn",
    "zh-hk": "yue",
    "no": "nb",
    "he-il": "he",
}


def find_language(asked: str, known: Iterable[str]) -> str:
    """The engine's name for a language given as `en`, `en_US`, `a` or `zh-CN`, or InvalidRequest."""
    wanted = asked.strip().lower().replace("_", "-")
    wanted = KOKORO_LANGUAGES.get(wanted, wanted)
    languages = tuple(known)
    for candidate in (wanted, _SAME.get(wanted, wanted), *_relatives(wanted, languages)):
        if candidate in languages:
            return candidate
    raise InvalidRequest("This language is not spoken here.", param="language")


def _relatives(wanted: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Dialects to fall back on: `en-au` is better heard in American English than refused."""
    base = wanted.split("-", maxsplit=1)[0]
    if not base.isalpha():
        return ()
    home = next((lang for lang in KOKORO_LANGUAGES.values() if lang.split("-")[0] == base), base)
    siblings = (lang for lang in languages if lang.split("-")[0] == base)
    return (home, base, _SAME.get(base, base), *siblings)


def voice_named(name: str) -> Voice:
    """What the name of one of Kokoro's voices says of it: `bf_emma`."""
    called = name.partition("_")[2].replace("_", " ").title() or name
    return Voice(name, called, KOKORO_LANGUAGES.get(name[0], "en-us"), GENDERS.get(name[1:2]))


def role_of(kokoro_name: str) -> tuple[str, str, int]:
    """Language, gender and place among its like of one of Kokoro's voices."""
    like = [name for name in KOKORO if name[:2] == kokoro_name[:2]]
    return KOKORO_LANGUAGES[kokoro_name[0]], GENDERS[kokoro_name[1]], like.index(kokoro_name)
