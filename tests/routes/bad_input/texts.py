"""Texts that are hostile: nothing in them, too much of them, or traps for whoever reads them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.routes.bad_input.case import CANARY, Case, refused, request, speech, spoken

ENGINES = ("tone", "espeak")

NOTHING: Mapping[str, str] = {
    "no character": "",
    "a space": " ",
    "4096 spaces": " " * 4096,
    "tabs and line ends": "\t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029",
    "no-break spaces": "\xa0\u202f\u2007",
    "wide spaces": "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u205f\u3000",
    "zero-width spaces": "\u200b\u200c\u200d\u2060\ufeff",
    "a byte order mark": "\ufeff",
    "soft hyphens": "\xad" * 50,
    "a NUL": "\u0000",
    "every C0 control": "".join(map(chr, range(0x20))),
    "every C1 control": "".join(map(chr, range(0x7F, 0xA0))),
    "bidi overrides": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "combining marks": "\u0301" * 50,
    "4096 combining marks": "\u0301\u0327" * 2048,
    "variation selectors": "\ufe0e\ufe0f" * 20,
    "tag characters": "\U000e0041\U000e007f" * 20,
    "private use": "\ue000\uf8ff\U000f0000\U0010fffd",
    "noncharacters": "\ufdd0\ufffe\uffff\U0010ffff",
    "one emoji 4096 times": "😀" * 4096,
    "emoji families": "👨\u200d👩\u200d👧\u200d👦" * 20,
    "flags": "🇩🇪🇫🇷",
    "half a flag": "🇩",
    "punctuation": "... --- !!! ??? ,,, ;;;",
    "4096 full stops": "." * 4096,
    "quotes": "\"'“”«»",
    "a pause": "[pause:1s]",
    "pauses": "[pause:1s] [pause:0s]\n[PAUSE:60.0S]",
}
TOO_LONG: Mapping[str, str] = {
    "4097 letters": "a" * 4097,
    "4097 spaces and a letter": " " * 4097 + "a",
    "4097 letters beyond the BMP": "𝒶" * 4097,
    "4097 emoji": "😀" * 4097,
    "100,000 letters": "a" * 100_000,
    "a pause of 5000 digits": f"A [pause:{'9' * 5000}s] b.",
}
TOO_SILENT: Mapping[str, str] = {
    "a pause of 61 s": "A [pause:61s] b.",
    "a pause just over 60 s": "A [pause:60.000001s] b.",
    "a pause in capitals": "A [PAUSE:61S] b.",
    "a pause of 4000 digits": f"A [pause:{'9' * 4000}s] b.",
    "a pause with leading zeros": f"A [pause:{'0' * 4000}61s] b.",
    "six pauses of 59 s": "A " + "[pause:59s]" * 6 + " b.",
    "pauses just over 300 s": "A " + "[pause:60s]" * 5 + "[pause:0.001s] b.",
    "372 pauses of 1 s": "A " + "[pause:1s]" * 372 + " b.",
    "a pause alone, too long": "[pause:61s]",
}
SPEAKABLE: Mapping[str, str] = {
    "4096 letters": "a" * 4096,
    "4096 letters beyond the BMP": "𝒶" * 4096,
    "a letter after 4095 spaces": " " * 4095 + "a",
    "one letter": "a",
    "a pause of 60 s": "A [pause:60s] b.",
    "a pause of 4000 decimals": f"A [pause:0.{'9' * 4000}s] b.",
    "a pause with an exponent": "A [pause:1e9s] b.",
    "a pause below zero": "A [pause:-1s] b.",
    "a pause that is NaN": "A [pause:NaNs] b.",
    "a pause in Arabic digits": "A [pause:٦١s] b.",
    "a pause without an end": "A [pause:61" * 100,
    "brackets without end": "a" + "[" * 4000,
    "letters and controls": "a\u0000b\u0007c\u001bd\u007fe\x9bf",
    "a terminal's colours": "\x1b[31mred\x1b[0m",
    "bidi around letters": "\u202eabc\u202c \u2066def\u2069",
    "letters under 4000 marks": "a" + "\u0301" * 4000,
    "marks on every letter": "".join(
        f"{letter}{chr(0x300 + i % 100) * 15}" for i, letter in enumerate("zalgo" * 40)
    ),
    "emoji and a word": "😀" * 500 + " hello " + "😀" * 500,
    "SSML": '<speak>Hello <break time="99999s"/> there <prosody rate="0">you</prosody></speak>',
    "tags 250 deep": "<speak>" * 250 + "a" + "</speak>" * 250,
    "XML entities that multiply": '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;">]><x>&b;&b;&b;</x>',
    "an XML file entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>Read &e; now</x>',
    "CDATA": "<![CDATA[ <speak>hello</speak> ]]>",
    "an XML comment without an end": "hello <!-- " + "-" * 500,
    "an engine's own commands": "[[h@'l@U]] \x01+10S hello <mark name='x'/>",
    "model tokens": "<|endoftext|> hello <custom_token_3> <|audio|> [INST]",
    "a number of 1000 digits": "9" * 1000,
    "many numbers": "1,000,000,000 " * 200,
    "a number nobody can say": "1e999 -1e-999 0x" + "f" * 200,
    "money without end": "$" * 500 + "1",
    "letters and points": "a." * 1000,
    "addresses half written": "http://" * 100 + "a@" * 100,
    "an address of 2000 characters": "http://" + "a." * 990 + "com",
    "a mailbox of 4000 characters": "a" * 2000 + "@" + "b" * 1990 + ".com",
    "slashes": "a" + "/" * 2000 + "b",
    "lines": "a\n" * 1000,
    "one word of many scripts": "aбγ漢か한ع" * 50,
    "ligatures and full width": "ﬁﬂﬃ ＡＢＣ ①②③ ㎏ ㍿ ﷺ",
    "a path upwards": "../../etc/passwd",
    "SQL": "'; DROP TABLE users; --",
    "a template's": "{{7*7}} ${jndi:ldap://x/a} %s %n",
}
# Far more to say than to read: refused, or spoken where the rules find short words for it.
AMPLIFIED: Mapping[str, str] = {
    "mathematics": "∑∫√∞≠±÷" * 100,
    "a fraction of 4000 digits": "0." + "3" * 4000,
}
# Nobody can say whether a row of these is worth a sound; but it is never an error of the server.
SPOKEN_OR_EMPTY: Mapping[str, str] = {
    "4000 angles": "<" * 4000,
    "4000 ampersands": "&" * 4000,
    "4000 at signs": "@" * 4000,
    "4000 hashes": "#" * 4000,
    "4000 backslashes": "\\" * 4000,
    "4000 stars": "*" * 4000,
    "4000 dashes": "-" * 4000,
    "brackets": "()[]{}<>",
    "only tags": "<speak></speak>" * 100,
    "a link without a word": "[](()))" * 100,
    "box drawing": "─│┌┐█" * 200,
    "unassigned": "\u0378\U0003ffff" * 50,
    "an object replacement": "\ufffc\ufffd" * 50,
    "braille": "⠓⠑⠇⠇⠕",
    "hangul fillers": "\u3164\u115f\uffa0",
}


def texts() -> Iterator[Case]:
    for engine in ENGINES:
        for case in _texts():
            yield replace(case, engine=engine)


def _texts() -> Iterator[Case]:
    for name, text in NOTHING.items():
        yield refused(f"input is {name}", _say(text), "empty_input", "input")
    for name, text in TOO_LONG.items():
        yield refused(f"input is {name}", _say(text), "input_too_long", "input")
    for name, text in TOO_SILENT.items():
        yield refused(f"input has {name}", _say(text), "invalid_value", "input")
    for name, text in SPEAKABLE.items():
        yield spoken(f"input is {name}", _say(text))
    for name, text in AMPLIFIED.items():
        yield replace(refused(f"input is {name}", _say(text), "input_too_costly", "input"), may_speak=True)
    for name, text in SPOKEN_OR_EMPTY.items():
        yield replace(refused(f"input is {name}", _say(text), "empty_input", "input"), may_speak=True)


def _say(text: str) -> bytes:
    return request(speech(input=text, speed=4))


def what_is_known_first() -> Iterator[Case]:
    """What needs no reading of the text is refused although the text is wrong too."""
    nothing, silent = "😀" * 4000, "A [pause:61s] b."
    for text in (nothing, silent):
        for field, value, code, status in (
            ("model", CANARY, "model_not_found", 404),
            ("voice", CANARY, "unknown_voice", 400),
            ("instructions", CANARY, "unsupported_parameter", 400),
            ("language", CANARY, "invalid_value", 400),
        ):
            wire = request(speech(input=text, **{field: value}))
            kind = "nothing" if text is nothing else "silence"
            yield refused(f"{field} is wrong, and the input is {kind}", wire, code, field, status=status)
        wire = request(speech(input=text, response_format="opus", sample_rate=44_100))
        yield refused(f"opus at 44100 Hz, and {len(text)} characters", wire, "invalid_value", "sample_rate")
