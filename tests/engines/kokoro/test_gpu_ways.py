"""What a GPU does otherwise, as far as a CPU can tell: the same sound, and no question to the device."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils._python_dispatch import TorchDispatchMode

from api.engines.kokoro.blocks import SnakeBlock
from api.engines.kokoro.cuda.graphs import FRAMES, MAX_FRAMES, ROWS, Bucket, bucket_for, buckets
from api.engines.kokoro.cuda.quicken import PRECISION_LIMIT_DB, lower
from api.engines.kokoro.cuda.steps import widened
from api.engines.kokoro.likeness import spectral_distance_db
from api.engines.kokoro.model import Line
from api.engines.kokoro.precision import Precision, lowered
from api.engines.kokoro.selfcheck import SelfCheck
from api.engines.kokoro.sound_half import Aligned, align
from api.engines.kokoro.source import draw_noise, side_by_side
from api.engines.kokoro.spans import Spans
from api.engines.kokoro.steps import Plain
from api.engines.kokoro.style import masked
from tests.engines.kokoro.stage import Pair, lines, narrow_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    torch.set_num_threads(1)
    return narrow_pair(tmp_path_factory.mktemp("narrow"))


@pytest.fixture
def said() -> list[Line]:
    return lines([12, 3, 20], (1.0, 1.5))


class NoQuestions(TorchDispatchMode):
    """Fails where the host would have to wait for a value, or would send one that a recording could not change."""

    ASKING = ("_local_scalar_dense", "nonzero", "is_nonzero", "equal", "masked_select", "lift_fresh", "unique")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert func.overloadpacket.__name__ not in self.ASKING, f"{func} asks the device"
        return func(*args, **kwargs or {})


def _widened(aligned: Aligned, noise: Tensor, bucket: Bucket, samples: int) -> tuple[Tensor, ...]:
    return (
        widened(aligned.text.transpose(1, 2), bucket.rows, bucket.width).transpose(1, 2).contiguous(),
        widened(aligned.melody, bucket.rows, bucket.width),
        widened(aligned.timbre, bucket.rows),
        widened(aligned.manner, bucket.rows),
        widened(noise.transpose(1, 2), bucket.rows, bucket.width * samples).transpose(1, 2).contiguous(),
    )


@torch.inference_mode()
def test_what_is_recorded_asks_nothing_and_sounds_the_same(pair: Pair, said: list[Line]) -> None:
    model = pair.ours
    aligned = align(model.read(said))
    frames = aligned.spans.lengths
    breaths = [draw_noise(row, 600 * length, model.device) for row, length in enumerate(frames)]
    plain = model.sound_half(aligned, breaths)
    bucket = bucket_for(len(said), aligned.spans.width, FRAMES, MAX_FRAMES)
    assert bucket is not None
    inputs = _widened(aligned, side_by_side(breaths), bucket, model.config.samples_per_frame)
    ends = widened(aligned.spans.ends, bucket.rows, fill=1)
    with NoQuestions():
        (sound,) = Plain(model.text_half, model.sound_half).speak_tensors(inputs, Spans.within(ends, bucket.width))
    for row, length in enumerate(frames):
        mine, theirs = sound[row, : 600 * length], plain[row, : 600 * length]
        noisy = model.speak(model.read([said[row]]), [row + 50])[0]
        assert not sound[row, 600 * length :].any()
        assert spectral_distance_db(mine, theirs) < 0.25 * spectral_distance_db(noisy, theirs)


@torch.inference_mode()
def test_the_text_half_is_read_the_same_and_asks_nothing(pair: Pair, said: list[Line]) -> None:
    spans = Spans([len(line.ids) for line in said], torch.device("cpu"))
    ids = pad_sequence([torch.tensor(line.ids) for line in said], batch_first=True)
    manner, speed = torch.stack([line.style[128:] for line in said]), torch.tensor([line.speed for line in said])
    plain = pair.ours.text_half(ids, manner, speed, spans)
    inputs = (widened(ids, 4, 32), widened(manner, 4), widened(speed, 4, fill=1))
    with NoQuestions():
        ways = Plain(pair.ours.text_half, pair.ours.sound_half)
        found = ways.read_tensors(inputs, Spans.within(widened(spans.ends, 4, fill=1), 32))
    for mine, theirs in zip(found, plain, strict=True):
        for row, length in enumerate(spans):
            assert (mine[row, :length] - theirs[row, :length]).abs().max() < 1e-5


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
    check = SelfCheck(pair.ours, said)
    put_back = lowered(vocoder, Precision.BF16)
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
    check = SelfCheck(pair.ours, said)
    monkeypatch.setattr(check, "distance_db", lambda: 9.0)
    lower(pair.ours, check)
    assert pair.ours.sound_half.precision is Precision.FP32
    assert {weight.dtype for weight in pair.ours.parameters()} == {torch.float32}


def test_the_first_precision_that_is_not_heard_is_taken(pair: Pair, said: list[Line]) -> None:
    model = pair.ours
    lower(model, SelfCheck(model, said))
    assert model.sound_half.precision is Precision.BF16
    readings = model.read(said)
    for block in (block for block in model.modules() if isinstance(block, SnakeBlock)):
        for weight in (weight for conv in block.convolutions for weight in conv.parameters()):
            weight.data = weight.data.float()
    model.sound_half.precision = Precision.FP32
    assert [reading.frames for reading in model.read(said)] == [reading.frames for reading in readings]


@pytest.fixture(scope="module")
def kernel() -> Callable[..., Tensor]:
    """The kernel as Triton's interpreter runs it."""
    pytest.importorskip("triton")
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        made: Callable[..., Tensor] = importlib.import_module("api.engines.kokoro.cuda.norm").fused
    finally:
        del os.environ["TRITON_INTERPRET"]
    return made


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("snake", [False, True])
def test_the_kernel_norms_as_torch_does(kernel: Callable[..., Tensor], snake: bool, kind: torch.dtype) -> None:
    dice = torch.Generator().manual_seed(3)
    ends = torch.tensor([1500, 7, 1024])
    spans = Spans.within(ends, 1500)
    x = spans.hide(torch.randn(3, 4, 1500, generator=dice) * 3 + 5)
    gain, shift = torch.randn(3, 4, generator=dice), torch.randn(3, 4, generator=dice)
    alpha = torch.rand(4, generator=dice) + 0.2 if snake else None
    one, other = (norm(x, gain, shift, spans, alpha, kind) for norm in (kernel, masked))
    assert one.dtype == kind
    assert (one.float() - other.float()).abs().max() < (1e-5 if kind == torch.float32 else 0.05)
