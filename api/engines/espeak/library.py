"""libespeak-ng by ctypes: its voices, and one text spoken."""

import ctypes
import os
from _ctypes import dlclose
from collections.abc import Callable, Iterator, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_int16, c_long, c_ubyte, c_uint, c_void_p
from typing import Any

from api.engines.espeak.frames import Onset, Order
from api.engines.espeak.prosody import Prosody, prosody
from api.engines.espeak.stretch import Stretch
from api.engines.espeakng import speakable

RATE_HZ = 22_050
CHUNK_MS = 200

_SYNCHRONOUS = 2  # the sound is handed to the callback, and none is played
_DONT_EXIT = 0x8000
_RATE, _PITCH, _RANGE = 1, 3, 4
_CHARS_UTF8, _ENDPAUSE = 0x1, 0x1000
_EVENT_WORD = 1
_IPA = 0x02

Hear = Callable[[Sequence[Onset], bytes], bool]
"""Given the words that begin and the sound; False stops the speech."""


class _Voice(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("languages", c_char_p),
        ("identifier", c_char_p),
        ("gender", c_ubyte),
        ("age", c_ubyte),
        ("variant", c_ubyte),
        ("reserved", c_ubyte),
        ("score", c_int),
        ("spare", c_void_p),
    )


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", c_int),
        ("message", c_uint),
        ("position", c_int),
        ("length", c_int),
        ("time_ms", c_int),
        ("sample", c_int),
        ("user_data", c_void_p),
        ("id", c_char * 8),
    )


_Callback = CFUNCTYPE(c_int, POINTER(c_int16), c_int, POINTER(_Event))


class Library:
    """A freshly loaded libespeak-ng. Close it.

    espeak keeps the phase of its pitch flutter, its gain control, noise and echo from one text to the next, and no
    call resets them: the same text would sound different each time. Loading the library anew takes 0.3 ms.
    """

    def __init__(self, library_path: str, data_path: str) -> None:
        self._data_path = data_path
        self._native = ctypes.CDLL(library_path)
        rate_hz = self._native.espeak_Initialize(_SYNCHRONOUS, CHUNK_MS, data_path.encode(), _DONT_EXIT)
        if rate_hz != RATE_HZ:
            raise OSError(f"espeak cannot be initialized with the data in {data_path}")
        self._native.espeak_ng_SetRandSeed(c_long(1))

    def close(self) -> None:
        self._native.espeak_Terminate()
        dlclose(self._native._handle)
        del self._native

    def languages(self) -> list[tuple[str, str, str]]:
        """Code, identifier and name of each language that can be spoken: the wheel lacks some dictionaries."""
        return [language for language in self._list_languages() if self._has_dictionary(*language[:2])]

    def variants(self) -> list[tuple[str, str]]:
        """Name and gender of each variant, a timbre that any language can be spoken with."""
        found = self._voices(ctypes.byref(_Voice(languages=b"variant")))
        return [(v.identifier.decode().removeprefix("!v/"), "female" if v.gender == 2 else "male") for v in found]

    def speak(self, order: Order, hear: Hear) -> None:
        """Speak, handing on the sound as it is made."""
        manner = prosody(order.speed, order.pitch)
        self._choose(order.voice)
        for parameter, value in ((_RATE, manner.rate_wpm), (_PITCH, manner.pitch), (_RANGE, manner.pitch_range)):
            self._native.espeak_SetParameter(parameter, value, 0)
        text = speakable(order.text).encode()
        flags = _CHARS_UTF8 | (_ENDPAUSE if order.pause else 0)
        if manner.stretched:
            self._synthesize_stretched(text, flags, manner, hear)
        else:
            self._synthesize(text, flags, hear)

    def spell(self, order: Order) -> str:
        """The text in IPA, a line for each clause."""
        self._choose(order.voice)
        to_phonemes = self._native.espeak_TextToPhonemes
        to_phonemes.restype = c_char_p
        # The library moves the pointer on, clause by clause, and ends it in nothing.
        text = ctypes.create_string_buffer(speakable(order.text).encode())
        rest = c_void_p(ctypes.addressof(text))
        clauses = []
        while rest.value:
            clauses.append((to_phonemes(ctypes.byref(rest), _CHARS_UTF8, _IPA) or b"").decode())
        return "\n".join(filter(None, map(str.strip, clauses)))

    def _choose(self, voice: str) -> None:
        if self._native.espeak_SetVoiceByName(voice.encode()):
            raise ValueError("espeak does not have this voice")

    def _synthesize_stretched(self, text: bytes, flags: int, manner: Prosody, hear: Hear) -> None:
        stretch = Stretch(self._native, RATE_HZ, manner.stretch_speed, manner.stretch_pitch)

        def through(onsets: Sequence[Onset], pcm: bytes) -> bool:
            moved = [Onset(o.position, round(o.sample / manner.stretch_speed)) for o in onsets]
            return hear(moved, stretch.feed(pcm))

        if self._synthesize(text, flags, through):
            hear((), stretch.finish())
        stretch.close()

    def _synthesize(self, text: bytes, flags: int, hear: Hear) -> bool:
        go_on = True

        def synthesized(wave: Any, count: int, events: Any) -> int:
            nonlocal go_on
            pcm = ctypes.string_at(wave, 2 * count) if wave and count > 0 else b""
            onsets = list(_onsets(events))
            if pcm or onsets:
                go_on = hear(onsets, pcm)
            return 0 if go_on else 1

        callback = _Callback(synthesized)
        self._native.espeak_SetSynthCallback(callback)
        self._native.espeak_Synth(text, len(text) + 1, 0, 1, 0, flags, None, None)
        return go_on

    def _has_dictionary(self, code: str, identifier: str) -> bool:
        name = code.partition("-")[0]
        with open(f"{self._data_path}/lang/{identifier}", encoding="utf-8") as voice:
            for line in voice:
                if line.startswith("dictionary"):
                    name = line.split()[1]
        return os.path.exists(f"{self._data_path}/{name}_dict")

    def _list_languages(self) -> Iterator[tuple[str, str, str]]:
        seen = set()
        for voice in self._voices(None):
            identifier = voice.identifier.decode()
            # `languages` is a priority, one byte, and the code. Two voices share `yue`: the second goes by its
            # file's name.
            code = voice.languages[1:].decode().lower()
            if code in seen:
                code = identifier.rpartition("/")[2].lower()
            seen.add(code)
            yield code, identifier, voice.name.decode().strip()

    def _voices(self, specification: Any) -> Iterator[Any]:
        self._native.espeak_ListVoices.restype = POINTER(POINTER(_Voice))
        for pointer in self._native.espeak_ListVoices(specification):
            if not pointer:
                return
            yield pointer.contents


def _onsets(events: Any) -> Iterator[Onset]:
    for event in events:
        if not event.type:
            return
        if event.type == _EVENT_WORD:
            yield Onset(event.position - 1, event.sample)
