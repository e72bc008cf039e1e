"""What each encoder setting costs, and what it does to speech: `python -m tests.load.encoders`.

CPU time of this process, on one core, for synthetic speech in chunks of 200 ms; the best of three runs, and its
ratio to the first row, which is what one gets without choosing. Quality is what a decoder that shares no code with
the encoder makes of it: `distance` is the log-spectral distance to the source (0 is the same, under 1 dB is hard
to hear), `unmasked` is how much of the spectrum, in bands and frames, has more noise than the speech there hides.
"""

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import espeakng_loader
import numpy as np
import soxr
from numpy.typing import NDArray

from api.audio import FORMATS, Encoder, open_encoder
from api.audio.codecs.base import Codec, Order
from api.audio.codecs.ffmpeg import Ffmpeg
from api.audio.codecs.mp3 import Mp3
from api.types import Pcm, Samples
from tests.audio.decoders import ffmpeg, sndfile

RATE_HZ = 24_000
CHUNK = RATE_HZ // 5
WINDOW = 512
TEXT = """
The north wind and the sun were disputing which was the stronger, when a traveller came along wrapped in a
warm cloak. They agreed that the one who first succeeded in making the traveller take his cloak off should be
considered stronger than the other. Then the north wind blew as hard as he could, but the more he blew, the
more closely did the traveller fold his cloak around him; and at last the north wind gave up the attempt. Then
the sun shone out warmly, and immediately the traveller took off his cloak. And so the north wind had to
confess that the sun was the stronger.
""".replace("\n", " ")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    name: str
    format: str
    kbps: int | None
    codec: Callable[[Order], Codec]


def av(name: str, format: str, kbps: int | None, **options: str) -> Candidate:  # noqa: A002
    container, codec, muxer = {
        "mp3": ("mp3", "libmp3lame", {"write_xing": "0", "id3v2_version": "0"}),
        "opus": ("ogg", "libopus", {"page_duration": "40000"}),
        "aac": ("adts", "aac", {}),
        "flac": ("flac", "flac", {}),
    }[format]
    return Candidate(
        name,
        format,
        kbps,
        partial(Ffmpeg, container=container, codec=codec, codec_options=options, container_options=muxer),
    )


def lame(kbps: int, quality: int) -> Candidate:
    return Candidate(f"lameenc {kbps}k quality {quality}", "mp3", kbps, partial(Mp3, quality=quality))


TABLES = {
    "mp3": [
        av("PyAV 128k", "mp3", 128),
        av("PyAV 128k compression_level 9", "mp3", 128, compression_level="9"),
        *(lame(128, quality) for quality in (2, 3, 5, 7)),
        lame(64, 7),
        lame(64, 5),
        lame(64, 2),
    ],
    "opus": [
        av("64k", "opus", 64),
        *(
            av(f"64k compression_level {level}", "opus", 64, compression_level=str(level))
            for level in (7, 5, 3, 0)
        ),
        av("64k compression_level 5 voip", "opus", 64, compression_level="5", application="voip"),
        av("64k compression_level 5 constrained", "opus", 64, compression_level="5", vbr="constrained"),
        *(av(f"{kbps}k", "opus", kbps) for kbps in (48, 32)),
        *(av(f"{kbps}k compression_level 5", "opus", kbps, compression_level="5") for kbps in (32, 48, 96, 128)),
    ],
    "aac": [
        av("96k", "aac", 96),
        *(av(f"{kbps}k fast", "aac", kbps, aac_coder="fast") for kbps in (64, 96, 128)),
        av("96k fast, no PNS", "aac", 96, aac_coder="fast", aac_pns="0"),
        av("96k fast, no PNS, no TNS", "aac", 96, aac_coder="fast", aac_pns="0", aac_tns="0"),
        av("128k fast, no PNS", "aac", 128, aac_coder="fast", aac_pns="0"),
    ],
    "flac": [
        av("level 5", "flac", None),
        *(av(f"level {level}", "flac", None, compression_level=str(level)) for level in (0, 2, 8)),
    ],
}


def speech() -> Samples:
    """espeak, reading aloud."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    heard: list[Samples] = []

    def hear(samples: "ctypes._Pointer[ctypes.c_short]", length: int, _events: int | None) -> int:
        if length > 0:
            heard.append(np.ctypeslib.as_array(samples, (length,)).astype(np.int16))
        return 0

    synchronous, utf8 = 2, 1
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)(hear)
    rate_hz = library.espeak_Initialize(synchronous, 0, espeakng_loader.get_data_path().encode(), 0)
    library.espeak_SetSynthCallback(callback)
    library.espeak_SetVoiceByName(b"en-us")
    text = TEXT.encode()
    library.espeak_Synth(text, ctypes.c_size_t(len(text) + 1), 0, 1, 0, utf8, None, None)
    resampled: Samples = soxr.resample(np.concatenate(heard), rate_hz, RATE_HZ, "VHQ")
    return resampled


def encode(candidate: Candidate, source: Samples) -> tuple[bytes, float]:
    """The encoded file, and the CPU milliseconds spent on a second of it."""
    started_s = time.process_time()
    codec = candidate.codec(Order(RATE_HZ, bit_rate=candidate.kbps and candidate.kbps * 1000))
    data = b"".join(codec.encode(source[at : at + CHUNK]) for at in range(0, len(source), CHUNK))
    data += codec.finish().data
    spent_s = time.process_time() - started_s
    codec.close()
    return data, 1000 * spent_s / (len(source) / RATE_HZ)


def align(source: Samples, decoded: Samples) -> tuple[Floats, Floats]:
    """Both as they fit together best: without the encoder's delay and its gain (LAME takes 0.45 dB away)."""
    size = 1 << (len(source) + len(decoded)).bit_length()
    spectrum = np.fft.rfft(decoded, size) * np.conj(np.fft.rfft(source, size))
    delay = int(np.argmax(np.fft.irfft(spectrum, size)[: RATE_HZ // 4]))
    length = min(len(source), len(decoded) - delay)
    before, after = source[:length].astype(float), decoded[delay : delay + length].astype(float)
    return before, after * (before @ after) / (after @ after)


def powers_of(sound: Floats) -> Floats:
    frames = np.lib.stride_tricks.sliding_window_view(sound, WINDOW)[:: WINDOW // 4] * np.hanning(WINDOW)
    power: Floats = np.abs(np.fft.rfft(frames)) ** 2
    return power


def spectral_distance_db(source: Floats, decoded: Floats) -> float:
    """Over the frames with speech in them, with a floor 60 dB under the loudest: nobody hears below that."""
    before, after = powers_of(source), powers_of(decoded)
    floor = before.max() * 1e-6
    spoken = before.max(axis=1) > before.max() * 1e-4
    difference_db = 10 * np.log10((before[spoken] + floor) / (after[spoken] + floor))
    return float(np.sqrt((difference_db**2).mean(axis=1)).mean())


def unmasked_share(source: Floats, decoded: Floats) -> float:
    """A rough noise-to-mask ratio: a band hides what lies 12 dB under its own power or its neighbours'."""
    powers, noise = powers_of(source), powers_of(source - decoded)
    hz = np.fft.rfftfreq(WINDOW, 1 / RATE_HZ)
    bark = 13 * np.arctan(0.00076 * hz) + 3.5 * np.arctan((hz / 7500) ** 2)
    bands = np.eye(int(bark.max()) + 1)[bark.astype(int)]
    apart = np.subtract.outer(np.arange(bands.shape[1]), np.arange(bands.shape[1]))  # a masker, the band it masks
    spread_db = np.where(apart > 0, -25 * apart, 10 * apart) - 12
    mask = powers @ bands @ 10 ** (spread_db / 10) + powers.max() * 1e-7
    spoken = powers.max(axis=1) > powers.max() * 1e-4
    return float(((noise @ bands)[spoken] > mask[spoken]).mean())


def print_candidates(source: Samples) -> None:
    for format_name, candidates in TABLES.items():
        print(f"\n| {format_name} | CPU ms per audio s | ratio | kbit/s | distance, dB | unmasked |")
        print("|---|---|---|---|---|---|")
        default_ms = 0.0
        for candidate in candidates:
            runs = [encode(candidate, source) for _ in range(3)]
            data, cost_ms = runs[0][0], min(cost_ms for _, cost_ms in runs)
            default_ms = default_ms or cost_ms
            decoded = ffmpeg(data, "aac", RATE_HZ) if format_name == "aac" else sndfile(data)
            pair = align(source, decoded)
            kbps = len(data) * 8 / (len(source) / RATE_HZ) / 1000
            print(
                f"| {candidate.name} | {cost_ms:.2f} | {cost_ms / default_ms:.2f} | {kbps:.0f} "
                f"| {spectral_distance_db(*pair):.2f} | {unmasked_share(*pair):.1%} |"
            )


def print_choices(source: Samples) -> None:
    """The whole chain, as the table of formats has it."""
    print("\n| chain | CPU ms per audio s | one word in all, CPU ms | first bytes after, ms | then every, ms |")
    print("|---|---|---|---|---|")
    plain = [(name, RATE_HZ, 1.0) for name in FORMATS]
    for name, rate_hz, volume in [*plain, ("pcm", 48_000, 1.0), ("pcm", 8_000, 1.0), ("pcm", RATE_HZ, 0.5)]:
        chain = partial(open_encoder, name, RATE_HZ, rate_hz, volume=volume)
        long_ms = min(cost_ms(chain, source, rounds=1) for _ in range(3)) / (len(source) / RATE_HZ)
        short_ms = cost_ms(chain, source[: RATE_HZ // 2], rounds=50)
        first_ms, next_ms = answers_ms(chain(), source)
        label = (
            name
            + (f" at {rate_hz} Hz" if rate_hz != RATE_HZ else "")
            + (f", volume {volume}" if volume != 1 else "")
        )
        print(f"| {label} | {long_ms:.3f} | {short_ms:.2f} | {first_ms} | {next_ms} |")


def cost_ms(chain: Callable[[], Encoder], source: Samples, *, rounds: int) -> float:
    started_s = time.process_time()
    for _ in range(rounds):
        encoder = chain()
        for at in range(0, len(source), CHUNK):
            encoder.feed(Pcm(source[at : at + CHUNK], RATE_HZ))
        encoder.finish()
    return 1000 * (time.process_time() - started_s) / rounds


def answers_ms(encoder: Encoder, source: Samples) -> tuple[int, int]:
    """How much sound goes in before any comes out, and how much more between two answers, fed 10 ms at a time."""
    step = RATE_HZ // 100
    answers = [encoder.feed(Pcm(source[at : at + step], RATE_HZ)) for at in range(0, RATE_HZ * 2, step)]
    encoder.close()
    at_ms = [10 * (index + 1) for index, data in enumerate(answers) if data and not data.startswith(b"OggS\0\2")]
    return at_ms[0], max(later - earlier for earlier, later in pairwise(at_ms))


def print_threads(source: Samples) -> None:
    """Whether two streams are encoded at the same time: twice the work in two threads, against the work in one."""
    print("\n| chain | one thread, ms | two threads, twice the work, ms |")
    print("|---|---|---|")
    for name in ("mp3", "opus", "aac", "flac"):
        one_ms, two_ms = (min(wall_ms(name, source, threads=threads) for _ in range(5)) for threads in (1, 2))
        print(f"| {name} | {one_ms:.0f} | {two_ms:.0f} |")


def wall_ms(name: str, source: Samples, *, threads: int) -> float:
    chain = partial(open_encoder, name, RATE_HZ, RATE_HZ)
    with ThreadPoolExecutor(threads) as pool:
        started_s = time.perf_counter()
        list(pool.map(lambda _: cost_ms(chain, source, rounds=1), range(threads)))
        return 1000 * (time.perf_counter() - started_s)


def main() -> None:
    source = speech()
    print(f"{len(source) / RATE_HZ:.0f} s of speech, {RATE_HZ} Hz, mono")
    print_candidates(source)
    print_choices(source)
    print_threads(source)


if __name__ == "__main__":
    main()
