"""Traces, as a collector gets them from the real server through OpenTelemetry's own SDK."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.server import Server

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP, and keeps the spans."""

    def __init__(self) -> None:
        self.spans: dict[str, Any] = {}
        self.services: set[str] = set()
        super().__init__(("127.0.0.1", 0), _Taking)

    def await_spans(self, *names: str) -> dict[str, Any]:
        deadline = time.monotonic() + 10
        while not set(names) <= self.spans.keys() and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.spans


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        told = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["content-length"])))
        assert isinstance(self.server, Collector)
        for resource in told.resource_spans:
            self.server.services |= {
                a.value.string_value for a in resource.resource.attributes if a.key == "service.name"
            }
            self.server.spans |= {span.name: span for scope in resource.scope_spans for span in scope.spans}
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def collecting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, args=(0.02,))
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        yield collector
        collector.shutdown()
        thread.join()


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}


def test_a_request_is_a_span_with_its_steps_below_the_callers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        collecting(monkeypatch) as collector,
        Server(ENGINE="tone", SERVER__TRACES="true", TONE__SPEED=20) as server,
    ):
        headers = {"traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01"}
        with server.client(headers=headers) as client:
            before = time.time_ns()
            client.post("/v1/audio/speech", json={"input": "canary sings", "voice": "alloy"})
            after = time.time_ns()
        spans = collector.await_spans("POST /v1/audio/speech", "encode")
        assert f"{TRACE_ID}" not in server.log  # the pretty line is for people
    root = spans["POST /v1/audio/speech"]
    assert collector.services == {"chorus"}
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == (TRACE_ID, SPAN_ID)
    assert before <= root.start_time_unix_nano <= root.end_time_unix_nano <= after + 5e6
    steps = [spans[name] for name in ("admit", "plan", "synthesize", "encode")]
    assert {step.parent_span_id for step in steps} == {root.span_id}
    begins = [step.start_time_unix_nano for step in steps]
    assert begins == sorted(begins)
    assert all(root.start_time_unix_nano <= s.start_time_unix_nano <= s.end_time_unix_nano for s in steps)
    # 12 characters are 0.8 s of audio, made at 20 times that.
    assert attributes(spans["synthesize"])["chorus.busy_ms"] == pytest.approx(40, rel=0.5)
    told = attributes(root)
    assert (told["http.response.status_code"], told["chorus.code"], told["chorus.chars"]) == (200, "ok", 12)
    assert "canary" not in str(spans)


def test_the_samplers_setting_is_the_sdks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with collecting(monkeypatch) as collector, Server(ENGINE="tone", SERVER__TRACES="true") as server:
        assert server.speech().status_code == 200
        server.stop()
        assert collector.spans == {}


def test_what_is_left_is_sent_at_the_end_and_a_failure_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting(monkeypatch) as collector:
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
        with Server(ENGINE="tone", SERVER__TRACES="true", TONE__FAULT="fail_first") as server:
            assert server.speech().status_code == 500
            server.stop()
        span = collector.spans["POST /v1/audio/speech"]
    assert span.status.code == 2
    assert attributes(span)["chorus.code"] == "engine_failed"


def test_a_collector_that_is_away_costs_nobody_their_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with Server(ENGINE="tone", SERVER__TRACES="true") as server:
        for _ in range(5):
            started = time.monotonic()
            assert httpx.get(f"{server.url}/v1/models").status_code == 200
            assert server.speech().status_code == 200
            assert time.monotonic() - started < 2
