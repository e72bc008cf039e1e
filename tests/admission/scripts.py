"""The queue's scripts on a Redis, without a gate before them, and by a clock that the test sets."""

import json
from typing import Any

from redis import Redis

from api.admission.keys import prefix
from api.admission.link import OPERATIONS, script

# A test's clock lies in Redis beside the queue, so that time is what the test says.
CLOCK = "local function clock_ms() return tonumber(redis.call('GET', 'clock')) end"

# Everything there is, as it is written: numbers as text, with all their digits.
STATE = """
local found = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
  if name:sub(1, #KEYS[1]) == KEYS[1] then
    local kind = redis.call('TYPE', name).ok
    found[name:sub(#KEYS[1] + 1)] = kind == 'zset' and redis.call('ZRANGE', name, 0, -1, 'WITHSCORES')
      or kind == 'hash' and redis.call('HGETALL', name) or {}
  end
end
return cjson.encode(found)
"""

NO_HURRY_MS = 1e9

Json = dict[str, Any]
State = dict[str, dict[str, str]]


class Scripts:
    """One engine's queue. Each call is one way to Redis and back, and brings the state along."""

    def __init__(self, redis: Redis, engine: str = "tone", clock: str | None = CLOCK) -> None:
        self.redis = redis
        self.prefix = prefix("test", engine)
        self.now = 1_700_000_000_000
        self.state: State = {}
        self._hashes = {name: redis.script_load(script(name, clock=clock)) for name in OPERATIONS}
        self._state_hash = redis.script_load(STATE)

    def ask(self, operation: str, question: Json) -> Json:
        answer: Json = json.loads(self.tell(operation, json.dumps(question)))
        return answer

    def tell(self, operation: str, *words: str) -> Any:
        line = self.redis.pipeline(transaction=False)
        line.set("clock", self.now)
        line.evalsha(self._hashes[operation], 1, self.prefix, *words)
        line.evalsha(self._state_hash, 1, self.prefix)
        _, answer, state = line.execute()
        self.state = {name: _pairs(flat) for name, flat in json.loads(state).items()}
        return answer

    def empty(self) -> None:
        """Redis was restarted: it knows nothing, and the scripts have to be sent again."""
        self.redis.flushdb()
        self.state = {}

    # --- what the state says ---

    def hash(self, name: str) -> dict[str, str]:
        return self.state.get(name, {})

    def line(self, kind: str, worker: str) -> dict[str, float]:
        """`run` or `wait` of a worker: tickets in order, with their scores."""
        return {ticket: float(score) for ticket, score in self.hash(f"{kind}:{worker}").items()}

    def lines(self, kind: str) -> dict[str, dict[str, float]]:
        names = [name.removeprefix(f"{kind}:") for name in self.state if name.startswith(f"{kind}:")]
        return {worker: self.line(kind, worker) for worker in names}

    def facts(self) -> dict[str, Json]:
        return {ticket: json.loads(facts) for ticket, facts in self.hash("facts").items()}


def question(ticket: str, worker: str, **more: Any) -> Json:
    """What a worker asks for a request that is like most others."""
    usual = {
        "ticket": ticket,
        "worker": worker,
        "cost": 1.0,
        "caller": "-",
        "class": "interactive",
        "offset_ms": 0,
        "share": 1.0,
        "guaranteed": 0.0,
        "most_running": 0,
        "most_queued": -1,
        "max_queued": 1000,
        "deadline_ms": NO_HURRY_MS,
        "first_chunk_ms": 0,
        "errand": None,
        "luck": 0.0,
    }
    return usual | more


def _pairs(flat: list[str]) -> dict[str, str]:
    return {flat[at]: flat[at + 1] for at in range(0, len(flat), 2)}
