"""Every field of the speech request, with what does not belong in it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.routes.bad_input.case import CANARY, Case, refused, request, speech, spoken

TEXTS = ("input", "voice", "model", "instructions")
LANGUAGES = ("language", "lang_code")
NUMBERS = ("speed", "pitch", "volume_multiplier", "seed", "sample_rate")

JSON_TYPES: Mapping[str, object] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "number": 2,
    "fraction": 1.5,
    "string": CANARY,
    "empty string": "",
    "list": [CANARY],
    "empty list": [],
    "object": {CANARY: 1},
    "empty object": {},
}


# The types a field may have; what is wrong with a value of the right type has its own place below.
BELONGING: Mapping[str, tuple[str, ...]] = {
    "input": ("string", "empty string"),
    "voice": ("string",),
    "model": ("string", "empty string"),
    "instructions": ("string", "empty string"),
    "response_format": (),
    "stream_format": (),
    "language": ("null", "string"),
    "lang_code": ("null", "string"),
    "speed": ("number", "fraction"),
    "pitch": ("number", "fraction"),
    "volume_multiplier": ("null", "zero", "number", "fraction"),
    "stream": ("true", "false"),
    "words": ("true", "false"),
    "subtitles": ("null",),
    "allow_voice_tags": ("true", "false"),
    "ssml": ("true", "false"),
    "return_download_link": ("true", "false"),
    "return_timing": ("true", "false"),
    "download_format": ("null",),
    "voice_aliases": ("null", "empty object"),
    "seed": ("null", "zero", "number"),
    "sample_rate": (),
    "normalization_options": ("null", "object", "empty object"),
}


def wrong_types() -> Iterator[Case]:
    for field, belonging in BELONGING.items():
        for kind, value in JSON_TYPES.items():
            wire = request(speech(**{field: value}))
            if kind not in belonging:
                yield refused(f"{field} is {kind}", wire, "invalid_value", field)
            elif kind == "null":
                yield spoken(f"{field} is null", wire)


NOT_NUMBERS = {"NaN": b"NaN", "-NaN": b"-NaN", "Infinity": b"Infinity", "-Infinity": b"-Infinity"} | {
    text: text.encode()
    for text in ("+1", ".5", "1.", "01", "1e", "0x10", "1_000", "١", "--1", "1,5", "True", "None")
}
BEYOND_DOUBLE = {"1e999": b"1e999", "-1e999": b"-1e999", "1e309": b"1e309"}
OUT_OF_RANGE: Mapping[str, tuple[bytes, ...]] = {
    "speed": (b"-0", b"-0.0", b"0.2499999", b"4.0000001", b"-1", b"5e-324", b"1e308", b"1" + b"0" * 300),
    "pitch": (b"-0", b"0.4999999", b"2.0000001", b"-1", b"5e-324", b"1e308"),
    "volume_multiplier": (b"-1", b"-0.0000001", b"-5e-324", b"4.0000001", b"100", b"1e308"),
    "seed": (b"-1", b"1e3", b"9223372036854775808", b"18446744073709551616", b"-9223372036854775809", b"9" * 4000),
    "sample_rate": (b"-1", b"1", b"-8000", b"11025", b"24001", b"96000", b"8000.5", b"1e300", b"9" * 4000),
}
IN_RANGE: Mapping[str, tuple[bytes, ...]] = {
    "speed": (b"0.25", b"4", b"4.0", b"1e0", b"10e-1", b"0.3000000000000000000000000000000000001"),
    "pitch": (b"0.5", b"2", b"2.0"),
    "volume_multiplier": (b"0", b"-0", b"-0.0", b"4", b"4.0", b"5e-324", b"1e-999"),
    "seed": (b"0", b"-0", b"9223372036854775807"),
    "sample_rate": (b"8000", b"16000", b"22050", b"24000", b"44100", b"48000"),
}


def numbers() -> Iterator[Case]:
    for name, literal in NOT_NUMBERS.items():
        yield refused(
            f"speed is {name.encode('ascii', 'backslashreplace').decode()}",
            _with("speed", literal),
            "invalid_json",
        )
    for field in NUMBERS:
        yield refused(f"{field} is NaN, nested", _with(field, b"[NaN]"), "invalid_json")
        yield refused(f"{field} has 5000 digits", _with(field, b"9" * 5000), "invalid_json")
        for name, literal in BEYOND_DOUBLE.items():
            yield refused(f"{field} is {name}", _with(field, literal), "invalid_value", field)
        for literal in OUT_OF_RANGE[field]:
            yield refused(f"{field} is {_short(literal)}", _with(field, literal), "invalid_value", field)
        for literal in IN_RANGE[field]:
            yield spoken(f"{field} is {_short(literal)}", _with(field, literal))
    for rate_hz in (22050, 44100):
        wire = request(speech(response_format="opus", sample_rate=rate_hz))
        yield refused(f"opus at {rate_hz} Hz", wire, "invalid_value", "sample_rate")


def _with(field: str, literal: bytes) -> bytes:
    return request(speech(**{field: literal}))


def _short(literal: bytes) -> str:
    return literal.decode() if len(literal) < 30 else f"{literal[:1].decode()} and {len(literal) - 1} digits"


NO_VOICES: Mapping[str, str] = {
    "unknown": CANARY,
    "known, with a line feed": "af_heart\n",
    "known, with a NUL": "af_heart\u0000",
    "known, with a space": " af_heart",
    "known, in capitals": "AF_HEART",
    "known, full width": "ａｆ＿ｈｅａｒｔ",
    "known, with a zero-width space": "af_\u200bheart",
    "af and a line feed": "af\n",
    "a path upwards": "../../etc/passwd",
    "a path upwards, backslashes": "..\\..\\windows\\win.ini",
    "a path upwards, percent": "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "dots": "..",
    "an absolute path": "/etc/passwd",
    "a file of weights": "/proc/self/environ.pt",
    "a file URL": "file:///etc/passwd",
    "a web URL": "http://169.254.169.254/latest/meta-data",
    "SQL": "' OR 1=1; DROP TABLE voices; --",
    "a shell's": "$(touch /tmp/x); `id` | sh",
    "a template's": "{{7*7}}${7*7}<%= 7*7 %>",
    "a format string": "%s%s%n{0.__class__}",
    "an attribute": "__class__",
    "a mix without an end": "af_bella(2)+",
    "a mix of the unknown": f"af_bella(2)+{CANARY}(1)",
    "a negative weight": "af_bella(-1)",
    "a weight of nothing": "af_bella(0)+af_sky(0)",
    "a weight too large": "af_bella(1e999)",
    "only a space": " ",
    "only a NUL": "\u0000",
    "an emoji": "🎤",
    "a bidi override": "\u202eyolla",
    "256 letters": "a" * 256,
}
BAD_VOICES: Mapping[str, object] = {
    "257 letters": "a" * 257,
    "100,000 letters": "a" * 100_000,
    "an object without id": {"name": "alloy"},
    "an object with ID": {"ID": "alloy"},
    "an id that is null": {"id": None},
    "an id that is a number": {"id": 1},
    "an id that is empty": {"id": ""},
    "an id of 257 letters": {"id": "a" * 257},
    "an id in an id": {"id": {"id": "alloy"}},
    "an id in a list": {"id": ["alloy"]},
    "objects in a list": [{"id": "alloy"}],
    "an object 100 deep": b'{"id":' * 100 + b'"alloy"' + b"}" * 100,
}


def voices() -> Iterator[Case]:
    for name, value in NO_VOICES.items():
        case = refused(f"voice is {name}", request(speech(voice=value)), "unknown_voice", "voice")
        yield case
        yield replace(case, engine="espeak")
        yield refused(f"voice id is {name}", request(speech(voice={"id": value})), "unknown_voice", "voice")
    for name, odd in BAD_VOICES.items():
        yield refused(f"voice is {name}", request(speech(voice=odd)), "invalid_value", "voice")
    yield spoken("voice is an object", request(speech(voice={"id": "alloy"})))
    yield spoken("voice is an object with more in it", request(speech(voice={"id": "alloy", CANARY: [1]})))


def strings() -> Iterator[Case]:
    for value in ("MP3", "mp3 ", "mp3\u0000", "../mp3", "ogg", "audio/mpeg", "mp3,wav", "м3"):
        yield refused(
            f"response_format is {value!a}",
            _with_value("response_format", value),
            "invalid_value",
            "response_format",
        )
    for value in ("SSE", "sse\n", "websocket", "json"):
        yield refused(
            f"stream_format is {value!a}", _with_value("stream_format", value), "invalid_value", "stream_format"
        )
    for value in (
        CANARY,
        "../tts-1",
        "tts-1\n",
        "tts-1\u0000",
        "TTS-1",
        "tts-2",
        "kokoro/../tone",
        "a" * 100_000,
        " ",
    ):
        name = f"model is {value!a}" if len(value) < 30 else f"model has {len(value)} letters"
        yield refused(name, _with_value("model", value), "model_not_found", "model", status=404)
    for field in LANGUAGES:
        for value in ("xx", "klingon", "../en", "en\u0000us", "q", "en;de", "🇩🇪", " "):
            for engine in ("tone", "espeak"):
                case = refused(f"{field} is {value!a}", _with_value(field, value), "invalid_value", "language")
                yield replace(case, engine=engine)
        yield refused(f"{field} has 33 letters", _with_value(field, "e" * 33), "invalid_value", field)
    yield refused(
        "instructions have 4097 letters", _with_value("instructions", "a" * 4097), "invalid_value", "instructions"
    )
    for field in TEXTS:
        for name, literal in {"high": b'"\\ud800"', "low": b'"\\udfff"', "reversed": b'"\\udc00\\ud800"'}.items():
            yield refused(f"{field} has a lone surrogate, {name}", _with(field, literal), "invalid_json")
        for name, raw in {"byte FF": b"\xff", "raw surrogate": b"\xed\xa0\x80", "overlong": b"\xc0\xaf"}.items():
            yield refused(f"{field} is no UTF-8, {name}", _with(field, b'"' + raw + b'"'), "invalid_json")


def _with_value(field: str, value: object) -> bytes:
    return request(speech(**{field: value}))


def capabilities() -> Iterator[Case]:
    """What an engine cannot do is refused, never ignored."""
    for engine in ("tone", "espeak"):
        yield replace(_unsupported("instructions", "Speak warmly."), engine=engine)
        yield replace(spoken("instructions are blank", _with_value("instructions", "  ")), engine=engine)
    yield replace(_unsupported("seed", 7), engine="espeak")
    yield replace(_unsupported("seed", 0), engine="espeak")
    yield _unsupported("words", value=True)
    yield _unsupported("subtitles", "srt")


def _unsupported(field: str, value: object) -> Case:
    return refused(f"{field} is {value}", _with_value(field, value), "unsupported_parameter", field)


def rules() -> Iterator[Case]:
    for kind, value in JSON_TYPES.items():
        if kind not in ("true", "false"):
            wire = _with_value("normalization_options", {"normalize": value})
            yield refused(f"normalize is {kind}", wire, "invalid_value", "normalization_options")
    yield spoken("a rule nobody knows", _with_value("normalization_options", {CANARY: [1]}))
    yield spoken(
        "a rule of no name", _with_value("normalization_options", {"": None, "\u0000": 1, "__proto__": {}})
    )
    yield spoken("every rule off", _with_value("normalization_options", {"normalize": False}))
