"""espeak's phonemes, as the reference has them through phonemizer: punctuation kept, letters of one sound tied."""

import atexit
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock

from api.engines import espeakng
from api.engines.kokoro.pronouncing.espeak_helper import TIE as ESPEAKS_TIE
from api.errors import EngineFailed, EngineUnavailable
from api.logs import LOGGER

TIE = "^"
MARKS = ';:,.!?¡¿—…"«»“”(){}[]'

_PUNCTUATION = re.compile(rf"((?:\s*[{re.escape(MARKS)}]+\s*)+)")
# Where espeak changes the language within a text it says so, as in `(en)`; the tie may stand in it.
_LANGUAGE_FLAG = re.compile(r"\(.+?\)")
# espeak has room for 160 bytes of a word, and does not always look.
_LONG_WORD = re.compile(r"(\S{40})(?=\S)")
_ROOT = Path(__file__).parents[4]

# The voice that espeak speaks each language with.
VOICES = {
    "en-us": "gmw/en-US",
    "en-gb": "gmw/en",
    "es": "roa/es",
    "fr-fr": "roa/fr",
    "hi": "inc/hi",
    "it": "roa/it",
    "pt-br": "roa/pt-BR",
}


class Espeak:
    """espeak in a process of its own, one caller at a time. One that crashes is replaced."""

    def __init__(self) -> None:
        if lacking := espeakng.missing():
            raise EngineUnavailable(lacking)
        self._lock = Lock()
        self._helper: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def phonemes(self, text: str, language: str) -> str:
        """The text in espeak's IPA, punctuation where it was, a tie within each sound that takes two letters.

        Raises EngineFailed where espeak crashes on the text.
        """
        parts = _PUNCTUATION.split(_LONG_WORD.sub(r"\1 ", espeakng.speakable(text)))
        if any(parts[::2]):
            parts[::2] = [
                _LANGUAGE_FLAG.sub("", part).replace(ESPEAKS_TIE, TIE)
                for part in self._asked([VOICES[language], *parts[::2]])
            ]
        return "".join(parts).strip()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _asked(self, question: Sequence[str]) -> list[str]:
        with self._lock:
            if self._helper is None:
                self._helper = _start()
            try:
                answer = _exchange(self._helper, json.dumps(question).encode() + b"\n")
            except BrokenPipeError:
                answer = b""
            if not answer:
                LOGGER.warning("espeak crashed on a text, and is started anew")
                self._end()
                raise EngineFailed("The words of this text could not be pronounced.")
        return list(json.loads(answer))

    def _end(self) -> None:
        if self._helper is not None:
            self._helper.kill()
            self._helper.communicate()
            self._helper = None


def _start() -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "api.engines.kokoro.pronouncing.espeak_helper", *espeakng.paths())
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT)


def _exchange(helper: subprocess.Popen[bytes], question: bytes) -> bytes:
    assert helper.stdin is not None
    assert helper.stdout is not None
    helper.stdin.write(question)
    helper.stdin.flush()
    return helper.stdout.readline()


@cache
def espeak() -> Espeak:
    """The one of this process."""
    return Espeak()
