"""What a GPU does otherwise, as far as a CPU can tell: the same sound, and no question to the device."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from api.engines.computing.cuda.graphs import ROWS, bucket_for, buckets
from api.engines.computing.precision import Precision
from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.kokoro import Line
from api.engines.kokoro.model.sound_half import align
from api.engines.kokoro.model.source import draw_noise, side_by_side
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.text_half import Reading
from api.engines.kokoro.speed import self_check, spectral_distance_db
from api.engines.kokoro.speed.cuda.quicken import PRECISION_LIMIT_DB, lower, lowered_vocoder
from api.engines.kokoro.speed.cuda.steps import FRAMES, MAX_FRAMES, TOKENS, Replayed
from tests.engines.computing.questions import NoQuestions
from tests.engines.kokoro.speed.rehearsal import Given, rehearsal
from tests.engines.kokoro.stage import Pair, lines, narrow_pair
from tests.server import ROOT


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    torch.set_num_threads(1)
    return narrow_pair(tmp_path_factory.mktemp("narrow"))


@pytest.fixture
def said() -> list[Line]:
    return lines([12, 3, 20], (1.0, 1.5))


@pytest.fixture
def rehearsed(pair: Pair) -> Replayed:
    return rehearsal(pair)


@torch.inference_mode()
def test_what_is_recorded_asks_nothing_and_sounds_the_same(
    pair: Pair, said: list[Line], rehearsed: Replayed
) -> None:
    readings = pair.ours.read(said)
    _compare_sound(pair, rehearsed, readings)


@torch.inference_mode()
@pytest.mark.parametrize("edge", FRAMES)
def test_at_every_edge_of_a_bucket_a_reading_sounds_the_same(
    pair: Pair, rehearsed: Replayed, edge: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if edge > 60 and not request.config.getoption("--long"):
        pytest.skip("in the long form")
    half = pair.ours.sound_half
    curves, reading = half.curves.forward, pair.ours.read(lines([5]))[0]
    for frames in (edge - 1, edge, edge + 1):
        longer = (frames - len(reading.frames) + 1, *(1 for _ in reading.frames[1:]))
        aligned = align([replace(reading, frames=longer)])
        found = curves(aligned.melody, aligned.manner, aligned.spans)
        breath = draw_noise(7, 600 * frames, pair.ours.device)
        plain = half.vocoder(aligned.text, *found, aligned.timbre, [breath], aligned.spans)
        given = Given(curves, found)
        monkeypatch.setattr(half.curves, "forward", given)
        sound = rehearsed.speak(aligned, side_by_side([breath]))
        assert given.off[0] / 100 < 1e-4
        assert given.off[1] < 1e-4
        assert sound.shape == plain.shape
        assert (sound - plain).abs().max() < 1e-4


def _compare_sound(pair: Pair, rehearsed: Replayed, readings: list[Reading]) -> None:
    aligned = align(readings)
    frames = aligned.spans.lengths
    breaths, others = (
        [draw_noise(row + seed, 600 * length, pair.ours.device) for row, length in enumerate(frames)]
        for seed in (0, 50)
    )
    sound = rehearsed.speak(aligned, side_by_side(breaths))
    plain, noisy = (pair.ours.sound_half(aligned, given) for given in (breaths, others))
    for row, length in enumerate(frames):
        mine, theirs, other = (each[row, : 600 * length] for each in (sound, plain, noisy))
        assert not sound[row, 600 * length :].any()
        assert spectral_distance_db(mine, theirs) < 0.25 * spectral_distance_db(other, theirs)


@torch.inference_mode()
@pytest.mark.parametrize("edge", TOKENS)
def test_at_the_edges_of_a_bucket_a_line_is_read_the_same(
    pair: Pair, rehearsed: Replayed, edge: int, request: pytest.FixtureRequest
) -> None:
    if edge not in (16, 32, 96, 512) and not request.config.getoption("--long"):
        pytest.skip("in the long form")
    for tokens in ([edge - 1, 4], [edge, edge], [min(edge + 1, 512), 3, 9]):
        said = lines([count - 2 for count in tokens], (1.0, 1.5))
        spans = Spans(tokens, torch.device("cpu"))
        ids = pad_sequence([torch.tensor(line.ids) for line in said], batch_first=True)
        manner = torch.stack([line.style[128:] for line in said])
        speed = torch.tensor([line.speed for line in said])
        found, plain = (way(ids, manner, speed, spans) for way in (rehearsed.read, pair.ours.text_half))
        for mine, theirs in zip(found, plain, strict=True):
            for row, length in enumerate(tokens):
                assert (mine[row, :length] - theirs[row, :length]).abs().max() < 1e-5


@torch.inference_mode()
def test_a_large_step_is_not_in_a_bucket_and_done_all_the_same(pair: Pair, rehearsed: Replayed) -> None:
    reading = pair.ours.read(lines([5]))[0]
    many = [replace(reading, frames=(*reading.frames[:-1], 70 + row)) for row in range(33)]
    aligned = align(many)
    breaths = [draw_noise(row, 600 * length, pair.ours.device) for row, length in enumerate(aligned.spans)]
    sound = rehearsed.speak(aligned, side_by_side(breaths))
    assert sound.shape == (33, 600 * aligned.spans.width)


def test_the_guard_notices_a_question() -> None:
    with NoQuestions(), pytest.raises(AssertionError, match="asks the device"):
        torch.ones(1).item()


def test_a_small_step_has_a_bucket_that_is_hardly_larger_and_a_large_one_none() -> None:
    there = set(buckets(FRAMES, MAX_FRAMES))
    for rows in (1, 3, 8, 20, 32):
        for width in (1, 20, 21, 75, 130, 301, 1999, 2400, 2401):
            found = bucket_for(rows, width, FRAMES, MAX_FRAMES)
            if found is None:
                assert rows > ROWS[-1] or width > FRAMES[-1] or 2 * rows * 1.34 * max(width, 20) > MAX_FRAMES
            else:
                assert found in there
                assert found.rows >= rows
                assert width <= found.width <= max(20, 2 * width)
                assert found.rows * found.width <= MAX_FRAMES


def test_in_bf16_the_vocoder_sounds_alike_and_is_put_back_bit_by_bit(pair: Pair, said: list[Line]) -> None:
    vocoder = pair.ours.sound_half.vocoder
    before = {name: value.clone() for name, value in vocoder.state_dict().items()}
    check = self_check(pair.ours, said)
    put_back = lowered_vocoder(vocoder, Precision.BF16)
    kinds = {
        conv.weight.dtype for block in vocoder.modules() if isinstance(block, SnakeBlock) for conv in block.convs1
    }
    assert kinds == {torch.bfloat16}
    assert 0 < check.distance_db() < PRECISION_LIMIT_DB
    put_back()
    assert all(torch.equal(value, before[name]) for name, value in vocoder.state_dict().items())
    assert check.distance_db() == 0


def test_a_precision_that_is_heard_is_not_taken(
    pair: Pair, said: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = self_check(pair.ours, said)
    monkeypatch.setattr(check, "distance_db", lambda: 9.0)
    lower(pair.ours, check)
    assert pair.ours.sound_half.precision is Precision.FP32
    assert {weight.dtype for weight in pair.ours.parameters()} == {torch.float32}


def test_the_first_precision_that_is_not_heard_is_taken(pair: Pair, said: list[Line]) -> None:
    model = pair.ours
    lower(model, self_check(model, said))
    assert model.sound_half.precision is Precision.BF16
    readings = model.read(said)
    for block in (block for block in model.modules() if isinstance(block, SnakeBlock)):
        for weight in (weight for conv in block.convolutions for weight in conv.parameters()):
            weight.data = weight.data.float()
    model.sound_half.precision = Precision.FP32
    assert [reading.frames for reading in model.read(said)] == [reading.frames for reading in readings]


def test_the_kernel_norms_as_torch_does() -> None:
    pytest.importorskip("triton")
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "tests.engines.kokoro.speed.interpreted"]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout == "alike\n", run.stderr[-2000:]
