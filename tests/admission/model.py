"""The queue, said a second time: the specification that its scripts are held against.

Nothing is counted here that can be counted anew from who runs and who waits. What other notes leave open:

- A waiter goes in when its worker has room for its class, its caller runs less than it may, and the room is not
  what is guaranteed to others who were heard of lately and do not wait there. Who has its part of the slots, by
  the shares of those heard of lately, has as little room as work in bulk, while one of those has not and does not
  wait. The lowest score of all workers goes first. That room is no longer kept is noticed by the next beat,
  departure or newcomer.
- Turns are counted from the first waiter to the last. Time is then the highest score that was served, and outside
  of such a spell it is the clock's, and of the past only each caller's last turn is known. Who enters directly
  takes a turn as well.
- A beat with a number below the last one's says nothing, except to who sent it. What a worker has made is the
  difference of its totals, and nothing while one of them is unknown.
- A beat is the truth about its worker, but for tickets that came after the beat before: those may have
  overtaken it.
- A second is saturated when each of its beats found all slots taken or somebody waiting, and the beat before each
  was no more than a second ago.
- A lease that nobody saw run out is renewed by its owner's next beat as if it had not.
- A refused call that comes twice is refused twice, and so is what it was promised.
- Who comes back as told has come, whatever becomes of them then.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapreplace
from math import floor, inf
from typing import Any

LEASE_MS = 10_000
LEAST_STEP_MS = 0.2
SPREAD = 0.05
MARGIN = 3
RATE_SECONDS = 30
PROMISE_KEPT_S = 5
EARLY_MS = 1000
REMEMBERED = 200
ACTIVE_MS = 5000
LEARNING = 0.1

Json = dict[str, Any]


def written(number: float) -> float:
    """As JSON carries it between the scripts and the workers."""
    return float(f"{number:.14g}")


@dataclass
class Request:
    ticket: str
    cost: float
    facts: Json
    score: float = 0.0
    admitted_ms: int = 0

    @property
    def flow(self) -> str:
        return f"{self.facts['caller']}/{self.facts['class']}"


@dataclass
class Worker:
    name: str
    cap: int
    warm: float
    lease_ms: int = 0
    running: dict[str, Request] = field(default_factory=dict)
    waiting: dict[str, Request] = field(default_factory=dict)
    saturated: dict[int, float] = field(default_factory=dict)
    idle_second: int | None = None
    last_number: int = 0
    total: float | None = None

    @property
    def line(self) -> list[Request]:
        return sorted(self.waiting.values(), key=lambda request: (request.score, request.ticket))

    @property
    def has_all_it_can_do(self) -> bool:
        return len(self.running) >= self.cap or bool(self.waiting)

    def has(self, caller: str) -> int:
        return sum(request.facts["caller"] == caller for request in self.running.values())

    def rate(self, now: int) -> float:
        over = sorted(second for second in self.saturated if second < now // 1000)[-RATE_SECONDS:]
        if len(over) < 2:
            return self.warm
        return max(sum(self.saturated[second] for second in over) / len(over), 0.01)


class Queue:
    """All workers of one engine. `now` is set from outside."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.empty()

    def empty(self) -> None:
        """Redis was restarted."""
        self.workers: dict[str, Worker] = {}
        self.finish: dict[str, float] = {}
        self.served: float | None = None
        self.promised: dict[int, float] = {}
        self.correction, self.spread = 1.0, SPREAD
        self.guaranteed: dict[str, float] = {}
        self.shares: dict[str, float] = {}
        self.heard_ms: dict[str, int] = {}
        self.errands: dict[str, float] = {}
        self.came = self.stayed_away = 0.0

    # --- what can be seen ---

    def everybody(self, kind: str) -> Iterator[Request]:
        for worker in self.workers.values():
            yield from (worker.running if kind == "running" else worker.waiting).values()

    def count(self, kind: str, caller: str) -> int:
        return sum(request.facts["caller"] == caller for request in self.everybody(kind))

    @property
    def queued(self) -> int:
        return sum(1 for _ in self.everybody("waiting"))

    @property
    def rate(self) -> float:
        return max(sum(worker.rate(self.now) for worker in self.workers.values()), 0.01)

    def may_run(self, worker: Worker, facts: Json) -> bool:
        caller, most = facts["caller"], int(facts["most_running"])
        room = self.slots_for(worker, facts) - len(worker.running)
        if room <= 0 or 0 < most <= self.count("running", caller):
            return False
        return self.owed(worker, caller) > 0 or room > self.kept_for_others(worker, caller)

    def slots_for(self, worker: Worker, facts: Json) -> int:
        kept = 0
        if worker.cap > 1 and self.is_greedy(worker, facts["caller"]):
            kept = max(1, worker.cap // 3)
        elif worker.cap > 1 and facts["class"] == "batch":
            kept = max(1, worker.cap // 8)
        return worker.cap - kept

    def is_greedy(self, worker: Worker, caller: str) -> bool:
        if self.owed(worker, caller) > 0 or not self.has_its_part(caller):
            return False
        here = {request.facts["caller"] for request in worker.waiting.values()} | {caller}
        return any(not self.has_its_part(other) for other in self.active - here)

    def has_its_part(self, caller: str) -> bool:
        shares = sum(self.shares[active] for active in self.active)
        slots = sum(worker.cap for worker in self.workers.values())
        part = slots * self.shares.get(caller, 1.0) / shares if shares else inf
        return self.count("running", caller) >= max(1, part)

    def owed(self, worker: Worker, caller: str) -> int:
        return floor(self.guaranteed.get(caller, 0) * worker.cap) - worker.has(caller)

    @property
    def active(self) -> set[str]:
        return {caller for caller, heard_ms in self.heard_ms.items() if heard_ms >= self.now - ACTIVE_MS}

    def kept_for_others(self, worker: Worker, caller: str) -> int:
        here = {request.facts["caller"] for request in worker.waiting.values()} | {caller}
        return sum(max(0, self.owed(worker, other)) for other in self.active - here)

    def promised_until(self, second: float) -> float:
        return sum(cost for due, cost in self.promised.items() if self.now / 1000 <= due <= second)

    def wait_ms(self, worker: Worker, ahead: Iterable[Request]) -> float:
        """All who run make the same progress; a slot goes to the next in line when its holder has nothing left."""
        slots = sorted(request.cost for request in worker.running.values())
        pace = 1000 * max(1, len(slots)) / worker.rate(self.now) * self.correction
        slots = slots[max(0, len(slots) - worker.cap) :] or [0.0]
        for request in ahead:
            heapreplace(slots, slots[0] + request.cost)
        return pace * slots[0]

    # --- the four operations ---

    def enter(self, ask: Json) -> Json:
        self._bury_the_dead()
        worker = self.workers.get(ask["worker"])
        if worker is None:
            return {"verdict": "stranger"}
        if known := worker.running.get(ask["ticket"]):
            return {"verdict": "running", "facts": known.facts}
        if known := worker.waiting.get(ask["ticket"]):
            return self._place(worker, known)
        return self._newcomer(worker, ask)

    def leave(self, name: str, tickets: list[str]) -> None:
        for ticket in tickets:
            self._drop(name, ticket)
        self._bury_the_dead()
        self._promote()

    def beat(self, beat: Json) -> Json:
        known = self.workers.get(beat["worker"])
        if known is None or beat["number"] == 0 or beat["number"] >= known.last_number:
            self._bring_into_line(beat)
        self._bury_the_dead()
        self._promote()

        worker = self.workers.get(beat["worker"]) or Worker(beat["worker"], 0, 1)
        places, ahead = [], list[Request]()
        for position, request in enumerate(worker.line):
            places.append([request.ticket, position, self.wait_ms(worker, ahead)])
            ahead.append(request)
        granted = [one[0] for one in beat["waiting"] if one[0] in worker.running]
        return {"granted": granted, "places": places, "rate": self.rate}

    def _bring_into_line(self, beat: Json) -> None:
        worker = self.workers.setdefault(beat["worker"], Worker(beat["worker"], 0, 0))
        last_beat = worker.lease_ms - LEASE_MS
        worker.lease_ms, worker.cap, worker.warm = self.now + LEASE_MS, beat["cap"], beat["warm"]
        made = 0 if worker.total is None else max(0, beat["made"] - worker.total)
        worker.total, worker.last_number = beat["made"], beat["number"]
        self._record(worker, made, steady=self.now - last_beat <= 1000)

        known = {*beat["entering"], *(one[0] for one in beat["running"]), *(one[0] for one in beat["waiting"])}
        came = {ticket: request.admitted_ms for ticket, request in worker.running.items()}
        came |= {ticket: request.facts["since"] for ticket, request in worker.waiting.items()}
        for ticket, came_ms in came.items():
            if ticket not in known and came_ms <= last_beat:
                self._drop(worker.name, ticket)
        for ticket, cost, facts in beat["running"]:
            if ticket in worker.running:
                worker.running[ticket].cost = cost
            else:
                self._take_from_line(worker, ticket)
                worker.running[ticket] = Request(ticket, cost, facts, admitted_ms=self.now)
        for ticket, score, cost, facts in beat["waiting"]:
            if ticket not in worker.running and ticket not in worker.waiting:
                self._put_in_line(worker, Request(ticket, cost, facts, score), facts["start"], facts["finish"])

    def bury(self, name: str) -> None:
        self._remove(name)
        self._promote()

    # --- one who is new ---

    def _newcomer(self, worker: Worker, ask: Json) -> Json:
        self.heard_ms[ask["caller"]] = self.now
        self.guaranteed[ask["caller"]], self.shares[ask["caller"]] = ask["guaranteed"], ask["share"]
        as_told = self._comes_as_told(ask["errand"])
        self._promote()
        if ask["first_chunk_ms"] > ask["deadline_ms"]:
            return {"verdict": "refused", "code": "wait_exceeds_deadline"}
        flow = f"{ask['caller']}/{ask['class']}"
        time = self.now if self.served is None else self.served
        start = max(time, self.finish.get(flow, 0))
        step = max(LEAST_STEP_MS, 1000 * ask["cost"] / (self.rate * ask["share"]))
        finish = start + step
        facts = {name: ask[name] for name in ("caller", "class", "most_running")}
        facts |= {"since": self.now, "predicted": 0, "start": written(start), "finish": written(finish)}

        if self.may_run(worker, facts):
            worker.running[ask["ticket"]] = Request(ask["ticket"], ask["cost"], facts, admitted_ms=self.now)
            self._take_turn(flow, start, finish - start, finish)
            return {"verdict": "running", "facts": facts}
        if 0 <= ask["most_queued"] <= self.count("waiting", ask["caller"]):
            runs_all = 0 < ask["most_running"] <= self.count("running", ask["caller"])
            code = "key_running_limit" if runs_all and ask["most_queued"] == 0 else "key_queue_limit"
            return self._refuse(ask, code, ask["cost"])
        too_many = self.queued - ask["max_queued"] + 1
        if too_many > 0:
            costs = [request.cost for request in self.everybody("waiting")] or [ask["cost"]]
            return self._refuse(ask, "queue_full", too_many * (sum(costs) / len(costs)))

        score = start + ask["offset_ms"]
        predicted = self.wait_ms(worker, [r for r in worker.line if r.score < score])
        bound = (1 + MARGIN * self.spread) * predicted
        if not as_told:
            self._clear_promises()
            faithful = self.came / ((self.came + self.stayed_away) or 1)
            soon = faithful * self.promised_until((self.now + ask["deadline_ms"]) / 1000)
            bound += 1000 * soon / self.rate
        late_ms = bound + ask["first_chunk_ms"] - ask["deadline_ms"]
        if late_ms > 0:
            return self._refuse(ask, "wait_exceeds_deadline", late_ms / 1000 * worker.rate(self.now))

        facts |= {"predicted": written(predicted), "corrected": written(self.correction)}
        request = Request(ask["ticket"], ask["cost"], facts, score)
        self._put_in_line(worker, request, time=self.now, finish=finish)
        return self._place(worker, request)

    def _place(self, worker: Worker, request: Request) -> Json:
        ahead = [other for other in worker.line if other.score < request.score]
        return {
            "verdict": "waiting",
            "score": request.score,
            "facts": request.facts,
            "position": worker.line.index(request),
            "wait_ms": self.wait_ms(worker, ahead),
        }

    def _refuse(self, ask: Json, code: str, over: float) -> Json:
        self._clear_promises()
        base_s = (over + self.promised_until(inf)) / self.rate
        drawn_s = 45 + 15 * ask["luck"] if base_s > 45 else base_s * (1 + 0.3 * ask["luck"])
        retry_after_s = min(60, max(1, drawn_s))
        if code in ("queue_full", "wait_exceeds_deadline"):
            due = floor(self.now / 1000 + retry_after_s)
            self.promised[due] = self.promised.get(due, 0) + ask["cost"]
            if ask["errand"]:
                self.errands[ask["errand"]] = self.now + 1000 * retry_after_s
        return {"verdict": "refused", "code": code, "retry_after_s": retry_after_s}

    def _clear_promises(self) -> None:
        second = self.now / 1000
        self.promised = {due: cost for due, cost in self.promised.items() if due >= second - PROMISE_KEPT_S}

    def _comes_as_told(self, errand: str | None) -> bool:
        late = [one for one, due_ms in self.errands.items() if due_ms <= self.now - 1000 * PROMISE_KEPT_S]
        for one in late:
            del self.errands[one]
        self._note_promises(stayed_away=len(late))
        if errand is None or self.errands.get(errand, inf) > self.now + EARLY_MS:
            return False
        del self.errands[errand]
        self._note_promises(came=1)
        return True

    def _note_promises(self, came: int = 0, stayed_away: int = 0) -> None:
        self.came, self.stayed_away = self.came + came, self.stayed_away + stayed_away
        if (came or stayed_away) and self.came + self.stayed_away > REMEMBERED:
            self.came, self.stayed_away = self.came / 2, self.stayed_away / 2

    # --- the line ---

    def _put_in_line(self, worker: Worker, request: Request, time: float, finish: float) -> None:
        worker.waiting[request.ticket] = request
        self.served = time if self.served is None else self.served
        self.finish[request.flow] = max(self.finish.get(request.flow, 0), finish)

    def _take_from_line(self, worker: Worker, ticket: str) -> Request | None:
        request = worker.waiting.pop(ticket, None)
        if request and not self.queued:
            self.finish, self.served = {}, None
        return request

    def _take_turn(self, flow: str, score: float, step: float, finish: float) -> None:
        if self.served is None:
            self.finish[flow] = self.now + step
        else:
            self.served = max(self.served, score)
            self.finish[flow] = max(self.finish.get(flow, 0), finish)

    def _promote(self) -> None:
        def order(found: tuple[Worker, Request]) -> tuple[float, int, str, str]:
            worker, request = found
            return request.score, worker.lease_ms, worker.name, request.ticket

        while admissible := [
            (worker, request)
            for worker in self.workers.values()
            for request in worker.waiting.values()
            if self.may_run(worker, request.facts)
        ]:
            worker, request = min(admissible, key=order)
            self._take_from_line(worker, request.ticket)
            request.admitted_ms = self.now
            worker.running[request.ticket] = request
            start, finish = request.facts["start"], request.facts["finish"]
            self._take_turn(request.flow, request.score, finish - start, finish)
            self._learn(request.facts, self.now - request.facts["since"])

    def _learn(self, facts: Json, waited: float) -> None:
        if facts["predicted"] >= 100:
            ratio = min(4, max(0.25, waited / facts["predicted"]))
            factor = min(4, max(0.25, ratio * facts["corrected"]))
            self.correction = (1 - LEARNING) * self.correction + LEARNING * factor
            self.spread = (1 - LEARNING) * self.spread + LEARNING * min(1, abs(ratio - 1))

    # --- workers ---

    def _record(self, worker: Worker, made: float, *, steady: bool) -> None:
        second = self.now // 1000
        if not worker.has_all_it_can_do or not steady:
            worker.idle_second = second
            worker.saturated.pop(second, None)
        elif worker.idle_second != second:
            worker.saturated[second] = worker.saturated.get(second, 0) + made
        for old in sorted(worker.saturated)[:-RATE_SECONDS]:
            del worker.saturated[old]

    def _drop(self, name: str, ticket: str) -> None:
        if (worker := self.workers.get(name)) and not worker.running.pop(ticket, None):
            self._take_from_line(worker, ticket)

    def _remove(self, name: str) -> None:
        if worker := self.workers.get(name):
            for ticket in [*worker.waiting]:
                self._take_from_line(worker, ticket)
            del self.workers[name]

    def _bury_the_dead(self) -> None:
        dead = [worker.name for worker in self.workers.values() if worker.lease_ms <= self.now]
        for name in dead:
            self._remove(name)
        if dead:
            self._promote()
