"""Arrivals: random as they should be, and the same each time."""

from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

import pytest

from api.bench import Arrival, Caller, Length, Phase, Profile, schedule
from api.bench.texts import english


def profile(**fields: Any) -> Profile:
    return Profile(**{"url": "http://localhost", "phases": [Phase(rate=100, duration_s=50)], **fields})


def arrivals(**fields: Any) -> list[Arrival]:
    return list(schedule(profile(**fields)))


class TestMoments:
    def test_come_at_the_rate_that_was_asked_for(self) -> None:
        assert len(arrivals()) == pytest.approx(5000, rel=0.05)

    def test_are_poisson(self) -> None:
        times = [arrival.at_s for arrival in arrivals()]
        gaps = [after - before for before, after in pairwise(times)]
        # Of an exponential distribution, and of no regular one, mean and deviation are the same.
        assert pstdev(gaps) / fmean(gaps) == pytest.approx(1, abs=0.06)

    def test_are_the_same_for_the_same_seed_only(self) -> None:
        assert arrivals(seed=7) == arrivals(seed=7)
        assert arrivals(seed=7) != arrivals(seed=8)

    def test_are_split_over_processes_without_loss(self) -> None:
        parts = [list(schedule(profile(), process=process, processes=3)) for process in range(3)]
        assert sorted((each for part in parts for each in part), key=lambda each: each.at_s) == arrivals()
        assert [len(part) for part in parts] == pytest.approx([len(arrivals()) / 3] * 3, abs=1)

    def test_of_phases_follow_each_other_unless_told_when(self) -> None:
        phases = [
            Phase(rate=50, duration_s=2),
            Phase(rate=50, duration_s=2),
            Phase(rate=5, duration_s=4, start_s=0),
        ]
        found = arrivals(phases=phases)
        assert [each.at_s for each in found] == sorted(each.at_s for each in found)
        spans = [[each.at_s for each in found if each.phase == phase] for phase in range(3)]
        assert max(spans[0]) < 2 < min(spans[1])
        assert min(spans[2]) < 2 < max(spans[2])

    def test_a_rate_of_audio_counts_the_seconds_of_the_texts(self) -> None:
        mixed = (Length(seconds=2, weight=3), Length(seconds=10))
        found = arrivals(texts=mixed, phases=[Phase(audio_rate=400, duration_s=50)])
        assert sum(each.chars for each in found) / 15 / 50 == pytest.approx(400, rel=0.05)

    def test_a_range_of_lengths_is_even_on_a_logarithmic_scale(self) -> None:
        lengths = [each.chars / 15 for each in arrivals(texts=(Length(seconds=1, up_to_s=400),))]
        assert min(lengths) >= 1
        assert max(lengths) <= 400.1
        assert sum(length < 20 for length in lengths) / len(lengths) == pytest.approx(0.5, abs=0.03)
        rate = profile(
            texts=(Length(seconds=1, up_to_s=400),), phases=[Phase(audio_rate=100, duration_s=1)]
        ).peak_rate
        assert fmean(lengths) * rate == pytest.approx(100, rel=0.06)


class TestCallers:
    def test_share_the_arrivals(self) -> None:
        found = arrivals(callers=(Caller(name="a", share=20), Caller(name="b", share=5)))
        assert sum(each.caller.name == "a" for each in found) / len(found) == pytest.approx(0.8, abs=0.02)

    def test_call_in_their_phases_and_with_their_texts(self) -> None:
        callers = (Caller(name="a"), Caller(name="b", texts=(Length(chars=99),)))
        found = arrivals(callers=callers, phases=[Phase(rate=50, duration_s=1, callers=("b",))])
        assert {(each.caller.name, each.chars) for each in found} == {("b", 99)}


class TestTexts:
    @pytest.mark.parametrize("chars", [15, 75, 300, 6000])
    def test_have_the_length_asked_for(self, chars: int) -> None:
        lengths = [len(english(chars, str(seed))) for seed in range(200)]
        assert fmean(lengths) == pytest.approx(chars, abs=2)
        assert max(abs(length - chars) for length in lengths) < 12

    def test_are_the_same_for_the_same_seed_and_never_for_another(self) -> None:
        assert english(300, "1") == english(300, "1")
        assert len({english(15, str(seed)) for seed in range(500)}) > 490

    def test_are_sentences(self) -> None:
        text = english(500, "x")
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(".") > 3
