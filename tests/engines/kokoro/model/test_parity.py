"""Each stage against the reference on the same random weights, every row of a batch against that row alone."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from api.engines.kokoro.model.kokoro import Line
from api.engines.kokoro.model.sound_half import align
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.speed import spectral_distance_db
from api.engines.kokoro.speed.cuda.steps import TOKENS
from tests.engines.kokoro import oracle as reference
from tests.engines.kokoro.oracle import Stages
from tests.engines.kokoro.stage import Pair, lines, narrow_pair

CLOSE = 1e-4
SPEEDS = (1.0, 0.5, 1.7, 4.0, 0.25)
MIXED = {
    "one phoneme": [1],
    "one line": [37],
    "a line and a phoneme": [48, 1],
    "seven lines": [5, 31, 2, 17, 17, 60, 9],
    "thirty-two lines": [1 + 11 * row % 23 for row in range(32)],
}
batches = pytest.mark.parametrize("phonemes", MIXED.values(), ids=MIXED.keys())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    torch.set_num_threads(1)
    return narrow_pair(tmp_path_factory.mktemp("narrow"))


def test_the_opened_reference_makes_the_sound_of_the_whole(pair: Pair) -> None:
    line = lines([23])[0]
    made = reference.stages(pair.theirs, line.ids, line.style, line.speed)
    opened = reference.sound(pair.theirs, made, line.style, seed=5)
    torch.manual_seed(5)
    whole, frames = pair.theirs.forward_with_tokens(torch.tensor([line.ids]), line.style[None], line.speed)
    assert torch.equal(opened, whole)
    assert torch.equal(made.frames, frames)


@batches
def test_the_text_half_reads_as_the_reference_does(pair: Pair, phonemes: list[int]) -> None:
    _compare_text(pair, lines(phonemes, SPEEDS))


@batches
def test_the_vocoder_sounds_as_the_reference_does(pair: Pair, phonemes: list[int]) -> None:
    # Speed is nothing to the vocoder but a length; slow lines are long, and the reference takes them one by one.
    compare_sound(pair, lines(phonemes, (1.0, 1.7, 4.0)))


def test_the_longest_line_beside_the_shortest(pair: Pair) -> None:
    extremes = lines([510, 1])
    _compare_text(pair, extremes)
    compare_sound(pair, extremes)


def test_the_pitch_of_the_test_lies_where_voices_are(pair: Pair) -> None:
    line = lines([40])[0]
    pitch = reference.stages(pair.theirs, line.ids, line.style, 1.0).pitch_hz
    assert pitch.min() > 80
    assert pitch.max() < 300


def test_breath_between_voiced_stretches_sounds_as_in_the_reference(pair: Pair) -> None:
    said = lines([21, 8, 33])
    made = [_hoarse(reference.stages(pair.theirs, line.ids, line.style, 1.0)) for line in said]
    _compare_vocoder(pair, said, made)


def test_end_to_end_the_sound_is_the_reference_s(pair: Pair) -> None:
    said = lines([30, 4, 55, 12])
    readings = pair.ours.read(said)
    spoken = _spoken(pair, readings)
    for seed, (line, ours) in enumerate(zip(said, spoken, strict=True)):
        made = reference.stages(pair.theirs, line.ids, line.style, line.speed)
        theirs = reference.sound(pair.theirs, made, line.style, seed)
        other_noise = reference.sound(pair.theirs, made, line.style, seed + 100)
        assert ours.shape == theirs.shape
        assert spectral_distance_db(ours, theirs) < 0.25 * spectral_distance_db(other_noise, theirs)


@batches
def test_the_full_model_reads_as_the_reference_does(full: Pair, phonemes: list[int]) -> None:
    _compare_text(full, lines(phonemes, SPEEDS))


@pytest.mark.parametrize("tokens", TOKENS)
def test_at_the_edges_of_a_bucket_the_full_model_reads_as_the_reference_does(full: Pair, tokens: int) -> None:
    _compare_text(full, lines([tokens - 3, tokens - 2, min(tokens - 1, 510)], (1.0, 1.7)))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("phonemes", [[14, 40, 1], [510, 1], MIXED["thirty-two lines"]], ids=len)
def test_the_full_model_sounds_as_the_reference_does(full: Pair, phonemes: list[int]) -> None:
    compare_sound(full, lines(phonemes, (1.7, 4.0, 1.0)))


def _compare_text(pair: Pair, said: list[Line]) -> None:
    """Lengths, the features of both halves, pitch and loudness; pitch is compared in units of 100 Hz."""
    readings = pair.ours.read(said)
    made = [reference.stages(pair.theirs, line.ids, line.style, line.speed) for line in said]
    for reading, theirs in zip(readings, made, strict=True):
        near_an_edge = ((theirs.lengths % 1) - 0.5).abs() < CLOSE
        assert ((torch.tensor(reading.frames) == theirs.frames) | near_an_edge).all()
        assert (reading.melody - theirs.melody).abs().max() < CLOSE
        assert (reading.text - theirs.text).abs().max() < CLOSE
    aligned = align(
        [
            Reading(tuple(theirs.frames.tolist()), reading.melody, reading.text, reading.style)
            for reading, theirs in zip(readings, made, strict=True)
        ]
    )
    with torch.inference_mode():
        pitch_hz, loudness = pair.ours.sound_half.curves(aligned.melody, aligned.manner, aligned.spans)
    for row, theirs in enumerate(made):
        steps = len(theirs.pitch_hz)
        assert (pitch_hz[row, :steps] - theirs.pitch_hz).abs().max() / 100 < CLOSE
        assert (loudness[row, :steps] - theirs.loudness).abs().max() < CLOSE
        assert (aligned.text[row, :, : steps // 2] - theirs.aligned).abs().max() < CLOSE


def compare_sound(pair: Pair, said: list[Line]) -> None:
    made = [reference.stages(pair.theirs, line.ids, line.style, line.speed) for line in said]
    _compare_vocoder(pair, said, made)


def _compare_vocoder(pair: Pair, said: list[Line], made: Sequence[Stages]) -> None:
    """The vocoder given the reference's pitch, loudness, aligned text and noise: to the very last sample."""
    spans = Spans([len(theirs.pitch_hz) // 2 for theirs in made], torch.device("cpu"))
    timbre = torch.stack([line.style[:128] for line in said])
    noise = [reference.noise_of(seed, 600 * frames) for seed, frames in enumerate(spans)]
    text = pad_sequence([theirs.aligned.T for theirs in made], batch_first=True).transpose(1, 2).contiguous()
    pitch_hz = pad_sequence([theirs.pitch_hz for theirs in made], batch_first=True)
    loudness = pad_sequence([theirs.loudness for theirs in made], batch_first=True)
    with torch.inference_mode():
        spoken = pair.ours.sound_half.vocoder(text, pitch_hz, loudness, timbre, noise, spans)
    for seed, (line, theirs, ours, frames) in enumerate(zip(said, made, spoken, spans, strict=True)):
        sound = reference.sound(pair.theirs, theirs, line.style, seed)
        assert len(sound) == 600 * frames
        assert (ours[: len(sound)] - sound).abs().max() < CLOSE
        assert not ours[len(sound) :].any()


def _spoken(pair: Pair, readings: list[Reading]) -> list[Tensor]:
    aligned = align(readings)
    noise = [reference.noise_of(seed, 600 * frames) for seed, frames in enumerate(aligned.spans)]
    with torch.inference_mode():
        sound = pair.ours.sound_half(aligned, noise)
    return [row[: 600 * frames] for row, frames in zip(sound, aligned.spans, strict=True)]


def _hoarse(made: Stages) -> Stages:
    """The same with every third stretch of ten steps unvoiced."""
    steps = torch.arange(len(made.pitch_hz))
    pitch_hz = torch.where(steps // 10 % 3 == 1, torch.zeros(()), made.pitch_hz)
    return Stages(made.lengths, made.frames, made.melody, made.text, pitch_hz, made.loudness, made.aligned)
