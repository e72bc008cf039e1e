"""Streams cut into chunks: what is called exact is so, the rest is faded over, and the work is linear."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import numpy as np
import pytest
import torch

from api.engines.spark.codec import Context, Cut, Cutter, Sound
from api.engines.spark.codec.context import EXACT
from api.engines.spark.codec.cutter import FIRST, FIRST_WANTED, LARGEST
from tests.engines.spark.codec.stage import RATE, Pair, Utterance, utterance

NOBODY = torch.zeros(0)
CONTEXT = Context(24, 24)


def pumped(
    cutter: Cutter, codes: Sequence[int], lumps: int = 1, slack_s: float = inf, bridge: int = FIRST_WANTED
) -> list[Cut]:
    """All cuts of a stream whose tokens come in lumps."""
    cuts: list[Cut] = []

    def take() -> None:
        while cut := cutter.next(slack_s, bridge):
            cuts.append(cut)

    for start in range(0, len(codes), lumps):
        cutter.feed(codes[start : start + lumps])
        take()
    cutter.finish()
    take()
    assert cutter.done
    assert sum(cut.heard for cut in cuts) == len(codes)
    return cuts


def spoken(pair: Pair, said: Utterance, cutter: Cutter, cuts: list[Cut]) -> list[Sound]:
    return [cutter.joined(cut, pair.ours.decode([cut.window])[0].numpy()) for cut in cuts]


def cutter_of(pair: Pair, said: Utterance, **how: bool) -> Cutter:
    return Cutter(said.speaker, pair.ours.context, RATE, **how)


def test_a_whole_file_is_exact_throughout(pair: Pair) -> None:
    said = utterance(pair, 170)
    cutter = cutter_of(pair, said, live=False)
    cuts = pumped(cutter, said.codes)
    assert all(cut.exact for cut in cuts)
    assert [cut.heard for cut in cuts] == [LARGEST, LARGEST, 170 - 2 * LARGEST]
    assert np.abs(np.concatenate(spoken(pair, said, cutter, cuts)) - said.whole.numpy()).max() < EXACT


@pytest.mark.parametrize("slack_s", [inf, 0.0])
@pytest.mark.parametrize("lumps", [1, 3, 40])
def test_a_chunk_that_is_called_exact_sounds_as_in_the_whole(pair: Pair, lumps: int, slack_s: float) -> None:
    """All but the moment in which it takes over from one that was not."""
    said = utterance(pair, 120)
    cutter = cutter_of(pair, said)
    cuts = pumped(cutter, said.codes, lumps, slack_s)
    start, after_a_faded_one = 0, False
    for cut, sound in zip(cuts, spoken(pair, said, cutter, cuts), strict=True):
        assert len(sound) == cut.heard * RATE
        over = RATE if after_a_faded_one else 0
        difference = np.abs(sound - said.sound(start, start + cut.heard).numpy())[over:]
        if cut.exact:
            assert difference.max() < EXACT
        start, after_a_faded_one = start + cut.heard, not cut.exact
    assert any(cut.exact for cut in cuts)


def test_the_first_sound_is_made_of_eight_tokens(pair: Pair) -> None:
    cutter = Cutter(NOBODY, CONTEXT, RATE)
    cutter.feed(range(FIRST - 1))
    assert cutter.next(0) is None
    cutter.feed([7])
    cut = cutter.next(0)
    assert cut is not None
    assert (cut.heard, len(cut.window.codes), cut.exact) == (FIRST_WANTED, FIRST, False)


def test_a_patient_listener_waits_until_it_is_exact() -> None:
    cutter = Cutter(NOBODY, CONTEXT, RATE)
    cutter.feed(range(FIRST_WANTED + CONTEXT.right - 1))
    assert cutter.next(0.5) is None
    cutter.feed([1])
    cut = cutter.next(0.5)
    assert cut is not None
    assert (cut.heard, cut.exact) == (FIRST_WANTED, True)


def test_chunks_grow() -> None:
    cuts = pumped(Cutter(NOBODY, CONTEXT, RATE), range(400), slack_s=0.5)
    heard = [cut.heard for cut in cuts[:-1]]
    assert heard == sorted(heard)
    assert heard[0] == FIRST_WANTED
    assert heard[-2] == LARGEST


def test_who_runs_dry_is_given_no_more_than_bridges_the_gap() -> None:
    """What is kept back is looked at: the further the model is ahead, the more exact the next chunk is."""
    cutter, ahead = Cutter(NOBODY, CONTEXT, RATE), []
    for _ in range(12):
        cutter.feed(range(10))
        cut = cutter.next(0.0, 6)
        assert cut is not None
        assert cut.heard <= 6 or cut.exact
        ahead.append(len(cut.window.codes) - cut.window.before - cut.heard)
    assert all(more >= less for less, more in pairwise(ahead))
    assert ahead[0] < 8
    assert ahead[-1] == CONTEXT.right


def test_steady_chunks_depend_on_nothing_but_the_tokens(pair: Pair) -> None:
    said = utterance(pair, 90)
    sounds = []
    for lumps, slack_s in ((1, inf), (7, 0.0), (90, -1.0), (2, 0.3)):
        cutter = cutter_of(pair, said, steady=True)
        cuts = pumped(cutter, said.codes, lumps, slack_s, bridge=lumps)
        sounds.append(np.concatenate(spoken(pair, said, cutter, cuts)))
    for sound in sounds[1:]:
        assert np.abs(sound - sounds[0]).max() < 1e-5


def test_steady_chunks_become_exact_too() -> None:
    cuts = pumped(Cutter(NOBODY, CONTEXT, RATE, steady=True), range(300))
    assert [cut.exact for cut in cuts] == sorted(cut.exact for cut in cuts)
    assert sum(cut.heard for cut in cuts if cut.exact) > 150


def test_where_a_chunk_takes_over_nothing_jumps(pair: Pair) -> None:
    """It goes on as the chunk before would have, and a token later it is the next one's own."""
    said = utterance(pair, 60)
    cutter = cutter_of(pair, said)
    cuts = pumped(cutter, said.codes, 10, slack_s=0)
    bare = [pair.ours.decode([cut.window])[0].numpy() for cut in cuts]
    joined = [cutter.joined(cut, sound) for cut, sound in zip(cuts, bare, strict=True)]
    faded = [place for place, cut in enumerate(cuts[:-1]) if not cut.exact]
    differ = []
    for place in faded:
        tail, own, out = bare[place][cuts[place].heard * RATE :], bare[place + 1], joined[place + 1]
        assert len(tail) == RATE
        assert out[0] == tail[0]
        assert np.abs(out[1:4] - tail[1:4]).max() < 1e-3
        assert np.abs(out[RATE - 3 : RATE] - own[RATE - 3 : RATE]).max() < 1e-3
        assert np.array_equal(out[RATE:], own[RATE : len(out)])
        differ.append(np.abs(tail - own[:RATE]).max() > 0.01)
    assert sum(differ) > 3


@pytest.mark.parametrize("tokens", [1, 2, 7, 8, 9, 33])
@pytest.mark.parametrize("how", [{}, {"live": False}, {"steady": True}])
def test_nothing_is_lost_however_short_it_is(pair: Pair, tokens: int, how: dict[str, bool]) -> None:
    said = utterance(pair, tokens)
    cutter = cutter_of(pair, said, **how)
    cuts = pumped(cutter, said.codes, slack_s=0)
    assert sum(len(sound) for sound in spoken(pair, said, cutter, cuts)) == tokens * RATE


def test_nothing_said_is_nothing_cut() -> None:
    cutter = Cutter(NOBODY, CONTEXT, RATE)
    cutter.finish()
    assert cutter.done
    assert cutter.next(0) is None


@pytest.mark.parametrize("how", [{}, {"live": False}, {"steady": True}])
def test_the_work_grows_with_the_length_and_no_faster(how: dict[str, bool]) -> None:
    """Tokens that are looked at for each that is heard: as many in a long text as in one of middling length."""

    def looked_at(tokens: int) -> float:
        cuts = pumped(Cutter(NOBODY, CONTEXT, RATE, **how), range(tokens), slack_s=0)
        return sum(len(cut.window.codes) for cut in cuts) / tokens

    assert looked_at(4000) < 1.1 * looked_at(1000)
