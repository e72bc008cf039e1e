"""The clock of a request."""

import time

from api.phases import Phase, Phases


def test_the_phases_together_are_the_whole() -> None:
    phases = Phases()
    for phase in (Phase.QUEUE, Phase.PLAN, *(Phase.SYNTHESIS, Phase.ENCODE, Phase.SENDING) * 100):
        phases.turn(phase)
    phases.stop()
    assert abs(sum(phases.spent) - phases.total_s) < 1e-9


def test_time_goes_to_the_phase_that_it_was_spent_in() -> None:
    phases = Phases()
    for phase, seconds in ((Phase.SYNTHESIS, 0.02), (Phase.ENCODE, 0.01), (Phase.SYNTHESIS, 0.02)):
        phases.turn(phase)
        time.sleep(seconds)
    phases.turn(Phase.SENDING)
    phases.stop()
    assert 0.04 <= phases.spent[Phase.SYNTHESIS] < 0.2
    assert 0.01 <= phases.spent[Phase.ENCODE] < 0.1
    making_s = phases.making_s()
    assert making_s is not None
    assert making_s >= 0.05


def test_a_phase_that_was_never_entered_has_neither_beginning_nor_time() -> None:
    phases = Phases()
    phases.turn(Phase.QUEUE)
    phases.stop()
    assert (phases.began[Phase.PLAN], phases.spent[Phase.PLAN], phases.making_s()) == (None, 0.0, None)
