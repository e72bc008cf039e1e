"""Random lives of a queue, played to the scripts and to the model at once.

A step is a kind and a seed, and means something in whatever state it finds: so a failing life stays playable when
steps are taken out of it, and what is left in the end is short.
"""

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, isclose
from typing import Any

from tests.admission.invariants import INVARIANTS, KEPT, nobody_waits_who_could_run
from tests.admission.model import SPREAD, Queue
from tests.admission.scripts import Json, Scripts

CODES = {"queue_full", "wait_exceeds_deadline", "key_running_limit", "key_queue_limit"}
CALLERS: dict[str, Json] = {
    "-": {"share": 1.0, "guaranteed": 0.0, "most_running": 0, "most_queued": -1},
    "triple": {"share": 3.0, "guaranteed": 0.5, "most_running": 0, "most_queued": -1},
    "narrow": {"share": 1.0, "guaranteed": 0.25, "most_running": 2, "most_queued": 3},
    "single": {"share": 0.5, "guaranteed": 0.125, "most_running": 1, "most_queued": -1},
    "hasty": {"share": 1.0, "guaranteed": 0.0, "most_running": 2, "most_queued": 0},
}
# Sums of these are exact, in whatever order they are added.
COSTS_S = (0.125, 0.125, 1.0, 2.5, 7.0, 40.0)
WARM = (0.5, 4.0, 32.0, 512.0)
STARTED = 1_700_000_000_000


@dataclass(frozen=True)
class Step:
    kind: str
    seed: int


@dataclass
class Held:
    """A ticket, as its worker sees it."""

    ask: Json
    state: str = "entering"
    score: float = 0.0
    facts: Json = field(default_factory=dict)
    cost: float = 0.0


@dataclass
class Host:
    """A worker, as far as the queue hears of it."""

    name: str
    cap: int = 2
    warm: float = 4.0
    held: dict[str, Held] = field(default_factory=dict)
    late_beat: Json | None = None
    beats: int = -1
    made: float = 0.0

    def beat(self, made: float) -> Json:
        held = list(self.held.items())
        self.beats, self.made = self.beats + 1, self.made + made
        return {
            "worker": self.name,
            "number": self.beats,
            "cap": self.cap,
            "warm": self.warm,
            "made": self.made,
            "entering": {ticket: True for ticket, one in held if one.state == "entering"},
            "running": [[ticket, one.cost, one.facts] for ticket, one in held if one.state == "running"],
            "waiting": [
                [ticket, one.score, one.cost, one.facts] for ticket, one in held if one.state == "waiting"
            ],
        }


class Life:
    """One life of a queue, from nothing to nothing."""

    def __init__(self, scripts: Scripts, model: Queue | None = None) -> None:
        self.scripts, self.model = scripts, model or Queue(STARTED)
        self.scripts.empty()
        self.scripts.now = self.model.now = STARTED
        self.hosts = [Host(f"host:{number}") for number in range(3)]
        self.tickets = 0
        self.gone: list[tuple[Host, Json]] = []
        self.came: dict[str, int] = {}
        self.clock = 0
        self.ran: dict[str, set[str]] = {}

    def play(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.random = random.Random(step.seed)
            self.host = self.random.choice(self.hosts)
            KINDS[step.kind](self)

    # --- the steps ---

    def enter(self) -> None:
        self.tickets += 1
        caller = self.random.choice(list(CALLERS))
        class_ = self.random.choice(["interactive", "interactive", "batch"])
        ask = {
            "ticket": f"t{self.tickets:05}",
            "worker": self.host.name,
            "cost": self.random.choice(COSTS_S),
            "caller": caller,
            "class": class_,
            "offset_ms": 10_000 if class_ == "batch" else 0,
            **CALLERS[caller],
            "max_queued": self.random.choice([0, 3, 12, 200, 200, 200]),
            "deadline_ms": self.random.choice([500, 5_000, 30_000, 1e9, 1e9, 1e9]),
            "first_chunk_ms": self.random.choice([0, 200, 200, 6_000]),
            "errand": self.random.choice([None, "a", "b", "c", "d", "e"]),
            "luck": self.random.randrange(1024) / 1024,
        }
        self.host.held[ask["ticket"]] = Held(ask, cost=ask["cost"])
        self._enter(self.host, ask)

    def enter_again(self) -> None:
        """A reply was lost, or is only thought to be."""
        if self.host.held:
            self._enter(self.host, self.random.choice(list(self.host.held.values())).ask)

    def enter_after_leaving(self) -> None:
        """The call was overtaken by the one that gave its ticket back."""
        if self.gone:
            self._enter(*self.random.choice(self.gone[-5:]))

    def leave(self) -> None:
        some = self.random.sample(
            sorted(self.host.held), min(len(self.host.held), self.random.choice([1, 1, 2, 5]))
        )
        for ticket in some:
            self.gone.append((self.host, self.host.held.pop(ticket).ask))
        fate = self.random.random()
        if fate < 0.8:
            strangers = ["nobody", *(ask["ticket"] for _, ask in self.gone[-2:])] if fate < 0.2 else []
            words = [*some, *strangers]
            for _ in range(2 if fate < 0.1 else 1):
                self.scripts.tell("leave", self.host.name, *words)
                self.model.leave(self.host.name, words)
                self._compare(set())
                nobody_waits_who_could_run(self.scripts)

    def beat(self) -> None:
        if self.random.random() < 0.1:
            self.host.cap = self.random.choice([1, 1, 2, 3, 9])
        if self.random.random() < 0.05:
            self.host.warm = self.random.choice(WARM)
        for held in self.host.held.values():
            if held.state == "running":
                held.cost = self.random.choice(COSTS_S)
        self._beat(self.host.beat(self.random.choice([0, 0.25, 1.5, 16.0])))

    def beat_of_all(self) -> None:
        for host in self.hosts:
            self.host = host
            self.beat()

    def write_a_beat(self) -> None:
        """It will be sent later, as if it had been overtaken on the way."""
        self._pass(1)
        self.host.late_beat = self.host.beat(0.5)

    def send_the_beat(self) -> None:
        if beat := self.host.late_beat:
            self.host.late_beat = None
            self._beat(deepcopy(beat))

    def enter_locally(self) -> None:
        """Redis is away: the worker lets in by itself."""
        for held in self.host.held.values():
            if held.state != "running" and self.random.random() < 0.5:
                names = ("caller", "class", "most_running")
                local = {name: held.ask[name] for name in names} | {"since": 0, "predicted": 0, "finish": 0}
                held.state, held.facts = "running", held.facts or local

    def bury(self) -> None:
        if self.random.random() < 0.5:  # it is dead indeed, and starts anew
            self.host.held.clear()
            self.host.late_beat = None
        self._bury(self.host)

    def empty_redis(self) -> None:
        self.scripts.empty()
        self.model.empty()
        self.ran = {}
        self._forget_who_is_gone()

    def pass_a_moment(self) -> None:
        self._pass(self.random.randrange(300))

    def pass_a_second(self) -> None:
        self._pass(1000)

    def pass_a_lease(self) -> None:
        self._pass(self.random.choice([9_000, 10_001, 12_000]))

    def pass_an_hour(self) -> None:
        self._pass(3_600_000)

    def step_back(self) -> None:
        """A server's clock is set right."""
        for host in self.hosts:
            host.late_beat = None
        self._pass(-self.random.randrange(500))

    def end(self) -> None:
        """All workers say their last, and are buried: what is left is little, and not for ever."""
        for host in self.hosts:
            self._beat(host.beat(0))
        for host in self.hosts:
            self._bury(host)
        left = self.scripts.state.keys()
        assert left <= KEPT, left
        for name in left:
            assert self.scripts.redis.pttl(self.scripts.prefix + name) > 0, name

    # --- what they are made of ---

    def _pass(self, ms: int) -> None:
        self.model.now += ms
        self.scripts.now += ms

    def _enter(self, host: Host, ask: Json) -> None:
        is_known = ask["ticket"] in self.scripts.hash("cost")
        answer, expected = self.scripts.ask("enter", ask), self.model.enter(ask)
        del answer["now"]
        assert alike(answer, expected), (answer, expected)
        if answer["verdict"] == "refused":
            assert answer["code"] in CODES
            assert 1 <= answer.get("retry_after_s", 1) <= 60
        if answer["verdict"] == "waiting" and not is_known:
            self.came.pop(ask["ticket"], None)  # whatever place it had, this is another
        self._compare(set())
        held = host.held.get(ask["ticket"])
        if held is None or self.random.random() < 0.2:
            return  # nobody hears the answer
        if answer["verdict"] == "refused":
            if held.state == "entering":
                del host.held[ask["ticket"]]
        elif held.state == "entering" and answer["verdict"] != "stranger":
            held.state, held.facts = answer["verdict"], answer["facts"]
            held.score = answer.get("score", 0.0)

    def _beat(self, beat: Json) -> None:
        answer, expected = self.scripts.ask("beat", beat), self.model.beat(deepcopy(beat))
        del answer["now"]
        answer = {name: value or [] for name, value in answer.items()}  # Lua's empty list is an object
        assert alike(answer, expected), (answer, expected)
        self._compare({one[0] for one in beat["running"]})
        nobody_waits_who_could_run(self.scripts)
        if 0 < beat["number"] < int(self.scripts.hash("beats").get(beat["worker"], 0)):
            return  # it has been overtaken, and nobody listens to it
        present = {*self.scripts.line("run", beat["worker"]), *self.scripts.line("wait", beat["worker"])}
        assert {one[0] for one in [*beat["running"], *beat["waiting"]]} <= present, "lost"
        (host,) = (host for host in self.hosts if host.name == beat["worker"])
        for ticket in answer["granted"]:
            if held := host.held.get(ticket):
                held.state = "running"
        self._pass(1)

    def _bury(self, host: Host) -> None:
        self.scripts.tell("bury", host.name)
        self.model.bury(host.name)
        self._compare(set())
        nobody_waits_who_could_run(self.scripts)
        assert not any(
            host.name in (name.partition(":")[2], *self.scripts.hash(name)) for name in self.scripts.state
        )

    # --- what must hold ---

    def _compare(self, said_to_run: set[str]) -> None:
        queue, model = self.scripts, self.model
        assert queue.hash("workers").keys() == model.workers.keys()
        for name, worker in model.workers.items():
            assert float(queue.hash("workers")[name]) == worker.lease_ms
            assert int(queue.hash("caps")[name]) == worker.cap
            running = {ticket: float(one.admitted_ms) for ticket, one in worker.running.items()}
            assert queue.line("run", name) == running, name
            assert list(queue.line("wait", name).items()) == [(one.ticket, one.score) for one in worker.line], name
            busy = {
                int(second): float(queue.hash(f"made:{name}")[second]) for second in queue.hash(f"busy:{name}")
            }
            assert busy == worker.saturated
        requests = [*model.everybody("running"), *model.everybody("waiting")]
        assert {ticket: float(cost) for ticket, cost in queue.hash("cost").items()} == {
            one.ticket: one.cost for one in requests
        }
        assert alike(queue.facts(), {one.ticket: one.facts for one in requests})
        assert alike({flow: float(ms) for flow, ms in queue.hash("finish").items()}, model.finish)
        sums = queue.hash("sums")
        assert alike(float(sums["served"]) if "served" in sums else None, model.served)
        assert isclose(float(sums.get("correction", 1)), model.correction)
        assert isclose(float(sums.get("spread", SPREAD)), model.spread)
        assert alike({int(due): float(cost) for due, cost in queue.hash("promised").items()}, model.promised)
        assert alike({one: float(due) for one, due in queue.hash("errands").items()}, model.errands)
        told = {name: float(sums.get(name, 0)) for name in ("came", "stayed_away")}
        assert told == {"came": model.came, "stayed_away": model.stayed_away}
        for holds in INVARIANTS:
            holds(queue)
        self._slots_hold(said_to_run)
        self._order_holds(said_to_run)
        self.ran = {worker: set(line) for worker, line in queue.lines("run").items()}
        self._forget_who_is_gone()

    def _slots_hold(self, said_to_run: set[str]) -> None:
        """More run than there are slots only where a worker said so, or has fewer slots than before."""
        for worker, line in self.scripts.lines("run").items():
            let_in = line.keys() - self.ran.get(worker, set()) - said_to_run
            assert not let_in or len(line) <= int(self.scripts.hash("caps")[worker]), worker

    def _order_holds(self, said_to_run: set[str]) -> None:
        """Within a worker, a caller and a class: scores are in the order of entering, and so is who goes in."""
        facts = self.scripts.facts()
        flow_of = {ticket: (fact["caller"], fact["class"]) for ticket, fact in facts.items()}
        for worker, line in self.scripts.lines("wait").items():
            for ticket in [ticket for ticket in line if ticket not in self.came]:
                self.came[ticket] = self.clock = self.clock + 1
            for one, other in combinations(line, 2):
                if flow_of[one] == flow_of[other]:
                    assert self.came[one] < self.came[other], (worker, one, other)
                    assert line[one] < line[other], (worker, one, other)
            for let_in in self.scripts.line("run", worker).keys() - self.ran.get(worker, set()) - said_to_run:
                for other in line:
                    passed = flow_of[let_in] == flow_of[other] and self.came.get(let_in, inf) > self.came[other]
                    assert not passed, (worker, let_in, other)

    def _forget_who_is_gone(self) -> None:
        """But not who will come back to the place it had."""
        waiting = {ticket for line in self.scripts.lines("wait").values() for ticket in line}
        held = {ticket for host in self.hosts for ticket, one in host.held.items() if one.state == "waiting"}
        told = {one[0] for host in self.hosts if host.late_beat for one in host.late_beat["waiting"]}
        self.came = {ticket: came for ticket, came in self.came.items() if ticket in waiting | held | told}


KINDS: dict[str, Callable[[Life], None]] = {
    kind.__name__: kind
    for kind in (
        Life.enter,
        Life.enter_again,
        Life.enter_after_leaving,
        Life.leave,
        Life.beat,
        Life.beat_of_all,
        Life.write_a_beat,
        Life.send_the_beat,
        Life.enter_locally,
        Life.bury,
        Life.empty_redis,
        Life.pass_a_moment,
        Life.pass_a_second,
        Life.pass_a_lease,
        Life.pass_an_hour,
        Life.step_back,
        Life.end,
    )
}
OFTEN = {
    "enter": 40,
    "enter_again": 6,
    "enter_after_leaving": 1.5,
    "leave": 20,
    "beat": 15,
    "beat_of_all": 1,
    "write_a_beat": 2,
    "send_the_beat": 3,
    "enter_locally": 0.5,
    "bury": 0.6,
    "empty_redis": 0.4,
    "pass_a_moment": 15,
    "pass_a_second": 3,
    "pass_a_lease": 0.6,
    "pass_an_hour": 0.1,
    "step_back": 1,
}


def life_of(seed: int, length: int) -> list[Step]:
    chance = random.Random(seed)
    kinds = chance.choices(list(OFTEN), list(OFTEN.values()), k=length)
    return [Step("beat_of_all", seed), *(Step(kind, chance.getrandbits(32)) for kind in kinds), Step("end", seed)]


def alike(found: Any, expected: Any) -> bool:
    """Equal, but for the last digits of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(alike(found[name], expected[name]) for name in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(alike, found, expected))
    if isinstance(expected, int | float) and found is not None:
        return isclose(found, expected, rel_tol=1e-12, abs_tol=1e-9)
    return bool(found == expected)


def failure_of(steps: Sequence[Step], scripts: Scripts) -> AssertionError | None:
    try:
        Life(scripts).play(steps)
    except AssertionError as error:
        return error
    return None


def shortest_failing(steps: list[Step], scripts: Scripts, patience: int = 400) -> list[Step]:
    """Take out what is not needed, in halves, quarters and so on, as long as it still fails."""
    size = len(steps) // 2
    while size and patience:
        at = 0
        while at < len(steps) and patience:
            patience -= 1
            rest = steps[:at] + steps[at + size :]
            if failure_of(rest, scripts):
                steps = rest
            else:
                at += size
        size //= 2
    return steps


def told(steps: Sequence[Step]) -> str:
    return json.dumps([[step.kind, step.seed] for step in steps])
