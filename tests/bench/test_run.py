"""Whole runs: nothing is left out, whatever the server does and however many processes ask it."""

import asyncio
import time
from collections import Counter
from pathlib import Path

import pytest

from api.bench import Caller, Length, Outcome, Phase, Profile, drive, fleet, measure, run
from api.errors import ChorusError
from tests.bench.stage import Request, Wire, address, listening, play, stage
from tests.server import Server

SHORT = (Length(seconds=1),)


class TestOpenLoop:
    async def test_requests_that_were_due_during_a_stall_show_it(self) -> None:
        """Coordinated omission: a generator that waits for answers would see one slow request."""
        begun_s = time.monotonic()

        async def script(request: Request, wire: Wire) -> None:
            awake_s = begun_s + 1.2
            await asyncio.sleep(max(0.0, awake_s - time.monotonic()))
            await wire.whole()

        report = await play(script, phases=[Phase(rate=50, duration_s=1)])
        total = report.total
        assert total.visits == pytest.approx(50, abs=20)
        assert (total.first_byte_ms.p50 or 0) > 500
        assert (total.first_byte_ms.p90 or 0) > 900

    async def test_an_event_loop_that_hangs_is_charged_to_nobody_else(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            if not hung:
                hung.append(True)
                time.sleep(0.3)  # noqa: ASYNC251
            await wire.whole()

        hung: list[bool] = []
        report = await play(script, phases=[Phase(rate=100, duration_s=0.6)])
        assert (report.generator.lateness_ms.max or 0) > 150
        assert (report.total.first_byte_ms.max or 0) > 250
        assert "could not keep up" in report.warnings[0]

    async def test_a_late_answer_is_whole_but_no_goodput(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(0.2)
            await wire.whole()

        report = await play(script, phases=[Phase(rate=20, duration_s=0.5)], deadline_s=0.1)
        goodput = report.total.goodput
        assert (goodput.requests, goodput.share, goodput.whole_but_late) == (0, 0.0, report.total.visits)

    async def test_what_cannot_be_sent_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(0.5)
            await wire.whole()

        monkeypatch.setattr(drive, "OPEN_LIMIT", 3)
        report = await play(script, phases=[Phase(rate=50, duration_s=0.4)])
        assert report.total.outcomes["unsent"] == report.total.visits - 3
        assert any("were not sent" in warning for warning in report.warnings)

    async def test_the_last_ones_are_waited_for_with_patience(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(9)

        begun_s = time.monotonic()
        report = await play(script, phases=[Phase(rate=50, duration_s=0.2)], patience_s=0.2)
        assert time.monotonic() - begun_s < 1.5
        assert report.total.errors == {"run_ended": report.total.visits}
        assert not report.interrupted

    async def test_a_stop_reports_what_there_is(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.whole()

        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.4, stop.set)
        async with stage(script) as here:
            report = await measure(Profile(url=here.url, phases=[Phase(rate=50, duration_s=60)]), stop=stop)
        assert report.interrupted
        assert 2 < report.total.visits < 100
        # Rates are those of the time that there was.
        assert report.total.goodput.requests_per_s == pytest.approx(50, rel=0.6)


class TestClosedLoop:
    async def test_as_many_are_under_way_as_there_are_clients(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(0.05)
            await wire.whole(0.5)

        report = await play(script, phases=[Phase(concurrency=4, duration_s=0.6)])
        rate = report.total.goodput.requests_per_s
        assert 4 / 0.3 < rate <= 4 / 0.05
        assert report.total.goodput.audio_s_per_s == pytest.approx(rate / 2, rel=0.01)

    async def test_a_refused_client_does_not_hammer(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.refuse()

        report = await play(script, phases=[Phase(concurrency=2, duration_s=0.5)])
        assert report.total.attempts == 2


class TestProcesses:
    async def test_two_merge_to_what_one_would_have_asked(self, tone: Server) -> None:
        profile = Profile(
            url=tone.url,
            texts=(Length(seconds=1), Length(seconds=3)),
            callers=(Caller(name="a", share=3), Caller(name="b", keep_alive=True)),
            phases=[Phase(rate=80, duration_s=0.5), Phase(concurrency=3, duration_s=0.3)],
        )
        two = await measure(profile, processes=2)
        one = await measure(profile, processes=1)
        open_part = [
            sorted(
                (each.visit, each.caller, each.chars, each.audio_s) for each in report.records if each.phase == 0
            )
            for report in (one, two)
        ]
        assert open_part[0] == open_part[1]
        assert two.total.outcomes["whole"] == two.total.visits > 20
        assert {each.visit.split("/")[1] for each in two.records if each.phase == 1} == {"0", "1", "2"}
        assert (two.generator.processes, two.generator.cpu_s > 0) == (2, True)

    async def test_stop_together(self, tone: Server) -> None:
        stop = asyncio.Event()

        def watch(tally: Counter[str]) -> None:
            if tally["whole"]:
                stop.set()

        profile = Profile(url=tone.url, texts=SHORT, phases=[Phase(rate=20, duration_s=60)])
        report = await measure(profile, processes=2, stop=stop, progress=watch)
        assert report.interrupted
        assert report.total.visits > 2

    async def test_one_that_dies_ends_the_run(self, tone: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.executable", "/bin/false")
        profile = Profile(url=tone.url, phases=[Phase(rate=20, duration_s=5)])
        with pytest.raises(ChorusError, match="ended with exit code 1"):
            await measure(profile, processes=2)

    async def test_one_that_hangs_is_killed(
        self, tone: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deaf = tmp_path / "python"
        deaf.write_text("#!/bin/sh\nexec sleep 60\n")
        deaf.chmod(0o755)
        monkeypatch.setattr("sys.executable", str(deaf))
        monkeypatch.setattr(fleet, "BOOT_DEADLINE_S", 0.2)
        monkeypatch.setattr(fleet, "END_DEADLINE_S", 0.2)
        with pytest.raises(ChorusError, match="did not start"):
            await measure(Profile(url=tone.url, phases=[Phase(rate=20, duration_s=5)]), processes=2)

    async def test_are_bounded(self, tone: Server) -> None:
        with pytest.raises(ChorusError, match="1 to 64"):
            await measure(Profile(url=tone.url, phases=[Phase(rate=1, duration_s=1)]), processes=65)


class TestServers:
    def test_each_format_is_heard_from_a_real_one(self, tone: Server) -> None:
        callers = [
            Caller(name=f"{name}-{kind}", format=name, stream_format=kind)
            for name in ("pcm", "wav", "mp3")
            for kind in ("audio", "sse")
        ]
        report = run(Profile(url=tone.url, callers=callers, texts=SHORT, phases=[Phase(rate=30, duration_s=1)]))
        assert report.total.outcomes["whole"] == report.total.visits
        for record in report.records:
            if record.caller.startswith("mp3"):
                assert (record.audio_s, record.bytes > 1000) == (None, True)
            else:
                assert record.audio_s == pytest.approx(record.asked_audio_s, abs=1)
        assert report.callers["pcm-audio"].goodput.audio_s_per_s
        assert report.total.goodput.audio_s_per_s is None
        assert report.server and report.server["engine"] == "tone"  # noqa: PT018
        assert {each.outcome for each in report.records} == {Outcome.WHOLE}

    @pytest.mark.parametrize(
        ("answer", "said"), [(b"[1]", None), (b"ready!", None), (b'{"engine": "x"}', {"engine": "x"})]
    )
    async def test_others_need_not_say_that_they_are_ready(self, answer: bytes, said: object) -> None:
        async def ready(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            question = await reader.readuntil(b"\r\n\r\n")
            body = answer if question.startswith(b"GET /ready") else b"\0" * 4800
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            await writer.drain()

        async with listening(ready) as server:
            phases = [Phase(concurrency=1, duration_s=0.01)]
            report = await measure(Profile(url=address(server), phases=phases))
        assert report.server == said
        assert report.total.outcomes["whole"] == report.total.visits

    @pytest.mark.parametrize(("silent", "told"), [(False, "no HTTP server"), (True, "does not answer")])
    async def test_what_is_no_http_server_is_told(
        self, silent: bool, told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def mail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not silent:
                writer.write(b"220 mail\r\n")
            await reader.read()

        monkeypatch.setattr("api.bench.runs.PREFLIGHT_S", 0.2)
        async with listening(mail) as server:
            with pytest.raises(ChorusError, match=told):
                await measure(Profile(url=address(server), phases=[Phase(rate=1, duration_s=1)]))
