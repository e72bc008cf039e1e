"""Whether those who are sent away get in when they come back as told, and waits are as long as predicted."""

import pytest

from api.bench import Caller, Phase
from tests.faults.promises import Promise
from tests.faults.test_overload import CAPACITY, attack, overloaded, queue

pytestmark = pytest.mark.measured


def test_what_the_refused_are_told_is_true(promise: Promise, times: int) -> None:
    rounds, storm_s, calm_s = (10, 15, 45) if times > 1 else (1, 5, 11)
    phases = [
        phase
        for _ in range(rounds)
        for phase in (
            Phase(audio_rate=3 * CAPACITY, duration_s=storm_s),
            Phase(audio_rate=0.2 * CAPACITY, duration_s=calm_s),
        )
    ]
    with overloaded() as server:
        report = attack(server, phases, Caller(retry="told"))
        wait_error = queue(server)["wait_error"]
    returned = report.total.returned
    promise.at_least("refused clients that came back once", 20, returned.returns)
    promise.at_least("of them let in", 0.8, returned.got_in_share or 0)
    assert isinstance(wait_error, float)
    promise.at_most("median error of the predicted wait", 0.3, wait_error)
