"""The decoder against the reference, rows of a batch against those rows alone, and what a window may leave out."""

from itertools import product
from pathlib import Path

import pytest
import torch

from api.engines.spark.codec import SAMPLE_RATE_HZ
from api.engines.spark.codec.context import EXACT
from tests.engines.spark.bicodec_layout import FULL, shapes
from tests.engines.spark.codec.stage import Pair, apart, open_pair, utterance

CLOSE = 1e-5
LENGTHS = (1, 2, 8, 40, 100)


def test_whole_utterances_sound_as_in_the_reference(pair: Pair) -> None:
    for seed, tokens in enumerate(LENGTHS):
        said = utterance(pair, tokens, seed)
        assert said.whole.std() > 0.05
        assert apart(pair.ours.decode([said.window(0, tokens)])[0], said.whole) < CLOSE


def test_speakers_are_told_apart_as_in_the_reference(pair: Pair) -> None:
    voices = [utterance(pair, 1, seed).voice for seed in range(4)]
    width = pair.ours.config.speaker.outputs
    for voice in voices:
        assert apart(pair.ours.speaker(voice)[:width], pair.theirs.speaker(voice)) < CLOSE
    assert apart(pair.ours.speaker(voices[0]), pair.ours.speaker(voices[1])) > 0.1


def test_a_row_of_a_padded_batch_sounds_as_it_does_alone(pair: Pair) -> None:
    """Beginnings, middles and ends of short and long utterances and of several speakers in one call."""
    said = [utterance(pair, tokens, seed) for seed, tokens in enumerate(LENGTHS)]
    windows = [one.window(0, tokens) for one, tokens in zip(said, LENGTHS, strict=True)]
    last = said[-1]
    windows += [last.window(*cut) for cut in ((0, 8), (70, 71), (92, 100), (20, 60, 30, 3), (60, 64, 0, 0))]
    together = pair.ours.decode(windows)
    for window, beside in zip(windows, together, strict=True):
        assert apart(pair.ours.decode([window])[0], beside) < CLOSE
    backwards = pair.ours.decode(windows[::-1])
    for one, other in zip(together, backwards[::-1], strict=True):
        assert apart(one, other) < CLOSE


def test_with_all_context_a_window_sounds_as_in_the_whole(pair: Pair) -> None:
    said = utterance(pair, 140)
    for start, end in ((0, 8), (66, 67), (67, 90), (100, 140)):
        assert apart(pair.ours.decode([said.window(start, end)])[0], said.sound(start, end)) < CLOSE


def test_nothing_further_away_than_the_reach_is_heard(pair: Pair) -> None:
    """And what lies at its end is looked at, even where these weights make little of it."""
    reach = pair.ours.reach
    said = utterance(pair, 2 * reach + 3)
    changed = list(said.codes)
    changed[0] = changed[-1] = (said.codes[0] + 4000) % 8192
    other = pair.theirs.decode(changed, said.voice)
    assert torch.equal(said.sound(reach + 1, reach + 2), other[(reach + 1) * 320 : (reach + 2) * 320])
    assert (
        apart(pair.ours.decode([said.window(reach + 1, reach + 2)])[0], said.sound(reach + 1, reach + 2)) < CLOSE
    )


def test_the_context_that_was_found_is_enough_for_other_tokens_too(pair: Pair) -> None:
    left, right = pair.ours.context.left, pair.ours.context.right
    assert 4 < left < 67
    assert 4 < right < 67
    said = [utterance(pair, 160, seed) for seed in range(10, 13)]
    for one, (start, end) in product(said, ((70, 78), (40, 90), (100, 101))):
        assert apart(pair.ours.decode([one.window(start, end, left, right)])[0], one.sound(start, end)) < EXACT


def test_with_less_context_it_would_not_be(pair: Pair) -> None:
    """So that what was found is not simply a number that is always enough."""
    left, right = pair.ours.context.left, pair.ours.context.right
    said = [utterance(pair, 160, seed) for seed in range(10, 13)]
    short = [apart(pair.ours.decode([one.window(70, 90, left - 8, right)])[0], one.sound(70, 90)) for one in said]
    narrow = [apart(pair.ours.decode([one.window(70, 90, left, right - 8)])[0], one.sound(70, 90)) for one in said]
    assert min(max(short), max(narrow)) > EXACT


def test_the_full_model(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if not request.config.getoption("--long"):
        pytest.skip("in the long form")
    pair = open_pair(tmp_path, narrow=False)
    assert pair.ours.config.samples_per_token * pair.ours.config.tokens_per_s == SAMPLE_RATE_HZ
    said = utterance(pair, 100)
    windows = [said.window(0, 100), said.window(0, 8), said.window(40, 48)]
    made = pair.ours.decode(windows)
    for sound, (start, end) in zip(made, ((0, 100), (0, 8), (40, 48)), strict=True):
        assert apart(sound, said.sound(start, end)) < CLOSE
    near = said.window(40, 48, pair.ours.context.left, pair.ours.context.right)
    assert apart(pair.ours.decode([near])[0], said.sound(40, 48)) < EXACT


def test_the_layout_is_the_published_one() -> None:
    """840 tensors, and so many parameters a part, as the published file has them."""
    sizes: dict[str, int] = {}
    for name, shape in shapes(FULL).items():
        part = name.partition(".")[0]
        sizes[part] = sizes.get(part, 0) + torch.Size(shape).numel()
    assert len(shapes(FULL)) == 840
    assert {part: round(size / 1e6, 1) for part, size in sizes.items()} == {
        "encoder": 30.5,
        "speaker_encoder": 14.1,
        "prenet": 39.4,
        "postnet": 19.7,
        "decoder": 52.6,
        "quantizer": 0.1,
    }
    assert 625e6 < 4 * sum(sizes.values()) < 626.5e6
