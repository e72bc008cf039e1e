"""Names that callers know, in every engine: OpenAI's voices, Kokoro's voices, and languages."""

from collections.abc import Iterable, Mapping

from api.errors import InvalidRequest

# Kokoro's published voices: language letter, gender letter, name.
KOKORO: tuple[str, ...] = tuple(
    (
        "af_alloy af_aoede af_bella af_heart af_jessica af_kore af_nicole af_nova af_river af_sarah af_sky "
        "am_adam am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa "
        "bf_alice bf_emma bf_isabella bf_lily bm_daniel bm_fable bm_george bm_lewis "
        "ef_dora em_alex em_santa ff_siwis hf_alpha hf_beta hm_omega hm_psi if_sara im_nicola "
        "jf_alpha jf_gongitsune jf_nezumi jf_tebukuro jm_kumo pf_dora pm_alex pm_santa "
        "zf_xiaobei zf_xiaoni zf_xiaoxiao zf_xiaoyi zm_yunjian zm_yunxi zm_yunxia zm_yunyang"
    ).split()
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
    base = wanted.split("-")[0]
    if not base.isalpha():
        return ()
    home = next((lang for lang in KOKORO_LANGUAGES.values() if lang.split("-")[0] == base), base)
    siblings = (lang for lang in languages if lang.split("-")[0] == base)
    return (home, base, _SAME.get(base, base), *siblings)


def role_of(kokoro_name: str) -> tuple[str, str, int]:
    """Language, gender and place among its like of one of Kokoro's voices."""
    like = [name for name in KOKORO if name[:2] == kokoro_name[:2]]
    return KOKORO_LANGUAGES[kokoro_name[0]], GENDERS[kokoro_name[1]], like.index(kokoro_name)
