"""`chorus bench`, as a person types it."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api import cli
from api.bench import Caller, Profile, Report, measure, render
from tests.bench.stage import Request, Wire, play, stage
from tests.bench.test_retries import refusing
from tests.server import Server


def bench(*words: str) -> Result:
    return CliRunner().invoke(cli.cli, ["bench", *words])


def shape(value: Any) -> Any:
    """The names in a report, without its numbers."""
    return {name: shape(each) for name, each in value.items()} if isinstance(value, dict) else None


PERCENTILES = dict.fromkeys(("count", "p50", "p90", "p95", "p99", "max"))
OUTCOMES = dict.fromkeys(("whole", "cut", "refused", "failed", "lost", "unsent"))
SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("visits", "attempts", "offered_per_s", "offered_audio_s_per_s", "answered_per_s")),
    **dict.fromkeys(("served", "served_share")),
    "outcomes": OUTCOMES,
    "statuses": {"200": None},
    "codes": {},
    "errors": {},
    "goodput": dict.fromkeys(("requests", "share", "requests_per_s", "audio_s_per_s", "whole_but_late")),
    **dict.fromkeys(("first_byte_ms", "first_audio_ms", "whole_ms", "queue_ms", "refusal_ms"), PERCENTILES),
    "retry_after": {"refusals": None, "valid": None, "problems": {}, "seconds": {}},
    "returned": dict.fromkeys(("returns", "got_in", "got_in_share", "wait_error")),
    "listening": dict.fromkeys(("streams", "stalled", "stalled_share", "stalls", "stalled_s")),
}


class TestReports:
    def test_are_a_table_and_json_of_a_shape_that_stays(self, tone: Server, tmp_path: Path) -> None:
        path, records = tmp_path / "a.json", tmp_path / "a.jsonl"
        words = ("--rate", "20", "--duration", "1", "--text-seconds", "1,2-4", "--key", "sk-secret")
        done = bench(tone.url, *words, "--json", str(path), "--records", str(records))
        assert done.exit_code == 0, done.output
        for label in ("offered", "goodput", "first byte", "first audio", "listeners interrupted", "generator"):
            assert f"\n{label} " in f"\n{done.stdout}"
        report = json.loads(path.read_text())
        assert shape(report["total"]) == SUMMARY
        assert shape(report["callers"]) == {"caller": SUMMARY}
        assert [shape(phase) for phase in report["phases"]] == [SUMMARY]
        assert (report["format_version"], report["server"]["engine"]) == (1, "tone")
        assert {"command", "chorus", "machine", "profile", "interrupted", "generator", "warnings"} < report.keys()
        assert len(records.read_text().splitlines()) == report["total"]["attempts"]
        assert "sk-secret" not in path.read_text() + records.read_text() + done.output

    def test_never_repeat_a_text(self, tone: Server, tmp_path: Path) -> None:
        path, records = tmp_path / "a.json", tmp_path / "a.jsonl"
        done = bench(
            tone.url, "--concurrency", "2", "--duration", "0.2", "--json", str(path), "--records", str(records)
        )
        written = path.read_text() + records.read_text() + done.output
        assert not any(word in written for word in ("traveller", "neighbour", "remembered", "lantern", "harbour"))

    async def test_show_what_went_wrong(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await refuse_once(request, wire)

        refuse_once = refusing(1, retry_after="1", retry_after_ms="30")
        table = render(await _two_callers(script))
        for words in (
            "attempts", "per request", "refused", "queue_full", "1 to 1 s", "100.0 % valid", "got in", "by caller",
            "by phase", "in queue", "wait error",
        ):  # fmt: skip
            assert words in table.replace("came back", "got in"), words
        assert max(map(len, table.splitlines())) < 115

    async def test_show_problems_of_promises_and_of_runs(self) -> None:
        report = await play(refusing(9, retry_after="99"), phases=[{"rate": 20, "duration_s": 0.3}])
        table = render(report)
        assert "out of range" in table
        assert "0.0 % valid" in table


async def _two_callers(script: Any) -> Report:
    async def queued(request: Request, wire: Wire) -> None:
        answer = wire.whole
        wire.whole = lambda seconds=0.1: wire.answer(200, b"\0" * 4800, x_queue_ms="7")  # type: ignore[method-assign]
        await script(request, wire)
        wire.whole = answer  # type: ignore[method-assign]

    phases = [{"rate": 20, "duration_s": 0.3}, {"rate": 40, "duration_s": 0.3}]
    callers = (Caller(name="a", retry="told"), Caller(name="b", retry="sdk"))
    async with stage(queued) as here:
        return await measure(Profile.check(url=here.url, callers=callers, phases=phases))


class TestProfiles:
    def test_replace_the_options(self, tone: Server, tmp_path: Path) -> None:
        path = tmp_path / "day.toml"
        path.write_text(
            "[[texts]]\nseconds = 1\n[[phases]]\nrate = 20\nduration_s = 0.5\n"
            "[[phases]]\nconcurrency = 2\nduration_s = 0.5\n"
            '[[callers]]\nname = "day"\n[[callers]]\nname = "night"\nstream_format = "sse"\n'
        )
        done = bench(tone.url, "--profile", str(path), "--processes", "1")
        assert done.exit_code == 0, done.output
        assert "by phase" in done.output
        assert "night" in done.output


class TestMistakes:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--rate", "1e9"), "that make sense"),
            (("--text-seconds", "long"), "texts.0.seconds"),
            (("--processes", "many"), "a number, or auto"),
            (("--rate", "5", "--concurrency", "5"), "give one of"),
        ],
    )
    def test_are_told(self, words: tuple[str, ...], told: str) -> None:
        done = bench("http://127.0.0.1:1", *words)
        assert done.exit_code != 0
        assert told in f"{done.output}{done.exception}"


def test_ctrl_c_ends_the_run_and_reports(tone: Server) -> None:
    """A person at a terminal: progress is a line of its own, the report comes after it."""
    words = "--rate 20 --duration 60 --processes 2 --text-seconds 1"
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from api.cli import main; main()", "bench", tone.url, *words.split()],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    deadline_s = time.monotonic() + 20
    while b"whole" not in shown and time.monotonic() < deadline_s:
        shown += os.read(screen, 4096)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    os.close(screen)
    assert process.returncode == 0
    assert "of 60 s" in shown.decode()
    assert "The run was interrupted" in output
    assert "first audio" in output
