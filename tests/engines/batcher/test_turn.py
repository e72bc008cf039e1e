"""By when a request's next sound is due."""

from math import inf
from types import SimpleNamespace

import pytest

from api.engines.batcher import Turn
from api.types import Run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Turn its one value to tell the time."""
    now = [100.0]
    monkeypatch.setattr("api.engines.batcher.turn.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def of(patience_s: float) -> Turn:
    return Turn(Run("test", patience_s=lambda: patience_s))


def test_who_came_long_ago_and_heard_nothing_is_more_urgent_than_who_ran_dry_just_now(clock: list[float]) -> None:
    first, dry = of(0.0), of(-0.5)
    dry.heard = True
    assert first.patience_s() > dry.patience_s()
    clock[0] += 1
    assert first.patience_s() < dry.patience_s()


def test_once_something_is_heard_only_the_listener_counts(clock: list[float]) -> None:
    playing = of(1.5)
    clock[0] += 60
    playing.heard = True
    assert playing.patience_s() == 1.5


def test_who_awaits_a_file_is_in_no_hurry(clock: list[float]) -> None:
    assert of(inf).patience_s() == inf
