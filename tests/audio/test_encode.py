"""What a caller may rely on, for every format, rate and ending."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

from api.audio import FORMATS, Encoder, Format, Tail, open_encoder
from api.types import Pcm, Samples
from tests.audio.decoders import ffmpeg, sndfile
from tests.audio.sounds import delay_of, encode, noise, snr_db, speech

COMPRESSED = ("mp3", "opus", "aac")
EVERY_FORMAT_AND_RATE = [(name, rate_hz) for name, row in FORMATS.items() for rate_hz in row.rates_hz]
ENDINGS = pytest.mark.parametrize("whole", [False, True], ids=["streaming", "whole"])

# What decoders hear before the source's first sample, where nothing tells them to leave it out.
DELAYS = {("mp3", False): 576 + 529, ("aac", False): 1024, ("aac", True): 1024}


def decode(data: bytes, name: str, rate_hz: int) -> list[Samples]:
    """By every decoder that there is for the format."""
    if name == "pcm":
        return [np.frombuffer(data, "<i2")]
    by_ffmpeg = ffmpeg(data, name, rate_hz)
    return [by_ffmpeg] if name == "aac" else [by_ffmpeg, sndfile(data)]


def most_padding(name: str, rate_hz: int) -> int:
    """What an encoder may add before and after, in samples: its delay, and what fills its last frame."""
    frame = 1152 if rate_hz >= 32_000 else 576
    return {"mp3": 576 + 576 + frame, "aac": 1024 + 1024}[name]


@ENDINGS
@pytest.mark.parametrize(("name", "rate_hz"), EVERY_FORMAT_AND_RATE)
def test_what_is_decoded_is_what_was_said_from_the_first_sample_to_the_last(
    name: str, rate_hz: int, whole: bool
) -> None:
    source = speech(rate_hz, 1.503)
    data = encode(name, source, (rate_hz, rate_hz), whole=whole)
    delay = DELAYS.get((name, whole), 0)
    for decoded in decode(data, name, rate_hz):
        if delay:
            assert delay <= len(decoded) - len(source) < most_padding(name, rate_hz)
        else:
            assert len(decoded) == len(source)
        heard = decoded[delay : delay + len(source)]
        if name not in COMPRESSED:
            assert np.array_equal(heard, source)
        else:
            assert delay_of(source, heard) == 0
            assert snr_db(source, heard) > 20
            last = rate_hz // 20
            assert snr_db(source[-last:], heard[-last:]) > 18, "the tail is missing"


@pytest.mark.parametrize("length", [1, 2, 575, 576, 577, 1151, 1152, 1153, 11_037])
@pytest.mark.parametrize(
    ("name", "rate_hz"), [pair for pair in EVERY_FORMAT_AND_RATE if pair[0] in ("mp3", "opus", "flac", "wav")]
)
def test_whole_files_of_any_length_decode_to_exactly_that_length(name: str, rate_hz: int, length: int) -> None:
    assert len(sndfile(encode(name, noise(length), (rate_hz, rate_hz), whole=True))) == length


@ENDINGS
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("target_hz", [24_000, 48_000])
def test_chunks_of_any_size_give_the_bytes_of_a_single_one(name: str, target_hz: int, whole: bool) -> None:
    source, rates_hz = speech(24_000, 1.1), (24_000, target_hz)
    at_once = encode(name, source, rates_hz, chunks=(len(source),), whole=whole)
    assert encode(name, source, rates_hz, chunks=(1, 7, 0, 441, 4800, 9001), whole=whole) == at_once
    assert encode(name, source, rates_hz, chunks=(len(source),), whole=whole) == at_once, "not the same twice"


@pytest.mark.parametrize("name", FORMATS)
def test_single_samples_and_long_chunks_are_the_same_sound(name: str) -> None:
    source = speech(24_000, 5.5)
    short = source[:2000]
    assert encode(name, short, (24_000, 24_000), chunks=(1,)) == encode(name, short, (24_000, 24_000))
    assert encode(name, source, (24_000, 24_000), chunks=(120_000,)) == encode(name, source, (24_000, 24_000))


@ENDINGS
@pytest.mark.parametrize("name", FORMATS)
def test_no_sound_at_all_is_still_a_file(name: str, whole: bool) -> None:
    nothing = np.zeros(0, np.int16)
    for source_hz in (24_000, 16_000):
        data = encode(name, nothing, (source_hz, 24_000), whole=whole)
        if name == "pcm":
            assert data == b""
        elif name == "aac":
            assert len(ffmpeg(data, name, 24_000)) <= 2048
        else:
            longest = {"wav": 0, "mp3": 1 if whole else 1728}.get(name, 1)
            assert len(sndfile(data)) <= longest
            assert not sndfile(data).any()


@ENDINGS
@pytest.mark.parametrize("name", FORMATS)
def test_silence_stays_silent(name: str, whole: bool) -> None:
    data = encode(name, np.zeros(24_000, np.int16), (24_000, 24_000), whole=whole)
    assert all(np.abs(decoded).max() <= 1 for decoded in decode(data, name, 24_000))


@pytest.mark.parametrize(("name", "rate_hz"), EVERY_FORMAT_AND_RATE)
def test_noise_at_full_scale_survives(name: str, rate_hz: int) -> None:
    source = noise(rate_hz // 2)
    for decoded in decode(encode(name, source, (rate_hz, rate_hz)), name, rate_hz):
        assert 0.5 < decoded.astype(float).std() / source.astype(float).std() < 1.1


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("source_hz", [16_000, 22_050])
def test_another_rate_is_the_same_sound_at_that_rate(name: str, source_hz: int) -> None:
    source, expected = speech(source_hz, 1.2), speech(24_000, 1.2)
    decoded = decode(encode(name, source, (source_hz, 24_000), whole=True), name, 24_000)[0]
    delay = DELAYS.get((name, True), 0)
    assert delay_of(expected, decoded[delay:]) == 0
    if not delay:
        assert len(decoded) == len(expected)


@pytest.mark.parametrize("name", FORMATS)
def test_the_first_sound_comes_out_early_and_more_follows_soon(name: str) -> None:
    longest_ms = 10 if FORMATS[name].light else 100
    source, step = speech(24_000, 2), 240
    encoder = open_encoder(name, 24_000, 24_000)
    data = [encoder.feed(Pcm(source[at : at + step], 24_000)) for at in range(0, len(source), step)]
    encoder.close()
    first = b"".join(data[: longest_ms // 10])
    assert any(len(decoded) for decoded in decode(first, name, 24_000))
    answers_ms = [10 * at for at, answer in enumerate(data) if answer]
    assert max(later - earlier for earlier, later in pairwise(answers_ms)) <= longest_ms


@pytest.mark.parametrize("name", FORMATS)
def test_an_encoder_may_be_handed_from_thread_to_thread(name: str) -> None:
    source = speech(24_000, 1)
    encoder = open_encoder(name, 24_000, 24_000)
    data = b""
    for at in range(0, len(source), 4801):
        with ThreadPoolExecutor(1) as fresh_thread:
            data += fresh_thread.submit(encoder.feed, Pcm(source[at : at + 4801], 24_000)).result()
    with ThreadPoolExecutor(1) as fresh_thread:
        data += fresh_thread.submit(encoder.finish).result().data
    assert data == encode(name, source, (24_000, 24_000))


@pytest.mark.parametrize("name", FORMATS)
def test_a_closed_encoder_takes_nothing_and_may_be_closed_again(name: str) -> None:
    word = Pcm(speech(24_000, 0.1), 24_000)
    abandoned, finished = (open_encoder(name, 24_000, 24_000) for _ in range(2))
    abandoned.feed(word)
    abandoned.close()
    finished.feed(word)
    finished.finish()
    for encoder in (abandoned, finished):
        encoder.close()
        with pytest.raises(ValueError, match="closed"):
            encoder.feed(word)
        with pytest.raises(ValueError, match="closed"):
            encoder.finish()
    open_encoder(name, 24_000, 24_000).close()


def test_sound_at_a_rate_that_was_not_announced_is_refused() -> None:
    with pytest.raises(ValueError, match="22050 Hz"):
        open_encoder("pcm", 24_000, 24_000).feed(Pcm(speech(22_050, 0.1), 22_050))


@pytest.mark.parametrize(
    ("name", "rate_hz", "volume", "light"),
    [
        ("pcm", 24_000, 1.0, True),
        ("wav", 24_000, 1.0, True),
        ("wav", 16_000, 1.0, False),
        ("pcm", 24_000, 0.5, False),
        ("flac", 24_000, 1.0, False),
    ],
)
def test_a_chain_is_light_when_no_stage_of_it_has_work(
    name: str, rate_hz: int, volume: float, light: bool
) -> None:
    assert open_encoder(name, 24_000, rate_hz, volume=volume).light is light


class Slow:
    """A codec that works until it is told to leave."""

    def __init__(self) -> None:
        self.entered, self.leave = Event(), Event()
        self.closed = 0

    def encode(self, samples: Samples) -> bytes:
        self.entered.set()
        assert self.leave.wait(10)
        assert not self.closed, "closed under its worker"
        return b"sound"

    def finish(self) -> Tail:
        return Tail(b"")

    def close(self) -> None:
        self.closed += 1


def test_closing_does_not_wait_for_a_thread_at_work_which_closes_when_it_leaves() -> None:
    slow = Slow()
    encoder = Encoder(Format("slow", "audio/slow", lambda _: slow), 24_000, 24_000)
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(encoder.feed, Pcm(np.zeros(1, np.int16), 24_000))
        assert slow.entered.wait(10)
        encoder.close()
        slow.leave.set()  # and `encode` sees to it that nobody closed it by now
        assert working.result(10) == b"sound"
    assert slow.closed == 1
