"""One attempt: a request goes out, and a record comes back, whatever happens in between."""

import asyncio
import json
import time
from collections.abc import Mapping

from api.bench.arrivals import Arrival
from api.bench.connection import Connection, Connections
from api.bench.hearing import Hearing
from api.bench.profile import CHARS_PER_S, Profile
from api.bench.records import REFUSALS, Outcome, Record
from api.bench.target import Target
from api.bench.texts import english

ERROR_BODY_LIMIT_BYTES = 65_536


class Client:
    """All callers of one process. Times of records count from `start_s` on the monotonic clock."""

    def __init__(self, profile: Profile, target: Target, start_s: float) -> None:
        self._profile = profile
        self._target = target
        self._start_s = start_s
        self._connections = Connections(target)

    def now_s(self) -> float:
        return time.monotonic() - self._start_s

    async def close(self) -> None:
        await self._connections.close()

    def record(self, arrival: Arrival, attempt: int, scheduled_s: float) -> Record:
        return Record(
            visit=arrival.name,
            phase=arrival.phase,
            caller=arrival.caller.name,
            attempt=attempt,
            chars=arrival.chars,
            asked_audio_s=arrival.chars / CHARS_PER_S,
            deadline_s=self._profile.deadline_of(arrival.caller),
            scheduled_s=scheduled_s,
            started_s=(now_s := self.now_s()),
            end_s=now_s,
        )

    async def attempt(self, arrival: Arrival, record: Record) -> None:
        """Ask, and write down what happened; also when the run ends in the middle of it."""
        caller = arrival.caller
        text = english(arrival.chars, f"{self._profile.seed}/{arrival.name}")
        request = self._target.speech(caller, text, record.deadline_s)
        answer = Answer(Hearing(caller.format, caller.stream_format, self._profile.buffer_s))
        try:
            async with asyncio.timeout(self._profile.timeout_s):
                record.error = await self._exchange(
                    request, answer, record, caller.name if caller.keep_alive else None
                )
        except TimeoutError:
            record.error = "timeout"
        except OSError as error:
            record.error = type(error).__name__
        except asyncio.CancelledError:
            record.error = "run_ended"
            raise
        finally:
            record.end_s = self.now_s()
            answer.describe(record, self._start_s)

    async def _exchange(self, request: bytes, answer: "Answer", record: Record, keeper: str | None) -> str | None:
        connection: Connection = await self._connections.take(keeper)
        whole = False
        try:
            record.sent_s = self.now_s()
            error = await connection.exchange(request, answer)
            whole = error is None
            return error
        finally:
            self._connections.give_back(connection, keeper if whole else None)


class Answer:
    """What came back, as it came."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._headers: Mapping[str, str] = {}
        self._first_byte_s: float | None = None
        self._status = 0
        self._bytes = 0
        self._error_body = b""

    def on_start(self, status: int, headers: dict[str, str], first_byte_s: float) -> None:
        self._status, self._headers, self._first_byte_s = status, headers, first_byte_s
        self._hearing.begin(headers)

    def on_body(self, data: bytes, at_s: float) -> None:
        self._bytes += len(data)
        if self._accepted:
            self._hearing.feed(data, at_s)
        elif len(self._error_body) < ERROR_BODY_LIMIT_BYTES:
            self._error_body += data

    def describe(self, record: Record, start_s: float) -> None:
        """Fill in what the record still lacks."""
        record.status, record.bytes = self._status, self._bytes
        record.first_byte_s = None if self._first_byte_s is None else self._first_byte_s - start_s
        record.queue_ms = _milliseconds(self._headers.get("x-queue-ms"))
        record.request_id = self._headers.get("x-request-id")
        record.retry_after = self._headers.get("retry-after")
        record.retry_after_ms = self._headers.get("retry-after-ms")
        record.should_retry = self._headers.get("x-should-retry")
        if self._accepted:
            self._describe_sound(record, start_s)
        elif self._status:
            record.code = _code(self._error_body)
        record.outcome = self._outcome(record.error)

    @property
    def _accepted(self) -> bool:
        return 200 <= self._status < 300

    def _describe_sound(self, record: Record, start_s: float) -> None:
        heard = self._hearing
        record.first_audio_s = None if heard.first_audio_s is None else heard.first_audio_s - start_s
        record.audio_s, record.stalls, record.stalled_s = heard.audio_s, heard.stalls, heard.stalled_s
        record.error = record.error or heard.missing_end

    def _outcome(self, error: str | None) -> Outcome:
        if not self._status:
            return Outcome.LOST
        if self._accepted:
            return Outcome.CUT if error else Outcome.WHOLE
        return Outcome.REFUSED if self._status in REFUSALS else Outcome.FAILED


def _code(body: bytes) -> str | None:
    """The error's code, in OpenAI's envelope."""
    try:
        return str(json.loads(body)["error"]["code"])[:64]
    except (ValueError, KeyError, TypeError):
        return None


def _milliseconds(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None
