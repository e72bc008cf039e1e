"""Traces of requests, for OpenTelemetry: the optional extra `otel`.

Spans are made of the request's own clock when it is over. So the road knows nothing of them, and they cost nothing
while they are off. Where they go is said by OTEL_… variables, which OpenTelemetry's SDK reads by itself.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from api import __version__
from api.errors import SettingsInvalid
from api.phases import Phase, Phases

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

# What a trace calls the phases that have spans of their own.
STEPS = {
    Phase.QUEUE: "admit",
    Phase.HEAR: "hear",
    Phase.PLAN: "plan",
    Phase.SYNTHESIS: "synthesize",
    Phase.ENCODE: "encode",
}

Attributes = Mapping[str, str | int | float]


class Traces:
    """Tells of requests that are over."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("chorus", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def tell(
        self, name: str, phases: Phases, headers: Mapping[str, str], attributes: Attributes, *, failed: bool
    ) -> str | None:
        """Give a request its spans, below its caller's own if it sent a `traceparent`. The trace's id."""
        from opentelemetry import trace

        # The clock of phases has no date: what it showed is counted back from now.
        shift_ns = time.time_ns() - time.perf_counter_ns()
        span = self._tracer.start_span(
            name,
            context=self._propagator.extract(headers),
            kind=trace.SpanKind.SERVER,
            attributes=attributes,
            start_time=_ns(phases.started, shift_ns),
        )
        if span.is_recording():
            self._tell_steps(trace.set_span_in_context(span), phases, shift_ns)
            if failed:
                span.set_status(trace.StatusCode.ERROR)
        span.end(_ns(phases.started + phases.total_s, shift_ns))
        context = span.get_span_context()
        return trace.format_trace_id(context.trace_id) if context.is_valid else None

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()

    def _tell_steps(self, parent: object, phases: Phases, shift_ns: int) -> None:
        for phase, name in STEPS.items():
            began, ended = phases.began[phase], phases.ended[phase]
            if began is not None and ended is not None:
                # Synthesis and encoding take turns: a span is from the first turn to the last one's end.
                busy = {"chorus.busy_ms": round(phases.spent[phase] * 1000, 3)}
                span = self._tracer.start_span(
                    name,
                    context=parent,  # type: ignore[arg-type]
                    attributes=busy,
                    start_time=_ns(began, shift_ns),
                )
                span.end(_ns(ended, shift_ns))


def open_traces() -> Traces:
    """To the collector that OTEL_… variables name. Raises SettingsInvalid where the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsInvalid("CHORUS_SERVER__TRACES needs OpenTelemetry: pip install 'chorus[otel]'.") from None
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "chorus"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Traces(provider)


def _ns(moment: float, shift_ns: int) -> int:
    return int(moment * 1e9) + shift_ns
