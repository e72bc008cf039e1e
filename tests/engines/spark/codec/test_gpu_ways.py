"""What a GPU does otherwise, as far as a CPU can tell: the same sound, and no question to the device."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from api.engines.computing.cuda.graphs import Bucket, bucket_for
from api.engines.computing.precision import Precision, lowered
from api.engines.spark.codec import BiCodec, Window
from api.engines.spark.codec.checkpoint import load
from api.engines.spark.codec.context import EXACT
from api.engines.spark.codec.cuda.quicken import PRECISION_LIMIT_DB, convolutions, fuse, lower
from api.engines.spark.codec.cuda.recorded import MOST, WANTED, Recorded, like, step
from api.engines.spark.codec.quicken import self_check
from api.engines.spark.codec.wave import Snake, bent
from tests.engines.computing.questions import NoQuestions
from tests.engines.spark.codec.stage import Pair, Utterance, apart, utterance
from tests.server import ROOT


@pytest.fixture
def codec(pair: Pair) -> BiCodec:
    """One that torch alone computes, as on a GPU."""
    codec = load(pair.folder).model
    codec.context = pair.ours.context
    return codec


class Rehearsed:
    """A step in its buckets, not recorded but done, under a guard and with inputs of the shapes foreseen."""

    def __init__(self, codec: BiCodec) -> None:
        self.codec = codec
        self.replayed: list[Bucket] = []

    def bucket(self, rows: int, width: int) -> Bucket | None:
        return bucket_for(rows, width, WANTED, MOST)

    def replay(self, bucket: Bucket, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        places = like(self.codec, bucket)
        assert [part.shape for part in inputs] == [part.shape for part in places]
        assert [part.dtype for part in inputs] == [part.dtype for part in places]
        self.replayed.append(bucket)
        with NoQuestions():
            return step(self.codec, bucket, [part.clone() for part in inputs])


@pytest.fixture
def rehearsed(codec: BiCodec) -> Rehearsed:
    made = Rehearsed(codec)
    codec.faster = Recorded(codec, made)
    return made


def windows(said: Utterance, codec: BiCodec, cuts: Sequence[tuple[int, int]]) -> list[Window]:
    return [said.window(*cut, codec.context.left, codec.context.right) for cut in cuts]


def test_what_is_recorded_asks_nothing_and_sounds_the_same(
    pair: Pair, codec: BiCodec, rehearsed: Rehearsed
) -> None:
    """Beginnings, middles and ends, of which each has another edge."""
    said = utterance(pair, 100)
    cuts = ((0, 6), (5, 12), (40, 52), (60, 61), (90, 100))
    for some in (cuts, cuts[:1], cuts[2:3], cuts[4:]):
        for sound, (start, end) in zip(codec.decode(windows(said, codec, some)), some, strict=True):
            assert apart(sound, said.sound(start, end)) < EXACT
    assert [bucket.rows for bucket in rehearsed.replayed] == [8, 1, 1, 1]


def test_at_every_edge_of_a_bucket_a_window_sounds_the_same(
    pair: Pair, codec: BiCodec, rehearsed: Rehearsed
) -> None:
    said = utterance(pair, 140)
    for edge in WANTED[::3]:
        for end in (edge - 1, edge, edge + 1):
            [sound] = codec.decode(windows(said, codec, [(20, 20 + end)]))
            assert apart(sound, said.sound(20, 20 + end)) < EXACT
    assert {bucket.width for bucket in rehearsed.replayed} >= set(WANTED[::3])


def test_what_has_no_bucket_is_done_all_the_same(pair: Pair, codec: BiCodec, rehearsed: Rehearsed) -> None:
    said = utterance(pair, 140)
    for start, end in ((0, 140), (70, 78)):
        [sound] = codec.decode([said.window(start, end)])
        assert apart(sound, said.sound(start, end)) < 1e-5
    assert rehearsed.replayed == []


def test_in_bf16_it_sounds_alike_and_is_put_back_bit_by_bit(codec: BiCodec) -> None:
    before = {name: value.clone() for name, value in codec.state_dict().items()}
    check = self_check(codec)
    put_back = lowered(convolutions(codec.wave), Precision.BF16)
    assert sum(value.dtype == torch.bfloat16 for value in codec.state_dict().values()) == 2 * (1 + 4 + 24)
    assert 0 < check.distance_db() < PRECISION_LIMIT_DB
    put_back()
    assert all(torch.equal(value, before[name]) for name, value in codec.state_dict().items())
    assert check.distance_db() == 0


def test_a_precision_that_is_heard_is_not_taken(codec: BiCodec, monkeypatch: pytest.MonkeyPatch) -> None:
    check = self_check(codec)
    monkeypatch.setattr(check, "distance_db", lambda: 9.0)
    lower(codec, check)
    assert codec.precision is Precision.FP32
    assert {weight.dtype for weight in codec.parameters()} == {torch.float32}


def test_the_first_precision_that_is_not_heard_is_taken(codec: BiCodec) -> None:
    lower(codec, self_check(codec))
    assert codec.precision is Precision.BF16


def test_a_kernel_that_bends_otherwise_is_left_off(codec: BiCodec) -> None:
    snakes = [module for module in codec.wave.modules() if isinstance(module, Snake)]
    fuse(codec, self_check(codec), lambda x, alpha, inverse, kind: x * 0.5)
    assert all(snake.bend is bent for snake in snakes)

    def other(x: Tensor, alpha: Tensor, inverse: Tensor, kind: torch.dtype) -> Tensor:
        return (x + (1 - torch.cos(2 * alpha * x)) * inverse / 2).to(kind)

    fuse(codec, self_check(codec), other)
    assert all(snake.bend is other for snake in snakes)


def test_the_kernel_bends_as_torch_does() -> None:
    pytest.importorskip("triton")
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "tests.engines.spark.codec.interpreted"]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout == "alike\n", run.stderr[-2000:]
