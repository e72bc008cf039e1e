"""A ticket: what it is worth, when its chunks are late, and that it can be given back from anywhere."""

import inspect
from collections.abc import Callable

import pytest

from api.admission import ticket as room
from api.admission.ticket import LEAST_REMAINING_S, State, Ticket
from api.errors import InputTooCostly
from api.types import Entry, Place


class Gate:
    """Writes down what its tickets tell it."""

    def __init__(self) -> None:
        self.released_tickets: list[Ticket] = []
        self.late: list[bool] = []

    def released(self, ticket: Ticket) -> None:
        self.released_tickets.append(ticket)

    def sounded(self, ticket: Ticket, audio_s: float, *, late: bool) -> None:
        self.late.append(late)


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(room, "time", clock)
    return clock


def ticket(gate: Gate, *, live: bool = True, on_place: Callable[[Place], None] | None = None) -> Ticket:
    return Ticket(10.0, Entry(), live, gate, on_place=on_place)


def test_giving_back_needs_no_waiting_and_counts_once(gate: Gate) -> None:
    given_back = ticket(gate)
    assert not inspect.iscoroutinefunction(Ticket.release)
    given_back.release()
    given_back.release()
    assert gate.released_tickets == [given_back]
    assert given_back.state is State.GONE


def test_each_has_a_name_of_its_own(gate: Gate) -> None:
    assert ticket(gate).id != ticket(gate).id


def test_waiting_is_measured_until_it_is_let_in(gate: Gate, clock: Clock) -> None:
    waiting = ticket(gate)
    waiting.asked_at = clock.now
    clock.now += 2
    assert waiting.queued_s == 2
    waiting.let_in()
    clock.now += 5
    assert waiting.queued_s == 2
    assert waiting.turn.is_set()


def test_a_new_place_is_told_and_an_old_one_is_not_repeated(gate: Gate) -> None:
    told: list[Place] = []
    waiting = ticket(gate, on_place=told.append)
    for place in (Place(2, 5.0), Place(2, 5.0), Place(1, 3.0)):
        waiting.moved_to(place)
    assert told == [Place(2, 5.0), Place(1, 3.0)]
    assert waiting.place == Place(1, 3.0)


class TestPrice:
    def test_is_corrected_by_the_plan(self, gate: Gate) -> None:
        running = ticket(gate)
        running.reprice(50.0)
        assert running.remaining_s == 50

    def test_more_than_five_times_the_estimate_is_refused(self, gate: Gate) -> None:
        with pytest.raises(InputTooCostly):
            ticket(gate).reprice(50.1)

    def test_a_text_of_a_few_characters_may_grow_more(self, gate: Gate) -> None:
        short = Ticket(0.1, Entry(), True, gate)
        short.reprice(9.9)
        with pytest.raises(InputTooCostly):
            short.reprice(100.0)

    def test_shrinks_as_sound_is_made_and_is_never_nothing(self, gate: Gate, clock: Clock) -> None:
        running = ticket(gate)
        running.sound(4.0)
        assert running.remaining_s == 6
        running.sound(20.0)
        assert running.remaining_s == LEAST_REMAINING_S


class TestLateness:
    def test_nobody_has_run_dry_who_still_plays(self, gate: Gate, clock: Clock) -> None:
        running = ticket(gate)
        for _ in range(3):
            running.sound(1.0)
            clock.now += 0.9
        assert gate.late == [False] * 3

    def test_a_chunk_after_silence_is_late_and_the_next_is_measured_from_there(
        self, gate: Gate, clock: Clock
    ) -> None:
        running = ticket(gate)
        running.sound(1.0)
        clock.now += 1.5
        running.sound(1.0)
        clock.now += 0.9
        running.sound(1.0)
        assert gate.late == [False, True, False]

    def test_nothing_is_late_for_who_waits_for_the_whole(self, gate: Gate, clock: Clock) -> None:
        running = ticket(gate, live=False)
        for _ in range(3):
            running.sound(1.0)
            clock.now += 100
        assert gate.late == [False] * 3
