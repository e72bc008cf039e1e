"""The scripts on a real Redis: against a model of the queue, and each of its rules by itself."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis import Redis

from api.admission.link import OPERATIONS, script
from tests.admission.drive import failure_of, life_of, shortest_failing, told
from tests.admission.scripts import CLOCK, Json, Scripts, question
from workers.private_redis import PrivateRedis

# In the long form, 100,000 steps.
LIVES, STEPS = 8, 500


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with PrivateRedis() as private, Redis.from_url(private.url) as client:
        yield client


@pytest.fixture
def queue(redis: Redis) -> Scripts:
    redis.flushdb()
    return Scripts(redis)


def beat(queue: Scripts, worker: str = "w", cap: int = 1, warm: float = 1.0, **more: Any) -> Json:
    """By default of a worker that has forgotten nobody Redis knows of."""
    running = [[t, float(queue.hash("cost")[t]), queue.facts()[t]] for t in queue.line("run", worker)]
    entering = dict.fromkeys(queue.line("wait", worker), True)
    made = float(queue.hash("totals").get(worker, 0)) + more.pop("made", 0)
    told = {"worker": worker, "number": 0, "cap": cap, "warm": warm, "made": made, "entering": entering}
    return queue.ask("beat", told | {"running": running, "waiting": []} | more)


def enter(queue: Scripts, ticket: str, worker: str = "w", **more: Any) -> Json:
    return queue.ask("enter", question(ticket, worker, **more))


def batch(queue: Scripts, ticket: str, **more: Any) -> Json:
    more |= {"class": "batch", "offset_ms": 10_000}
    return enter(queue, ticket, **more)


def leave(queue: Scripts, *tickets: str, worker: str = "w") -> None:
    queue.tell("leave", worker, *tickets)


def leave_one_by_one(queue: Scripts) -> list[str]:
    """With one slot, everybody goes as soon as they are in. The order in which they were."""
    order = []
    while running := list(queue.line("run", "w")):
        order += running
        leave(queue, *running)
    return order


class TestAgainstTheModel:
    @pytest.mark.timeout(600)
    def test_scripts_and_model_agree_whatever_happens(self, queue: Scripts, times: int) -> None:
        for seed in range(LIVES * times):
            steps = life_of(seed, STEPS)
            if failure_of(steps, queue):
                short = shortest_failing(steps, queue)
                pytest.fail(f"seed {seed}: {failure_of(short, queue)!r}\nby {told(short)}")

    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            ("return room > 0 and", "return room >= 0 and"),
            (">= most then", "> most then"),
            ("score < lowest", "score > lowest"),
            ("'-inf', last_beat", "'-inf', '+inf'"),
            ("key('line'), worker, -", "key('line'), worker, -0.5 * "),
            ("return beat.number > 0 and", "return false and"),
            ("slots[1] + cost", "cost"),
            ("part_taken(other, slots) < 1", "part_taken(other, slots) > 1"),
            ("count('running', caller, -1)", "count('running', caller, 0)"),
            ("math.max(sum_of('served', score), score)", "score"),
            ("then forget_turns() end", "then end"),
            ("stand_in_order(one[4], one[4].start)", ""),
            ("local as_told = comes_as_told()", "local as_told = false"),
        ],
    )
    def test_a_slip_in_a_script_is_caught(
        self, redis: Redis, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
    ) -> None:
        texts = {operation: script(operation, CLOCK) for operation in OPERATIONS}
        assert any(right in text for text in texts.values())
        monkeypatch.setattr(
            "tests.admission.scripts.script", lambda operation, clock: texts[operation].replace(right, wrong)
        )
        queue = Scripts(redis)
        assert any(failure_of(life_of(seed, STEPS), queue) for seed in range(LIVES))


class TestOrder:
    def test_first_come_first_served(self, queue: Scripts) -> None:
        beat(queue)
        for number in range(20):
            enter(queue, f"{99 - number}", cost=0.01 + number % 3)
        assert leave_one_by_one(queue) == [f"{99 - number}" for number in range(20)]

    def test_tiny_texts_on_a_fast_server_keep_their_order_when_redis_was_emptied(self, queue: Scripts) -> None:
        beat(queue, warm=10_000)
        enter(queue, "holder")
        waiting = [enter(queue, f"{99 - number}", cost=0.01, share=8) for number in range(20)]
        queue.empty()
        queue.now += 250
        held = [[f"{99 - number}", one["score"], 0.01, one["facts"]] for number, one in enumerate(waiting)]
        beat(queue, warm=10_000, waiting=held)
        assert leave_one_by_one(queue) == [f"{99 - number}" for number in range(20)]

    def test_an_emptied_redis_keeps_the_waiters_before_those_who_come_after(self, queue: Scripts) -> None:
        beat(queue)
        running = enter(queue, "holder")
        waiting = [[name, one["score"], 1.0, one["facts"]] for name in "dcba" if (one := enter(queue, name))]
        queue.empty()
        assert enter(queue, "early")["verdict"] == "stranger"
        queue.now += 250
        beat(queue, running=[["holder", 1.0, running["facts"]]], waiting=waiting)
        enter(queue, "0")
        assert leave_one_by_one(queue) == ["holder", "d", "c", "b", "a", "0"]

    def test_a_waiter_goes_in_where_a_slot_of_its_caller_came_free_at_another_worker(self, queue: Scripts) -> None:
        for worker in "ab":
            beat(queue, worker, cap=2)
        enter(queue, "first", "a", caller="one", most_running=1)
        enter(queue, "second", "b", caller="one", most_running=1)
        assert "second" in queue.line("wait", "b")
        leave(queue, "first", worker="a")
        assert "second" in queue.line("run", "b")

    def test_who_is_held_back_by_a_limit_lets_others_pass(self, queue: Scripts) -> None:
        beat(queue, cap=3)
        enter(queue, "first", caller="one", most_running=1)
        assert enter(queue, "second", caller="one", most_running=1)["verdict"] == "waiting"
        assert enter(queue, "other", caller="two")["verdict"] == "running"


class TestBatch:
    def test_waits_behind_who_comes_up_to_ten_seconds_later_and_then_goes_first(self, queue: Scripts) -> None:
        """One audio second takes a second here, and a listener comes each second: the slot is never free."""
        beat(queue)
        enter(queue, "holder")
        batch(queue, "bulk")
        waited = 0
        while "bulk" not in queue.line("run", "w"):
            enter(queue, f"{waited:02}")
            queue.now += 1000
            waited += 1
            leave(queue, *queue.line("run", "w"))
            beat(queue, made=1.0)
        assert 10 <= waited <= 12

    @pytest.mark.parametrize(("cap", "reserve"), [(1, 0), (2, 1), (8, 1), (16, 2), (32, 4)])
    def test_leaves_a_reserve_to_who_listens(self, queue: Scripts, cap: int, reserve: int) -> None:
        beat(queue, cap=cap)
        for number in range(cap + 1):
            batch(queue, f"bulk {number}")
        assert len(queue.line("run", "w")) == cap - reserve
        for number in range(reserve):
            assert enter(queue, f"listener {number}")["verdict"] == "running"


class TestShares:
    def serve(self, queue: Scripts, shares: dict[str, float], error: float, backlog: int = 20) -> dict[str, float]:
        """Audio seconds that each was given, of texts of its own length; all have as many waiting at any time."""
        lengths = {caller: 1.0 + number for number, caller in enumerate(shares)}
        beat(queue, cap=4, warm=4 * error)
        given = dict.fromkeys(shares, 0.0)
        number = 0
        for _ in range(400):
            for caller, share in shares.items():
                while int(queue.hash("waiting").get(caller, 0)) < backlog:
                    number += 1
                    enter(queue, f"{number:06}", caller=caller, share=share, cost=lengths[caller])
            ticket = next(iter(queue.line("run", "w")))
            length_s = lengths[queue.facts()[ticket]["caller"]]
            given[queue.facts()[ticket]["caller"]] += length_s
            queue.now += int(1000 * length_s / 4)
            leave(queue, ticket)
            beat(queue, cap=4, warm=4 * error, made=length_s * error)
        return given

    @pytest.mark.parametrize("error", [0.5, 1.0, 2.0], ids=["underrated", "rightly rated", "overrated"])
    def test_two_callers_are_served_as_their_shares_say(self, queue: Scripts, error: float) -> None:
        given = self.serve(queue, {"one": 1, "three": 3}, error)
        assert given["three"] / given["one"] == pytest.approx(3, rel=0.1)

    def test_who_comes_to_a_long_line_does_not_wait_for_all_of_it(self, queue: Scripts) -> None:
        beat(queue)
        for number in range(50):
            enter(queue, f"greedy {number:02}", caller="greedy")
            queue.now += 2000
            beat(queue)
        enter(queue, "modest", caller="modest")
        assert leave_one_by_one(queue).index("modest") <= 2

    def test_of_what_was_used_while_nobody_waited_only_the_last_counts(self, queue: Scripts) -> None:
        """A turn of one audio second at a tenth of a share: the other may have ten."""
        beat(queue)
        for number in range(100):
            enter(queue, f"{number}", caller="tenth", share=0.1)
            leave(queue, f"{number}")
        for number in range(30):
            enter(queue, f"other {number:02}", caller="other")
        enter(queue, "again", caller="tenth", share=0.1)
        assert leave_one_by_one(queue).index("again") in (10, 11)

    def test_who_runs_lets_others_go_first(self, queue: Scripts) -> None:
        beat(queue)
        for ticket, caller in (("0", "flood"), ("1", "flood"), ("2", "flood"), ("3", "quiet")):
            enter(queue, ticket, caller=caller)
        assert leave_one_by_one(queue) == ["0", "3", "1", "2"]


class TestLimits:
    def test_a_callers_running_ones(self, queue: Scripts) -> None:
        beat(queue, cap=4)
        verdicts = [enter(queue, f"{n}", caller="one", most_running=2)["verdict"] for n in range(3)]
        assert verdicts == ["running", "running", "waiting"]

    def test_a_callers_waiting_ones(self, queue: Scripts) -> None:
        beat(queue)
        answers = [enter(queue, f"{n}", caller="one", most_queued=1) for n in range(3)]
        assert answers[1]["verdict"] == "waiting"
        assert answers[2]["code"] == "key_queue_limit"

    def test_a_caller_who_may_not_wait_is_told_what_is_full(self, queue: Scripts) -> None:
        beat(queue, cap=2)
        enter(queue, "1", caller="one", most_running=1, most_queued=0)
        mine = enter(queue, "2", caller="one", most_running=1, most_queued=0)
        enter(queue, "3", caller="two")
        others = enter(queue, "4", caller="three", most_running=1, most_queued=0)
        assert (mine["code"], others["code"]) == ("key_running_limit", "key_queue_limit")

    def test_the_deadline_is_for_the_wait_and_the_first_sound_not_for_the_text(self, queue: Scripts) -> None:
        beat(queue)
        assert enter(queue, "long", cost=300, deadline_ms=1000)["verdict"] == "running"
        refused = enter(queue, "late", deadline_ms=1000)
        assert refused["code"] == "wait_exceeds_deadline"
        assert enter(queue, "never", deadline_ms=1000, first_chunk_ms=1001)["code"] == "wait_exceeds_deadline"


class TestTwice:
    def test_a_lost_reply_and_the_second_call_count_once(self, queue: Scripts) -> None:
        beat(queue)
        for ticket in ("inside", "in line"):
            first, second = (enter(queue, ticket) for _ in range(2))
            assert first == second
        assert (queue.hash("running"), queue.hash("waiting")) == ({"-": "1"}, {"-": "1"})
        leave(queue, "in line", "inside", "in line", "unknown")
        leave(queue, "in line", "inside")
        assert not {"running", "waiting", "cost", "facts"} & queue.state.keys()


class TestBeats:
    def test_who_entered_after_a_beat_was_written_is_not_taken_for_gone(self, queue: Scripts) -> None:
        beat(queue)
        queue.now += 250
        enter(queue, "overtaker")
        beat(queue, running=[])
        assert "overtaker" in queue.line("run", "w")

    def test_who_is_gone_gives_the_slot_back_with_the_next(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "gone")
        queue.now += 250
        beat(queue)
        queue.now += 250
        beat(queue, running=[])
        assert "run:w" not in queue.state

    def test_a_cap_below_what_runs_takes_nobody_out_and_lets_nobody_in(self, queue: Scripts) -> None:
        beat(queue, cap=4)
        for name in "abcde":
            enter(queue, name)
        beat(queue, cap=2)
        assert len(queue.line("run", "w")) == 4
        leave(queue, "a", "b")
        assert "e" in queue.line("wait", "w")
        leave(queue, "c")
        assert "e" in queue.line("run", "w")

    def test_a_live_worker_taken_for_dead_gets_its_own_back(self, queue: Scripts) -> None:
        beat(queue)
        inside, in_line = enter(queue, "inside"), enter(queue, "in line")
        queue.tell("bury", "w")
        beat(
            queue,
            running=[["inside", 1.0, inside["facts"]]],
            waiting=[["in line", in_line["score"], 1.0, in_line["facts"]]],
        )
        assert list(queue.line("run", "w")) == ["inside"]
        assert queue.line("wait", "w") == {"in line": in_line["score"]}

    def test_a_waiter_whose_wake_up_was_lost_hears_it_with_the_next(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "inside")
        one = enter(queue, "in line")
        leave(queue, "inside")
        answer = beat(queue, running=[], waiting=[["in line", one["score"], 1.0, one["facts"]]])
        assert answer["granted"] == ["in line"]


class TestDeath:
    def test_a_burial_gives_the_slots_back_at_once(self, queue: Scripts) -> None:
        for worker in ("dead", "alive"):
            beat(queue, worker, cap=2)
        enter(queue, "a", "dead", caller="one", most_running=1)
        enter(queue, "b", "alive", caller="one", most_running=1)
        queue.tell("bury", "dead")
        assert "b" in queue.line("run", "alive")
        assert list(queue.hash("workers")) == ["alive"]

    def test_without_one_the_lease_does(self, queue: Scripts) -> None:
        for worker in ("dead", "alive"):
            beat(queue, worker, cap=2)
        enter(queue, "a", "dead", caller="one", most_running=1)
        enter(queue, "b", "alive", caller="one", most_running=1)
        queue.now += 9_999
        beat(queue, "alive", cap=2)
        assert "b" in queue.line("wait", "alive")
        queue.now += 1
        beat(queue, "alive", cap=2)
        assert "b" in queue.line("run", "alive")
        assert list(queue.hash("workers")) == ["alive"]


class TestRate:
    def live(self, queue: Scripts, seconds: int, made_each_beat: float) -> float:
        """Beats at four a second; what is said of the rate in the end."""
        rate = 0.0
        for _ in range(4 * seconds):
            rate = beat(queue, made=made_each_beat, warm=100.0)["rate"]
            queue.now += 250
        return rate

    def test_is_that_of_the_warm_up_until_two_seconds_were_saturated(self, queue: Scripts) -> None:
        beat(queue, warm=100.0)
        enter(queue, "busy")
        assert self.live(queue, 3, 0.5) == 100
        assert self.live(queue, 1, 0.5) == pytest.approx(2)

    def test_is_that_of_the_last_thirty_saturated_seconds(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "busy")
        self.live(queue, 40, 0.5)
        self.live(queue, 15, 1.0)
        assert self.live(queue, 1, 1.0) == pytest.approx(3, abs=0.1)

    def test_seconds_in_which_a_slot_was_free_do_not_count(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "busy")
        self.live(queue, 5, 0.5)
        leave(queue, "busy")
        assert self.live(queue, 20, 0.01) == pytest.approx(2, rel=0.01)

    def test_nor_do_those_that_were_saturated_for_a_part(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "busy")
        self.live(queue, 5, 0.5)
        for number in range(20):
            leave(queue, *queue.line("run", "w"))
            beat(queue, made=0.1, warm=100.0)
            enter(queue, f"{number}")
            queue.now += 750
            rate = beat(queue, made=0.1, warm=100.0)["rate"]
            queue.now += 250
        assert rate == pytest.approx(2, rel=0.01)

    def test_what_was_made_while_redis_was_away_is_not_of_the_second_in_which_it_is_told(
        self, queue: Scripts
    ) -> None:
        beat(queue)
        enter(queue, "busy")
        self.live(queue, 5, 0.5)
        queue.now += 8000
        beat(queue, made=16.0, warm=100.0)
        queue.now += 250
        assert self.live(queue, 3, 0.5) == pytest.approx(2, rel=0.01)


class TestPredictions:
    def test_a_wait_lasts_until_a_slot_has_come_free_for_each_ahead_and_one_more(self, queue: Scripts) -> None:
        """Two at 2 audio seconds a second each: b ends after 1 s, where c begins; a after 3 s, where d begins."""
        beat(queue, cap=2, warm=4.0)
        waits = [
            enter(queue, ticket, cost=cost).get("wait_ms")
            for ticket, cost in zip("abcd", (6, 2, 8, 1), strict=True)
        ]
        assert waits == [None, None, 1000, 3000]

    def test_long_ones_inside_are_not_hidden_by_a_mean(self, queue: Scripts) -> None:
        beat(queue, cap=2, warm=4.0)
        for ticket in ("long", "longer"):
            enter(queue, ticket, cost=100.0)
        assert enter(queue, "short")["wait_ms"] == 50_000

    def test_nobody_waits_for_themselves(self, queue: Scripts) -> None:
        """Scores have more digits than it takes to tell a millisecond."""
        beat(queue, warm=7.0)
        enter(queue, "holder")
        waits = [(enter(queue, f"{n:02}"), enter(queue, f"{n:02}")) for n in range(50)]
        assert all(first["wait_ms"] == second["wait_ms"] for first, second in waits)

    def learn(self, queue: Scripts, waited_ms: int) -> None:
        for number in range(150):
            beat(queue)
            enter(queue, "holder", cost=2)
            enter(queue, f"{number}", cost=2)
            queue.now += waited_ms
            leave(queue, "holder")
            leave(queue, f"{number}")

    @pytest.mark.parametrize("truth", [0.5, 1.0, 2.0, 3.0])
    def test_the_correction_makes_them_come_true(self, queue: Scripts, truth: float) -> None:
        self.learn(queue, int(2000 * truth))
        enter(queue, "holder", cost=2)
        assert enter(queue, "last")["wait_ms"] == pytest.approx(2000 * truth, rel=0.1)

    @pytest.mark.parametrize(("waited_ms", "bound"), [(0, 0.25), (9_900, 4.0)])
    def test_the_correction_has_bounds(self, queue: Scripts, waited_ms: int, bound: float) -> None:
        self.learn(queue, waited_ms)
        assert float(queue.hash("sums")["correction"]) == pytest.approx(bound)


class TestRefusals:
    def test_those_sent_away_are_not_all_told_the_same_moment(self, queue: Scripts) -> None:
        beat(queue, warm=10.0)
        enter(queue, "inside")
        told = [enter(queue, f"{n}", cost=5, max_queued=0)["retry_after_s"] for n in range(60)]
        assert told == sorted(told)
        assert told[0] == 1
        assert 28 < told[-1] <= 30.5
        assert max(Counter(int(s) for s in told).values()) <= 3

    def test_a_promise_that_has_fallen_due_is_no_longer_in_the_way(self, queue: Scripts) -> None:
        beat(queue, warm=10.0)
        enter(queue, "inside")
        for number in range(60):
            enter(queue, f"{number}", cost=5, max_queued=0)
        queue.now += 60_000
        beat(queue, warm=10.0)
        assert enter(queue, "later", cost=5, max_queued=0)["retry_after_s"] < 2

    @pytest.mark.parametrize("luck", [0.0, 0.5, 1023 / 1024])
    def test_nobody_is_told_more_than_a_minute_nor_the_whole_minute_together(
        self, queue: Scripts, luck: float
    ) -> None:
        beat(queue, warm=0.5)
        enter(queue, "inside")
        told = [enter(queue, f"{n}", cost=300, max_queued=0, luck=luck)["retry_after_s"] for n in range(5)]
        assert told == [45 + 15 * luck] * 5

    def test_a_callers_own_limit_promises_nothing(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "inside")
        enter(queue, "outside", most_queued=0)
        assert "promised" not in queue.state


class TestErrands:
    def test_who_comes_back_counts_as_come_also_where_there_is_room(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "inside")
        told = enter(queue, "1", errand="mine", max_queued=0)
        leave(queue, "inside")
        queue.now += int(1000 * told["retry_after_s"])
        assert enter(queue, "2", errand="mine")["verdict"] == "running"
        assert (queue.hash("sums")["came"], "errands" in queue.state) == ("1", False)

    def test_those_who_never_come_are_forgotten_whoever_asks_next(self, queue: Scripts) -> None:
        beat(queue)
        enter(queue, "inside")
        for number in range(50):
            enter(queue, f"{number}", errand=f"{number}", max_queued=0)
            beat(queue)
            queue.now += 5000
        assert len(queue.hash("errands")) < 16
        assert int(queue.hash("sums")["stayed_away"]) > 34

    def test_a_caller_heard_of_lately_finds_its_guaranteed_slots(self, queue: Scripts) -> None:
        beat(queue, cap=4)
        enter(queue, "mine", caller="modest", guaranteed=0.5)
        leave(queue, "mine")
        for number in range(6):
            enter(queue, f"{number}", caller="greedy")
        assert len(queue.line("run", "w")) == 2
        assert enter(queue, "mine again", caller="modest", guaranteed=0.5)["verdict"] == "running"

    def test_and_lends_them_while_it_says_nothing(self, queue: Scripts) -> None:
        beat(queue, cap=4)
        enter(queue, "mine", caller="modest", guaranteed=0.5)
        leave(queue, "mine")
        for number in range(6):
            enter(queue, f"{number}", caller="greedy")
        queue.now += 5_001
        beat(queue, cap=4)
        assert list(queue.line("run", "w")) == ["0", "1", "2", "3"]

    def test_who_waits_for_what_was_kept_goes_before_who_comes_when_it_no_longer_is(self, queue: Scripts) -> None:
        beat(queue, cap=2)
        enter(queue, "mine", caller="modest", guaranteed=0.5)
        leave(queue, "mine")
        enter(queue, "0", caller="greedy")
        enter(queue, "1", caller="greedy")
        queue.now += 5_001
        assert enter(queue, "2", caller="greedy")["verdict"] == "waiting"
        assert list(queue.line("run", "w")) == ["0", "1"]


class TestNeighbours:
    def test_queues_of_different_engines_never_meet(self, redis: Redis, queue: Scripts) -> None:
        other = Scripts(redis, engine="espeak")
        for each in (queue, other):
            beat(each)
            assert enter(each, "same ticket")["verdict"] == "running"
        queue.tell("bury", "w")
        leave(queue, "same ticket")
        beat(other)
        assert list(other.line("run", "w")) == ["same ticket"]

    def test_one_queue_serves_many_connections_at_once_by_its_own_clock(self, redis: Redis) -> None:
        """The script as it is in service, on whatever Redis there is."""
        redis.flushdb()
        queue = Scripts(redis, clock=None)
        now = beat(queue, cap=5)["now"]
        assert now == pytest.approx(1000 * time.time(), abs=2000)
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda n: enter(Scripts(redis, clock=None), f"{n}"), range(40)))
        assert Counter(answer["verdict"] for answer in answers) == {"running": 5, "waiting": 35}
        beat(queue, cap=5)
        look = json.loads(queue.tell("look"))
        assert (look["running"], look["slots"], look["workers"][0]["waiting"]) == (5, 5, 35)

    def test_the_redis_of_the_wheel_is_old_enough(self, redis: Redis) -> None:
        """What holds on the oldest series we know of holds on its successors."""
        version = redis.info("server")["redis_version"]
        if not version.startswith("6.2"):
            pytest.skip(f"the Redis found first is {version}")
        beat(Scripts(redis))
