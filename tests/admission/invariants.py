"""What must be true of the queue in Redis after every step, whatever a model says."""

from collections import Counter
from math import inf, isclose

from tests.admission.scripts import Scripts

# What outlives all workers, for a day at most.
KEPT = {"promised", "sums", "misjudged", "errands", "guaranteed", "shares", "active", "finish"}


def tickets_are_in_one_place(queue: Scripts) -> None:
    """And there is a cost and a fact for each, and for nothing else."""
    lines = [line for kind in ("run", "wait") for line in queue.lines(kind).values()]
    places = Counter(ticket for line in lines for ticket in line)
    assert all(places[ticket] == 1 for ticket in places), places
    assert queue.hash("cost").keys() == places.keys()
    assert queue.hash("facts").keys() == places.keys()


def every_ticket_has_a_living_worker(queue: Scripts) -> None:
    workers = queue.hash("workers").keys()
    for name in ("caps", "warm", "beats", "totals"):
        assert queue.hash(name).keys() == workers, name
    for kind in ("run", "wait", "made", "busy", "here", "wants"):
        assert queue.lines(kind).keys() <= workers, kind


def counts_are_what_the_sets_say(queue: Scripts) -> None:
    facts, costs = queue.facts(), queue.hash("cost")
    for kind, name, at_worker in (("run", "running", "here"), ("wait", "waiting", "wants")):
        counted = Counter(facts[ticket]["caller"] for line in queue.lines(kind).values() for ticket in line)
        assert {caller: int(count) for caller, count in queue.hash(name).items()} == counted, name
        for worker, line in queue.lines(kind).items():
            counts = {caller: int(count) for caller, count in queue.hash(f"{at_worker}:{worker}").items()}
            assert counts == Counter(facts[ticket]["caller"] for ticket in line), worker
    waiting = [ticket for line in queue.lines("wait").values() for ticket in line]
    assert int(queue.hash("sums").get("queued", 0)) == len(waiting)
    lines = {worker: line for worker, line in queue.lines("wait").items() if line}
    assert queue.hash("line").keys() == lines.keys()
    for worker, line in lines.items():
        queued_cost = float(queue.hash("line")[worker])
        assert isclose(queued_cost, sum(float(costs[ticket]) for ticket in line), rel_tol=1e-6, abs_tol=1e-9)


def nobody_waits_who_could_run(queue: Scripts) -> None:
    """Nor does work in bulk take a worker's last slots, nor anybody what is kept for others."""
    facts = queue.facts()
    slots = sum(map(int, queue.hash("caps").values()))
    runs = Counter({caller: int(count) for caller, count in queue.hash("running").items()})
    for worker, line in queue.lines("wait").items():
        here = Counter(facts[ticket]["caller"] for ticket in queue.line("run", worker))
        cap, waiting = int(queue.hash("caps")[worker]), {facts[ticket]["caller"] for ticket in line}
        owed = {
            caller: int(float(share) * cap) - here[caller] for caller, share in queue.hash("guaranteed").items()
        }
        active = {caller for caller, ms in queue.hash("active").items() if float(ms) >= queue.now - 5000}
        shares = {caller: float(share) for caller, share in queue.hash("shares").items()}
        for ticket in line:
            fact = facts[ticket]
            caller = fact["caller"]
            share = slots / sum(shares[other] for other in active) if active else inf
            others = any(runs[other] < max(1, share * shares[other]) for other in active - waiting - {caller})
            has_its_part = runs[caller] >= max(1, share * shares.get(caller, 1))
            greedy = others and has_its_part and owed.get(caller, 0) <= 0
            parts = [3] * greedy + [8] * (fact["class"] == "batch")
            reserved = max(1, cap // parts[0]) if parts and cap > 1 else 0
            room = cap - reserved - here.total()
            held_back = 0 < fact["most_running"] <= int(queue.hash("running").get(caller, 0))
            kept = sum(max(0, owed[other]) for other in active - waiting)
            may_run = room > 0 and not held_back and (owed.get(caller, 0) > 0 or room > kept)
            assert not may_run, (worker, ticket, room, kept, fact)


INVARIANTS = (
    tickets_are_in_one_place,
    every_ticket_has_a_living_worker,
    counts_are_what_the_sets_say,
)
