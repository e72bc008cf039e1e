"""What cannot be a text, spoken, is told from what can."""

import random

import numpy as np
import pytest

from api.engines.spark.plausible import Bounds, Fault, Hush, Judge, seconds_of
from api.types import Samples

SENTENCE = "The quick brown fox jumps over the lazy dog."
RATE_HZ = 16_000


def natural(count: int, seed: int = 0) -> list[int]:
    """Codes as speech has them: all kinds, with a pause of half a second in every two."""
    dice = random.Random(seed)
    return [7 if place % 100 >= 75 else dice.randrange(8192) for place in range(count)]


def judged(codes: list[int], bounds: Bounds) -> tuple[Fault, int] | None:
    """As they come, four at a time."""
    judge = Judge(bounds)
    for end in range(4, len(codes) + 4, 4):
        if found := judge.so_far(codes[:end]):
            return found
    return judge.whole(codes)


class TestLength:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [(SENTENCE, 3.0), ("今天天气很好，我们一起去散步吧。", 3.5), ("आज मौसम बहुत अच्छा है।", 1.6), ("2024", 1.0)],
    )
    def test_a_text_lasts_as_long_as_reading_it_takes(self, text: str, seconds: float) -> None:
        assert seconds_of(text) == pytest.approx(seconds, rel=0.2)

    @pytest.mark.parametrize("text", ["No.", "Hm", SENTENCE, SENTENCE * 3])
    @pytest.mark.parametrize("pace", [0.6, 1.0, 1.7])
    def test_natural_lengths_pass(self, text: str, pace: float) -> None:
        lasts_s = seconds_of(text) / pace + 0.3
        assert judged(natural(round(lasts_s * 50)), Bounds.of(text, 1.0)) is None

    def test_half_a_sentence_that_is_missing_is_too_short(self) -> None:
        bounds = Bounds.of(SENTENCE * 3, 1.0)
        assert judged(natural(bounds.least - 1), bounds) == (Fault.SHORT, 0)

    def test_one_that_does_not_end_is_too_long(self) -> None:
        bounds = Bounds.of(SENTENCE, 1.0)
        assert judged(natural(bounds.most + 8), bounds) == (Fault.LONG, 0)

    def test_slow_speech_may_take_longer(self) -> None:
        slow, calm = Bounds.of(SENTENCE, 0.6), Bounds.of(SENTENCE, 1.0)
        assert slow.most > calm.most
        assert slow.least > calm.least

    def test_nothing_at_all_is_too_short_for_any_text(self) -> None:
        assert judged([], Bounds.of("A", 1.5)) == (Fault.SHORT, 0)


class TestRounds:
    @pytest.mark.parametrize("period", [1, 2, 13, 50])
    def test_a_round_is_found_and_what_came_before_it_is_sound(self, period: int) -> None:
        before, one = natural(60), natural(period, seed=5)
        found = judged(before + one * (400 // period), Bounds.of(SENTENCE * 3, 1.0))
        assert found
        fault, sound = found
        assert fault is Fault.ROUND
        assert 60 <= sound <= 60 + 28

    def test_a_few_codes_over_and_over_are_one_too(self) -> None:
        dice = random.Random(3)
        dull = [dice.choice([1, 2, 3, 4, 5]) for _ in range(400)]
        found = judged(dull, Bounds.of(SENTENCE * 3, 1.0))
        assert found
        assert found[0] is Fault.ROUND

    def test_a_long_pause_is_none(self) -> None:
        assert judged([*natural(70), *[7] * 100, *natural(100)], Bounds.of(SENTENCE * 2, 1.0)) is None


class TestHush:
    def test_sound_passes_and_so_do_its_pauses(self) -> None:
        hush, given = Hush(RATE_HZ), []
        pieces = [quiet(0.4), loud(1.0), quiet(2.0), loud(0.5), quiet(1.0)]
        for piece in pieces:
            passed = hush.through(piece)
            assert passed is not None
            given.append(passed)
        assert np.array_equal(np.concatenate(given), np.concatenate(pieces))
        assert hush.sounded == int(3.9 * RATE_HZ)

    def test_silence_at_the_start_waits_for_sound(self) -> None:
        hush = Hush(RATE_HZ)
        assert hush.through(quiet(1.0)) is not None
        assert passed(hush, quiet(1.0)) == 0
        assert hush.sounded == 0
        assert passed(hush, loud(0.1)) == int(2.1 * RATE_HZ)

    def test_too_much_of_it_is_a_fault_and_is_not_given_out(self) -> None:
        hush = Hush(RATE_HZ)
        assert [passed(hush, quiet(1.0)) for _ in range(3)] == [0, 0, 0]
        assert hush.through(quiet(0.1)) is None

    def test_so_it_is_after_sound(self) -> None:
        hush = Hush(RATE_HZ)
        assert hush.through(np.concatenate([loud(1.0), quiet(2.0)])) is not None
        assert hush.through(np.concatenate([quiet(1.5), loud(1.0)])) is None
        assert Hush(RATE_HZ).through(np.concatenate([quiet(3.5), loud(1.0)])) is None


def passed(hush: Hush, samples: Samples) -> int | None:
    given = hush.through(samples)
    return None if given is None else len(given)


def loud(seconds: float) -> Samples:
    return np.full(int(seconds * RATE_HZ), 2000, np.int16)


def quiet(seconds: float) -> Samples:
    return np.full(int(seconds * RATE_HZ), 3, np.int16)
