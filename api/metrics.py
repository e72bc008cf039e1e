"""The one place where metrics are declared: names, units, labels, buckets. `docs/metrics.md` is made from it.

Units are in names: `_seconds`, `_bytes`, `_ratio`, and `_total` for what only ever grows. The values of a label
are few and known beforehand: nothing that a caller wrote, no voices, no keys.

A worker counts by itself, in memory or, where a server's workers count together, in files of one directory. A file
belongs to a worker's number and not to its process: a replaced worker counts on where its predecessor stopped.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import prometheus_client as prometheus
from prometheus_client import values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

from api import settings
from api.errors import REFUSALS

# The owner's thresholds for a first byte, 2 s and 5 s, are bounds.
HEARD = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30)
QUICK = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
PACE = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2, 5)
SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """What is measured. `from_zero` are label values that are there from the start."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    from_zero: tuple[tuple[str, ...], ...] = ()

    kind: ClassVar[str]


class Counter(Metric):
    """Only grows, over all workers."""

    kind = "counter"


@dataclass(frozen=True, slots=True, eq=False)
class Histogram(Metric):
    """A distribution, over all workers."""

    kind = "histogram"
    buckets: tuple[float, ...] = HEARD


class Gauge(Metric):
    """As a worker is now; it goes when the worker goes. Its first label is the worker's number."""

    kind = "gauge"


class Reading(Metric):
    """True of the whole server, or of the queue: read by whichever worker is asked, never added up."""

    kind = "reading"


# --- requests ---

REQUESTS = Counter(
    "chorus_requests_total",
    "Requests answered. `code` is the error's, `ok`, or why the answer was cut. Status 499: the caller left.",
    ("route", "status", "code"),
    (("/v1/audio/speech", "200", "ok"),),
)
OPEN = Gauge(
    "chorus_requests_open",
    "Requests that a worker is busy with, those waiting in the queue included.",
    ("worker",),
)
REFUSED = Counter(
    "chorus_refusals_total",
    "Speech requests sent away for the server's limits or a key's, by error code.",
    ("code",),
    tuple((code,) for code in REFUSALS),
)
CUT = Counter(
    "chorus_streams_cut_total",
    "Answers that began and ended early: `reader_left`, `reader_slow`, `stopped` (the server), or an error code.",
    ("reason",),
    (("reader_left",), ("reader_slow",), ("stopped",), ("draining",), ("engine_failed",), ("internal_error",)),
)
WIRE = Counter(
    "chorus_wire_refusals_total",
    "Connections refused before their request had a whole head, by error code; they are not among the requests.",
    ("code",),
    (("malformed_request",), ("request_timeout",), ("too_many_connections",)),
)

# --- speech ---

FIRST_BYTE = Histogram(
    "chorus_speech_first_byte_seconds",
    "From a request's arrival until the first byte of its sound was sent. `delivery` is `stream` or `whole`.",
    ("delivery", "priority"),
    (("stream", "interactive"),),
)
FIRST_AUDIO = Histogram(
    "chorus_speech_first_audio_seconds",
    "From a request's arrival until the engine made its first sound.",
    ("priority",),
    (("interactive",),),
)
QUEUED = Histogram(
    "chorus_speech_queue_seconds",
    "How long requests that were let in had waited for a slot.",
    ("priority",),
    (("interactive",),),
)
PLAN = Histogram("chorus_speech_plan_seconds", "Making a text ready to be spoken.", buckets=QUICK)
SYNTHESIS = Histogram("chorus_speech_synthesis_seconds", "Time a request waited for its engine.", buckets=LONG)
ENCODE = Histogram("chorus_speech_encode_seconds", "Time in a request's encoder.", ("format",), buckets=QUICK)
REALTIME = Histogram(
    "chorus_speech_realtime_ratio",
    "Time from asking the engine until its last sound, per second of audio: below 1 is faster than it plays.",
    buckets=PACE,
)
AUDIO = Counter("chorus_speech_audio_seconds_total", "Audio made.")
CHARS = Counter("chorus_speech_input_chars_total", "Characters of the texts that were spoken.")
UNDERRUNS = Counter(
    "chorus_speech_underruns_total",
    "Times that a listener who plays a stream as it comes had nothing left to play.",
)
UNDERRUN_STREAMS = Counter("chorus_speech_underrun_streams_total", "Streams in which that happened at least once.")
STREAMS = Counter("chorus_speech_streams_total", "Streams that began to sound.")
RETAKES = Counter(
    "chorus_retakes_total",
    "Parts of a text that a language model had to speak anew, by what was wrong: their length, or what they said.",
    ("fault",),
    (("too_short",), ("too_long",), ("goes_round",), ("silent",)),
)
CHUNKS = Counter(
    "chorus_chunks_total",
    "Chunks that a codec decoded, and whether they are `exact`, which they are where the listener could wait.",
    ("exact",),
    (("yes",), ("no",)),
)
BATCH = Histogram("chorus_batch_size", "Requests that an engine spoke at the same time.", buckets=SIZES)

# --- the queue, over all hosts that share it ---

QUEUE_UP = Reading(
    "chorus_queue_up", "Whether the queue can be reached: 1 or 0. If not, its other figures are absent."
)
SLOTS = Reading("chorus_slots", "Requests that may be spoken at once, over all hosts of the queue.")
SLOTS_IN_USE = Reading("chorus_slots_in_use", "Requests that are being spoken, over all hosts of the queue.")
WAITING = Reading("chorus_waiting", "Requests that wait for a slot, over all hosts of the queue.")
PREDICTED_WAIT = Reading(
    "chorus_predicted_wait_seconds", "How long a request that came now is likely to wait for a slot."
)
COST_AHEAD = Reading("chorus_waiting_audio_seconds", "Audio that those who wait are likely to need.")
RATE = Reading("chorus_queue_rate_ratio", "Audio seconds a second that the workers make when they are busy.")
WAIT_ERROR = Reading(
    "chorus_predicted_wait_error_ratio", "How far predicted waits were lately from those that came; the median."
)

# --- workers ---

LAG = Histogram("chorus_loop_lag_seconds", "How late a worker's event loop came back to a clock.", buckets=QUICK)
LAG_MAX = Gauge("chorus_loop_lag_max_seconds", "The latest it came back within the last minute.", ("worker",))
MEMORY = Gauge(
    "chorus_worker_memory_bytes", "Resident memory of a worker process, its model included.", ("worker",)
)
ENGINE_MEMORY = Gauge("chorus_engine_memory_bytes", "Resident memory of an engine's own processes.", ("worker",))
FILES = Gauge("chorus_worker_open_files", "Open file descriptors of a worker.", ("worker",))
BOOT = Gauge(
    "chorus_worker_boot_seconds",
    "From a worker's start until its engine had spoken a warm-up sentence.",
    ("worker",),
)
READY = Gauge("chorus_worker_ready", "1 when a worker's engine has spoken its warm-up sentence.", ("worker",))
DRAINING = Gauge("chorus_draining", "1 while a worker finishes its streams and takes no new ones.", ("worker",))
ENDED = Counter(
    "chorus_worker_ends_total",
    "Workers that ended, by what they were at: `loading`, `ready` (it crashed), `draining` (told to), `hung`.",
    ("state",),
    (("loading",), ("ready",), ("draining",), ("hung",)),
)

# --- the machine ---

SERVES = Reading("chorus_ready", "1 while a worker takes requests, as `/ready` tells; 0 while none does.")
GPU_BUSY = Reading("chorus_gpu_utilization_ratio", "Part of the last second in which a GPU was at work.", ("gpu",))
GPU_USED = Reading("chorus_gpu_memory_used_bytes", "Memory of a GPU that is in use, by anybody.", ("gpu",))
GPU_MEMORY = Reading("chorus_gpu_memory_bytes", "Memory of a GPU.", ("gpu",))
BUILD = Reading("chorus_build_info", "Always 1: which version serves which engine.", ("version", "engine"))

METRICS: tuple[Metric, ...] = tuple(declared for declared in vars().values() if isinstance(declared, Metric))

# One thing that was read: its label values, and how much.
Figure = tuple[Metric, tuple[str, ...], float]


class Meters:
    """One process's counters and gauges, and everything that can be told when somebody asks."""

    def __init__(self, worker: str = "0", directory: Path | None = None) -> None:
        self.worker = worker
        self._directory = directory
        self._own = CollectorRegistry()
        self._made = {metric: _instrument(metric, self._own) for metric in METRICS if metric.kind != "reading"}
        self._children: dict[tuple[Metric, tuple[str, ...]], Any] = {}
        for metric in self._made:
            for known in metric.from_zero:
                self._child(metric, known)

    @classmethod
    def of(cls, worker: str) -> "Meters":
        """Those of a worker, or the master, of a server whose processes count together; else of this process.

        Called once in a process: what is kept by number is opened here.
        """
        directory = settings.metrics_directory()
        if directory is None:
            return cls(worker)
        retire(worker)
        # prometheus_client names files by the process; this is its own way to name them by something that lasts.
        values.ValueClass = values.MultiProcessValue(lambda: f"w{worker}")  # type: ignore[no-untyped-call]
        return cls(worker, directory)

    def add(self, metric: Counter, *labels: str, by: float = 1) -> None:
        self._child(metric, labels).inc(by)

    def observe(self, metric: Histogram, amount: float, *labels: str) -> None:
        self._child(metric, labels).observe(amount)

    def set(self, metric: Gauge, amount: float) -> None:
        self._child(metric, (self.worker,)).set(amount)

    def told_with(self, figures: Iterable[Figure]) -> Collector:
        """All that is measured, over all workers, and these figures that have just been read."""
        return _Everything(self._counted, tuple(figures))

    def _counted(self) -> Iterable[prometheus.Metric]:
        return self._own.collect() if self._directory is None else _merged(self._directory)

    def _child(self, metric: Metric, labels: tuple[str, ...]) -> Any:
        child = self._children.get((metric, labels))
        if child is None:
            made = self._made[metric]
            child = self._children[metric, labels] = made.labels(*labels) if metric.labels else made
        return child


def told_by_all(figures: Iterable[Figure]) -> Collector:
    """The same by a process that counts nothing itself."""
    directory = settings.metrics_directory()
    return _Everything(lambda: _merged(directory) if directory else (), tuple(figures))


def _merged(directory: Path) -> Iterable[prometheus.Metric]:
    files = [str(path) for path in directory.glob("*_w*.db")]
    return MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call,no-any-return]


class _Everything(Collector):
    """In the order of declaration, and nothing that is not declared."""

    def __init__(self, counted: Callable[[], Iterable[prometheus.Metric]], figures: tuple[Figure, ...]) -> None:
        self._counted = counted
        self._figures = figures

    def collect(self) -> Iterator[prometheus.Metric]:
        counted = {found.name: found for found in self._counted()}
        for metric in METRICS:
            if metric.kind == "reading":
                yield from self._read(metric)
            elif found := counted.get(metric.name.removesuffix("_total")):
                found.samples = [sample for sample in found.samples if not sample.name.endswith("_created")]
                yield found

    def _read(self, metric: Metric) -> Iterator[prometheus.Metric]:
        figures = [figure for figure in self._figures if figure[0] is metric]
        if figures:
            family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            for _, labels, amount in figures:
                family.add_metric(labels, amount)
            yield family


def retire(worker: str) -> None:
    """A worker is gone, and its gauges with it; what it has counted stays."""
    directory = settings.metrics_directory()
    for path in directory.glob(f"gauge_*_w{worker}.db") if directory else ():
        path.unlink(missing_ok=True)


def _instrument(metric: Metric, registry: CollectorRegistry) -> Any:
    match metric:
        case Counter():
            return prometheus.Counter(metric.name, metric.meaning, metric.labels, registry=registry)
        case Histogram():
            return prometheus.Histogram(
                metric.name, metric.meaning, metric.labels, registry=registry, buckets=metric.buckets
            )
        case _:
            # Each worker sets its own, told apart by its number: there is never anything to choose the largest of.
            return prometheus.Gauge(
                metric.name, metric.meaning, metric.labels, registry=registry, multiprocess_mode="livemax"
            )
