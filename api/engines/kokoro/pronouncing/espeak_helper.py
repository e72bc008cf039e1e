"""The process that asks espeak: `python -m api.engines.kokoro.pronouncing.espeak_helper LIBRARY DATA`.

A line of JSON comes in, `[voice, words, …]`, and one goes out, each of the words in IPA. Some texts crash
espeak and others hold it for ever: that ends this process, and nothing but this process. It ends by itself with
its parent, whose pipe then closes. Python's standard library is all it loads.
"""

import ctypes
import json
import os
import re
import signal
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p

TIE = "\u0361"
# No text that is read takes a hundredth of this.
LONGEST_S = 3.0

_SYNCHRONOUS, _DONT_EXIT = 2, 0x8000
_UTF8 = 1
_IPA, _TIED = 0x02, 0x80
_SEPARATORS = re.compile(r"_+")


class Library:
    """libespeak-ng, for what it makes of words."""

    def __init__(self, library_path: str, data_path: str) -> None:
        self._voice = ""
        self._native = ctypes.CDLL(library_path)
        self._native.espeak_TextToPhonemes.restype = c_char_p
        self._native.espeak_TextToPhonemes.argtypes = [POINTER(c_void_p), c_int, c_int]
        if self._native.espeak_Initialize(_SYNCHRONOUS, 0, data_path.encode(), _DONT_EXIT) <= 0:
            raise OSError(f"espeak cannot be initialized with the data in {data_path}")

    def speak_as(self, voice: str) -> None:
        if voice != self._voice and self._native.espeak_SetVoiceByName(voice.encode()):
            raise OSError(f"espeak does not have the voice {voice}")
        self._voice = voice

    def spelled(self, words: str) -> str:
        """In IPA, a tie within each sound that takes two letters; one line, whatever espeak makes of it."""
        buffer = ctypes.create_string_buffer(words.encode())
        at = c_void_p(ctypes.addressof(buffer))
        clauses = []
        while at.value:
            clause = self._native.espeak_TextToPhonemes(byref(at), _UTF8, _IPA | _TIED | ord(TIE) << 8)
            if clause:
                clauses.append(clause.decode(errors="ignore"))
        line = " ".join(clauses).strip().replace("\n", " ").replace("  ", " ")
        return _SEPARATORS.sub("_", line).replace("_ ", " ").replace("_", " ")


def main(library_path: str, data_path: str) -> None:
    # Out of reach of native code that prints.
    outbox = os.dup(1)
    os.dup2(2, 1)
    # Ctrl-C is for the server, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    library = Library(library_path, data_path)
    for line in sys.stdin.buffer:
        voice, *parts = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
        library.speak_as(voice)
        spelled = [library.spelled(part) if part else "" for part in parts]
        signal.setitimer(signal.ITIMER_REAL, 0)
        rest = memoryview(json.dumps(spelled).encode() + b"\n")
        while rest:
            rest = rest[os.write(outbox, rest) :]


if __name__ == "__main__":
    main(*sys.argv[1:])
