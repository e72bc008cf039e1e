"""The full model's vocoder in the shapes of a GPU, against the reference, at every edge of a bucket."""

import pytest
import torch

from api.engines.kokoro.model.sound_half import Aligned
from api.engines.kokoro.model.source import side_by_side
from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.speed.cuda.steps import FRAMES, Replayed
from tests.engines.kokoro import oracle as reference
from tests.engines.kokoro.oracle import Stages
from tests.engines.kokoro.speed.rehearsal import Given, rehearsal
from tests.engines.kokoro.stage import Pair, lines

CLOSE = 1e-4


@pytest.fixture(scope="module")
def rehearsed(full: Pair) -> Replayed:
    return rehearsal(full)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("edge", FRAMES)
@torch.inference_mode()
def test_at_every_edge_of_a_bucket_the_full_model_sounds_as_the_reference_does(
    full: Pair, rehearsed: Replayed, edge: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A step more is a row that its bucket is wider than; long ones, which take minutes, are not told twice.
    for frames in (edge, edge + 1) if edge <= 320 else (edge,):
        _compare(full, rehearsed, frames, monkeypatch)


def _compare(full: Pair, rehearsed: Replayed, frames: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the reference's pitch and loudness, which are compared by themselves, to the very last sample."""
    tokens = min(max(frames // 3, 3), 512)
    [line] = lines([tokens - 2])
    lasting = torch.tensor([frames // tokens + (token < frames % tokens) for token in range(tokens)])
    made = reference.stages(full.theirs, line.ids, line.style, 1.0, lasting)
    sound = reference.sound(full.theirs, made, line.style, seed=frames)
    given = Given(full.ours.sound_half.curves.forward, (made.pitch_hz[None], made.loudness[None]))
    with monkeypatch.context() as patch:
        patch.setattr(full.ours.sound_half.curves, "forward", given)
        ours = rehearsed.speak(
            _aligned(made, line.style), side_by_side([reference.noise_of(frames, 600 * frames)])
        )
    assert given.off[0] / 100 < CLOSE
    assert given.off[1] < CLOSE
    assert ours.shape == (1, 600 * frames)
    assert (ours[0] - sound).abs().max() < CLOSE


def _aligned(made: Stages, style: torch.Tensor) -> Aligned:
    frames = len(made.pitch_hz) // 2
    melody = made.melody.repeat_interleave(made.frames, dim=0)
    return Aligned(
        made.aligned[None], melody[None], style[None, :128], style[None, 128:], Spans([frames], style.device)
    )
