"""Every request is accounted for when it is over: in the metrics, in one line of the log, and in a trace."""

import logging
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import metrics
from api.errors import REFUSALS, ChorusError
from api.logs import LOGGER
from api.metrics import Meters
from api.phases import Phase, Phases
from api.traces import Traces
from api.types import Run

# Asked for every few seconds by whoever watches the server: no news.
QUIET = frozenset({"/live", "/ready", "/health", "/metrics"})
# What a trace tells of a request, by the names that the log has for it.
TRACED = ("engine", "voice", "format", "delivery", "priority", "chars", "audio_s", "first_sound_ms", "underruns")
# What nginx writes down for a caller who left before there was an answer.
LEFT = 499


@dataclass(slots=True)
class Account:
    """What became of one request."""

    scope: Scope
    phases: Phases
    answered: int | None = None
    first_byte_at: float | None = None

    @property
    def run(self) -> Run | None:
        """What the road knows of it, if it got there."""
        run: Run | None = self.scope["state"].get("run")
        return run

    @property
    def refused(self) -> ChorusError | None:
        """Why the wire has answered in the application's place, before the body was whole."""
        refused: ChorusError | None = self.scope["state"].get("refused")
        return refused

    @property
    def status(self) -> int | None:
        return self.refused.status if self.refused else self.answered

    @property
    def route(self) -> str:
        """The address as it is declared, not as it was written."""
        return getattr(self.scope.get("route"), "path", "other")

    @property
    def code(self) -> str:
        """The error's, why the answer was cut, or `ok`."""
        if self.refused:
            return self.refused.code
        if self.run and self.run.cut:
            return self.run.cut
        told: str | None = self.scope["state"].get("code")
        return told or ("ok" if self.status is not None else "reader_left")

    def note(self, message: Message) -> None:
        """A part of the answer has been handed on."""
        if message["type"] == "http.response.start":
            self.answered = message["status"]
        elif self.first_byte_at is None and message.get("body"):
            self.first_byte_at = time.perf_counter()


class Accounts:
    """Plain ASGI: watches the answer go by."""

    def __init__(self, app: ASGIApp, meters: Meters, traces: Traces | None = None) -> None:
        self._app = app
        self._meters = meters
        self._traces = traces
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        account = Account(scope, Phases())
        scope["state"]["phases"] = account.phases

        async def send_noted(message: Message) -> None:
            await send(message)
            account.note(message)

        self._count_open(+1)
        try:
            await self._app(scope, receive, send_noted)
        finally:
            self._count_open(-1)
            account.phases.stop()
            count(account, self._meters)
            log(account, trace(account, self._traces) if self._traces else None)

    def _count_open(self, by: int) -> None:
        self._open += by
        self._meters.set(metrics.OPEN, self._open)


def count(account: Account, meters: Meters) -> None:
    code = account.code
    meters.add(metrics.REQUESTS, account.route, str(account.status or LEFT), code)
    if account.run and account.run.speech:
        sounded = account.run.first_sound_at is not None
        if code in REFUSALS and not (sounded and account.status == 200):
            meters.add(metrics.REFUSED, code)
        elif account.run.cut and account.status is not None:
            meters.add(metrics.CUT, code)
        _count_speech(account, account.run, meters)


def _count_speech(account: Account, run: Run, meters: Meters) -> None:
    """Each phase that it got to."""
    phases, priority, speech = account.phases, run.entry.priority.value, run.speech
    assert speech is not None
    if phases.began[Phase.PLAN] is not None:
        meters.observe(metrics.QUEUED, phases.spent[Phase.QUEUE], priority)
        meters.observe(metrics.PLAN, phases.spent[Phase.PLAN])
    if run.first_sound_at is None:
        return
    delivery = "whole" if speech.whole else "stream"
    meters.observe(metrics.FIRST_AUDIO, phases.since_start_s(run.first_sound_at), priority)
    meters.observe(metrics.SYNTHESIS, phases.spent[Phase.SYNTHESIS])
    meters.observe(metrics.ENCODE, phases.spent[Phase.ENCODE], speech.format)
    meters.add(metrics.AUDIO, by=run.audio_s)
    meters.add(metrics.CHARS, by=len(speech.text))
    if (making_s := phases.making_s()) is not None and run.audio_s:
        meters.observe(metrics.REALTIME, making_s / run.audio_s)
    if account.first_byte_at is not None:
        meters.observe(metrics.FIRST_BYTE, phases.since_start_s(account.first_byte_at), delivery, priority)
    if not speech.whole:
        meters.add(metrics.STREAMS)
    if run.underruns:
        meters.add(metrics.UNDERRUNS, by=run.underruns)
        meters.add(metrics.UNDERRUN_STREAMS)


def trace(account: Account, traces: Traces) -> str | None:
    """Its spans; nothing of those who only watch."""
    if account.scope["path"] in QUIET:
        return None
    attributes: dict[str, str | int | float] = {
        "http.request.method": account.scope["method"],
        "http.route": account.route,
        "http.response.status_code": account.status or LEFT,
        "chorus.code": account.code,
        "chorus.request_id": account.scope["state"]["request_id"],
    }
    if account.run:
        spoken = _of_speech(account, account.run)
        attributes |= {f"chorus.{name}": spoken[name] for name in TRACED if name in spoken}
    failed = (account.status or LEFT) >= 500 or bool(account.run and account.run.cut not in (None, "reader_left"))
    name = f"{account.scope['method']} {account.route}"
    return traces.tell(name, account.phases, Headers(scope=account.scope), attributes, failed=failed)


def log(account: Account, trace_id: str | None) -> None:
    quiet = account.scope["path"] in QUIET
    if quiet and not LOGGER.isEnabledFor(logging.DEBUG):
        return
    fields = describe(account)
    if trace_id:
        fields["trace_id"] = trace_id
    (LOGGER.debug if quiet else LOGGER.info)(_line(fields), extra={"fields": fields})


def describe(account: Account) -> dict[str, Any]:
    """A request in a line of the log: whatever is known of it but its text."""
    fields: dict[str, Any] = {
        "request": account.scope["state"]["request_id"],
        "method": account.scope["method"],
        "path": quote(account.scope["path"])[:128],  # a line feed in it would begin a line of the caller's making
        "status": account.status or LEFT,
        "code": account.code,
        "total_ms": _ms(account.phases.total_s),
    }
    if account.run:
        fields |= _of_speech(account, account.run)
    return fields


def _of_speech(account: Account, run: Run) -> dict[str, Any]:
    phases = account.phases
    fields: dict[str, Any] = {"caller": run.entry.caller.name, "priority": run.entry.priority.value}
    if run.speech and run.voice:
        fields |= {"engine": run.engine, "voice": run.voice.id, "format": run.speech.format}
        fields["chars"] = len(run.speech.text)
        fields |= {"delivery": "whole" if run.speech.whole else "stream", "audio_s": round(run.audio_s, 3)}
    if run.first_sound_at is not None:
        fields["first_sound_ms"] = _ms(phases.since_start_s(run.first_sound_at))
    if run.underruns:
        fields["underruns"] = run.underruns
    spent = {phase.name.lower(): phases.spent[phase] for phase in Phase if phases.began[phase] is not None}
    return fields | {f"{phase}_ms": _ms(seconds) for phase, seconds in spent.items()}


def _line(fields: dict[str, Any]) -> str:
    """For people: the answer first, then what was asked, then where its time went."""
    head = "{request} {method} {path} {status} {code} in {total_ms:.0f} ms".format(**fields)
    known = [
        f"{fields[name]}{unit}"
        for name, unit in (("format", ""), ("voice", ""), ("chars", " chars"))
        if name in fields
    ]
    if "audio_s" in fields:
        known.append(f"{fields['audio_s']:.1f} s of sound")
    times = [
        f"{name[:-3]} {amount:.0f}"
        for name, amount in fields.items()
        if name.endswith("_ms") and name != "total_ms"
    ]
    return " | ".join(part for part in (head, " ".join(known), " ".join(times)) if part)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
