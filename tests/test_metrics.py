"""The table of metrics, and a process that counts for itself."""

import re
import shutil
import subprocess
from collections import Counter as Tally

import pytest
from prometheus_client import generate_latest

from api import metrics
from api.audio import FORMATS
from api.metrics import METRICS, Meters, Metric
from tests.scrape import Scrape
from tests.server import ROOT

# Each of these has few values, all of them known beforehand; nothing that a caller wrote is among them.
LABELS = {
    *("route", "status", "code", "reason", "delivery", "priority", "format"),
    *("worker", "state", "gpu", "version", "engine", "fault"),
    "exact",
}
UNITS = ("seconds", "bytes", "ratio", "total", "info")
# What is counted in pieces has no unit.
COUNTS = {"requests_open", "batch_size", "queue_up", "slots", "slots_in_use", "waiting"}
COUNTS |= {"worker_open_files", "worker_ready", "ready", "draining"}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
class TestEachDeclaration:
    def test_has_its_unit_in_its_name(self, metric: Metric) -> None:
        name = metric.name.removeprefix("chorus_")
        assert name != metric.name
        assert name in COUNTS or name.rpartition("_")[2] in UNITS
        assert (metric.kind == "counter") == name.endswith("_total")

    def test_has_labels_of_few_values(self, metric: Metric) -> None:
        assert set(metric.labels) <= LABELS
        assert all(len(known) == len(metric.labels) for known in metric.from_zero)

    def test_says_what_it_means_in_a_sentence(self, metric: Metric) -> None:
        assert metric.meaning.endswith(".")

    def test_is_used(self, metric: Metric) -> None:
        """By the name of its constant, somewhere outside the table."""
        name = next(name for name, declared in vars(metrics).items() if declared is metric)
        code = [path.read_text() for room in ("api", "workers") for path in (ROOT / room).rglob("*.py")]
        assert sum(bool(re.search(rf"\b{name}\b", text)) for text in code) >= 2


def test_no_name_is_declared_twice() -> None:
    assert max(Tally(metric.name for metric in METRICS).values()) == 1


def test_a_process_by_itself_counts_in_memory() -> None:
    meters = Meters()
    meters.add(metrics.REQUESTS, "/ready", "200", "ok")
    meters.add(metrics.AUDIO, by=2.5)
    meters.observe(metrics.ENCODE, 0.004, "mp3")
    meters.set(metrics.READY, 1)
    told = Scrape(generate_latest(meters.told_with([(metrics.SLOTS, (), 8)])).decode())
    assert told.value("chorus_requests_total", route="/ready") == 1
    assert told.value("chorus_speech_audio_seconds_total") == 2.5
    assert told.value("chorus_speech_encode_seconds_bucket", format="mp3", le="0.005") == 1
    assert told.value("chorus_worker_ready", worker="0") == 1
    assert told.value("chorus_slots") == 8


def test_what_was_not_read_is_not_told() -> None:
    told = generate_latest(Meters().told_with([])).decode()
    assert "chorus_slots" not in told
    assert "chorus_gpu" not in told


def test_a_first_refusal_can_be_seen_as_one() -> None:
    """A counter that appears at 1 has never grown, for all that Prometheus knows."""
    told = Scrape(generate_latest(Meters().told_with([])).decode())
    assert told.all("chorus_refusals_total", code="queue_full") == {frozenset({("code", "queue_full")}): 0}
    assert told.all("chorus_worker_ends_total", state="ready") != {}


def test_every_format_has_a_label() -> None:
    assert len(FORMATS) < 10


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus' promtool is not here")
def test_prometheus_itself_finds_nothing_to_say() -> None:
    meters = Meters()
    for metric in METRICS:
        if metric.kind == "gauge":
            meters.set(metric, 1)  # type: ignore[arg-type]
    figures = [(metric, ("0",) * len(metric.labels), 1.0) for metric in METRICS if metric.kind == "reading"]
    told = generate_latest(meters.told_with(figures))
    done = subprocess.run(["promtool", "check", "metrics"], input=told, capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")
