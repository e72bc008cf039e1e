"""Fewer are admitted while listeners run dry, and as many as before once they do not."""

import pytest

from api.admission import adaptive
from api.admission.adaptive import CALM_S, WINDOW_S, AdaptiveCap


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(adaptive, "time", clock)
    return clock


def window(cap: AdaptiveCap, clock: Clock, *, late: int, of: int, running: int = 100) -> int:
    """One window with this many chunks; the slots after it."""
    for number in range(of):
        cap.chunk(late=number < late)
    clock.now += WINDOW_S
    cap.adapt(running)
    return cap.slots


def calm(cap: AdaptiveCap, clock: Clock) -> None:
    clock.now += CALM_S
    cap.adapt(cap.slots)


@pytest.fixture
def cap(clock: Clock) -> AdaptiveCap:
    cap = AdaptiveCap(20, adaptive=True)
    calm(cap, clock)
    return cap


def test_late_chunks_take_slots(cap: AdaptiveCap, clock: Clock) -> None:
    assert window(cap, clock, late=10, of=100) == 17


def test_a_few_late_ones_are_chance(cap: AdaptiveCap, clock: Clock) -> None:
    assert window(cap, clock, late=2, of=100) == 20


def test_the_next_step_waits_until_the_last_one_is_felt(cap: AdaptiveCap, clock: Clock) -> None:
    assert [window(cap, clock, late=50, of=100) for _ in range(5)] == [17, 17, 17, 14, 14]


def test_slots_nobody_uses_are_taken_first(cap: AdaptiveCap, clock: Clock) -> None:
    assert window(cap, clock, late=50, of=100, running=10) == 8


def test_they_come_back_one_by_one_and_no_more_than_there_were(cap: AdaptiveCap, clock: Clock) -> None:
    window(cap, clock, late=50, of=100)
    clock.now += CALM_S
    assert [window(cap, clock, late=0, of=100) for _ in range(5)] == [18, 19, 20, 20, 20]


def test_one_slot_always_stays(cap: AdaptiveCap, clock: Clock) -> None:
    for _ in range(50):
        window(cap, clock, late=100, of=100, running=1)
        calm(cap, clock)
        assert cap.slots >= 1


def test_nothing_is_judged_before_the_window_is_over(cap: AdaptiveCap, clock: Clock) -> None:
    for _ in range(100):
        cap.chunk(late=True)
    clock.now += WINDOW_S / 2
    cap.adapt(20)
    assert cap.slots == 20


def test_it_can_be_switched_off(clock: Clock) -> None:
    cap = AdaptiveCap(20, adaptive=False)
    calm(cap, clock)
    assert window(cap, clock, late=100, of=100) == 20
