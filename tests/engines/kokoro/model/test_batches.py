"""A request's sound does not depend on what it is batched with."""

import pytest
import torch

from api.engines.kokoro.model.kokoro import Line
from api.engines.kokoro.model.sound_half import align
from api.engines.kokoro.model.source import draw_noise
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.style import masked, tiled
from api.engines.kokoro.speed import spectral_distance_db
from tests.engines.kokoro.stage import Pair, lines, narrow_pair

OTHERS = [1 + 13 * row % 29 for row in range(31)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    torch.set_num_threads(1)
    return narrow_pair(tmp_path_factory.mktemp("narrow"))


@pytest.fixture(scope="module")
def crowd() -> list[Line]:
    return lines([26, *OTHERS], (1.0, 0.8, 1.6))


def test_alone_or_among_31_others_a_line_is_read_the_same(pair: Pair, crowd: list[Line]) -> None:
    alone, among = pair.ours.read(crowd[:1])[0], pair.ours.read(crowd)[0]
    assert alone.frames == among.frames
    assert (alone.melody - among.melody).abs().max() < 1e-5
    assert (alone.text - among.text).abs().max() < 1e-5


def test_alone_or_among_31_others_a_reading_sounds_the_same(pair: Pair, crowd: list[Line]) -> None:
    readings = pair.ours.read(crowd)
    alone = pair.ours.speak(readings[:1], [7])[0]
    among = pair.ours.speak(readings, [7, *range(100, 131)])[0]
    noisy = pair.ours.speak(readings[:1], [8])[0]
    assert alone.shape == among.shape
    assert spectral_distance_db(alone, among) < 0.25 * spectral_distance_db(alone, noisy)


def test_given_its_pitch_a_sound_is_the_same_sample_by_sample(pair: Pair, crowd: list[Line]) -> None:
    aligned = align(pair.ours.read(crowd))
    vocoder = pair.ours.sound_half.vocoder
    noise = [draw_noise(row, 600 * frames, pair.ours.device) for row, frames in enumerate(aligned.spans)]
    with torch.inference_mode():
        pitch, loudness = pair.ours.sound_half.curves(aligned.melody, aligned.manner, aligned.spans)
        together = vocoder(aligned.text, pitch, loudness, aligned.timbre, noise, aligned.spans)
        for row in (0, 5, 20):
            frames = aligned.spans.lengths[row]
            alone = vocoder(
                aligned.text[row : row + 1, :, :frames].contiguous(),
                pitch[row : row + 1, : 2 * frames].contiguous(),
                loudness[row : row + 1, : 2 * frames].contiguous(),
                aligned.timbre[row : row + 1],
                noise[row : row + 1],
                Spans([frames], pair.ours.device),
            )
            assert (together[row, : 600 * frames] - alone[0]).abs().max() < 1e-4


def test_the_same_batch_sounds_the_same_bit_by_bit(pair: Pair, crowd: list[Line]) -> None:
    one, other = (pair.ours.speak(pair.ours.read(crowd[:4]), [1, 2, 3, 4]) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_another_seed_is_another_breath(pair: Pair, crowd: list[Line]) -> None:
    readings = pair.ours.read(crowd[:1])
    assert not torch.equal(pair.ours.speak(readings, [1])[0], pair.ours.speak(readings, [2])[0])


def test_readings_of_several_batches_are_spoken_together(pair: Pair, crowd: list[Line]) -> None:
    apart = [pair.ours.read([line])[0] for line in crowd[:3]]
    together = pair.ours.read(crowd[:3])
    one, other = pair.ours.speak(apart, [1, 2, 3]), pair.ours.speak(together, [1, 2, 3])
    noisy = pair.ours.speak(apart, [4, 5, 6])
    for a, b, c in zip(one, other, noisy, strict=True):
        assert spectral_distance_db(a, b) < 0.25 * spectral_distance_db(a, c)


@pytest.mark.parametrize("snake", [False, True])
def test_the_norm_of_a_cpu_is_the_norm_of_a_gpu(snake: bool) -> None:
    dice = torch.Generator().manual_seed(3)
    spans = Spans([50, 7, 31], torch.device("cpu"))
    x = spans.hide(torch.randn(3, 40, 50, generator=dice) * 3 + 5)
    gain, shift = torch.randn(3, 40, generator=dice), torch.randn(3, 40, generator=dice)
    alpha = torch.rand(40, generator=dice) + 0.2 if snake else None
    one, other = masked(x, gain, shift, spans, alpha), tiled(x, gain, shift, spans, alpha)
    assert (one - other).abs().max() < 1e-4
    assert not other[1, :, 7:].any()
    assert not one[1, :, 7:].any()
