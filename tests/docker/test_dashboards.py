"""Dashboard and alert rules: each of their expressions is of metrics that exist, with labels that they have."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.metrics import METRICS, Metric
from tests.server import ROOT

DASHBOARD = ROOT / "docker/grafana/dashboards/chorus.json"
RULES = ROOT / "docker/prometheus/chorus.rules.yml"
PARTS = ("_bucket", "_sum", "_count")
# What Prometheus adds to whatever it scrapes, and to a histogram.
ALWAYS = {"instance", "job", "le"}

SELECTOR = re.compile(r"\b(chorus_\w+)(?:\{(.*?)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"')
GROUPING = re.compile(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)")
LEGEND = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus' promtool is not here")


def named(name: str) -> Metric | None:
    """The metric that a series of this name belongs to."""
    for metric in METRICS:
        parts = PARTS if metric.kind == "histogram" else ("",)
        if name in {metric.name + part for part in parts}:
            return metric
    return None


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions() -> Iterator[tuple[str, str, str]]:
    """Where it stands, the expression, and the text that its labels are put into."""
    for panel in panels():
        for target in panel["targets"]:
            yield f"panel {panel['title']}", target["expr"], target["legendFormat"]
    for rule in rules():
        yield f"alert {rule['alert']}", rule["expr"], rule["annotations"]["summary"]


EXPRESSIONS = [pytest.param(*found, id=found[0]) for found in expressions()]


@pytest.mark.parametrize(("where", "expression", "text"), EXPRESSIONS)
def test_names_only_metrics_and_labels_that_exist(where: str, expression: str, text: str) -> None:
    known = set(ALWAYS)
    for name, matchers in SELECTOR.findall(expression):
        metric = named(name)
        assert metric, f"{where}: there is no {name}"
        known |= set(metric.labels)
        wanted = {label for (label,) in (match.groups() for match in MATCHER.finditer(matchers or ""))}
        assert wanted <= {*metric.labels, *ALWAYS}, f"{where}: {name} has no {wanted}"
    grouped = {label.strip() for labels in GROUPING.findall(expression) for label in labels.split(",")}
    assert grouped <= known, f"{where}: no metric in it has {grouped - known}"
    shown = set(LEGEND.findall(text)) - {"value"}
    assert shown <= (grouped or known), f"{where}: {shown} is not in what the expression gives"


def test_a_wrong_name_would_be_noticed() -> None:
    assert named("chorus_requests") is None
    assert named("chorus_batch_size") is None
    assert named("chorus_batch_size_bucket") is not None


def test_every_metric_is_looked_at_somewhere() -> None:
    names = {name for _, text, _ in expressions() for name, _ in SELECTOR.findall(text)}
    looked_at = {metric.name for name in names if (metric := named(name))}
    # How often listeners ran dry is less than how many listeners did.
    assert {metric.name for metric in METRICS} - looked_at == {"chorus_speech_underruns_total"}


def test_the_owners_thresholds_are_kept() -> None:
    """Warning and critical: first byte, queue, errors, GPU, hosts."""
    limits = {rule["alert"]: rule["expr"].split()[-1] for rule in rules()}
    assert (limits["ChorusFirstByteSlow"], limits["ChorusFirstByteVerySlow"]) == ("2", "5")
    assert (limits["ChorusQueueLong"], limits["ChorusQueueVeryLong"]) == ("50", "100")
    assert (limits["ChorusErrors"], limits["ChorusManyErrors"]) == ("0.01", "0.05")
    assert (limits["ChorusManyHosts"], limits["ChorusVeryManyHosts"]) == ("8", "15")
    assert limits["ChorusGpuIdle"] == "0.2"


def test_every_alert_is_explained_to_operators() -> None:
    page = (ROOT / "docs/observability.md").read_text()
    alerts = [rule["alert"] for rule in rules()]
    assert [alert for alert in alerts if f"`{alert}`" not in page] == []


def test_panels_do_not_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        squares = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert max(x for x, _ in squares) < 24
        assert not squares & taken, panel["title"]
        taken |= squares


def test_compose_gives_grafana_and_prometheus_what_they_read() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for name in ("prometheus", "grafana"):
        service = compose[name]
        assert service["profiles"] == ["observability"]
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        mounted = [volume.split(":")[0] for volume in service["volumes"] if volume.startswith("./")]
        assert mounted
        assert all((ROOT / path).is_dir() for path in mounted)
    scraped = yaml.safe_load((RULES.parent / "prometheus.yml").read_text())
    assert scraped["rule_files"] == [RULES.name]
    assert scraped["scrape_configs"][0]["dns_sd_configs"][0]["names"][0] in compose


def promtool(*words: str) -> str:
    done = subprocess.run(["promtool", *words], cwd=RULES.parent, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@needs_promtool
def test_prometheus_reads_the_rules() -> None:
    assert promtool("check", "rules", "--lint=all", "--lint-fatal", RULES.name) == ""


@needs_promtool
def test_alerts_fire_when_they_should_and_not_before() -> None:
    assert promtool("test", "rules", "chorus.rules_test.yml") == ""


@needs_promtool
def test_prometheus_reads_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    texts = [target["expr"].replace("$__rate_interval", "1m") for panel in panels() for target in panel["targets"]]
    records = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(texts)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert promtool("check", "rules", str(tmp_path / "panels.yml")) == ""
