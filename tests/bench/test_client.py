"""What is written down about one request, against servers that behave in every way."""

import asyncio
import base64
import json
import struct
from typing import Any

import pytest

from api.bench import Caller, Length, Outcome, Phase, Profile, measure
from tests.bench.stage import Request, Script, Wire, ask, head, sound, stage
from tests.server import free_port

# What a busy machine may add to a time.
SLACK_S = 0.2


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def delta(seconds: float) -> bytes:
    return event("speech.audio.delta", audio=base64.b64encode(sound(seconds)).decode())


def streaming(*steps: float | bytes, **headers: str) -> Script:
    """Chunks, and the pauses between them."""

    async def script(request: Request, wire: Wire) -> None:
        await wire.start(**headers)
        for step in steps:
            await (asyncio.sleep(step) if isinstance(step, float) else wire.piece(step))
        await wire.end()

    return script


class TestTimes:
    async def test_first_byte_first_audio_and_end_are_told_apart(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(0.1)
            await wire.start()
            await asyncio.sleep(0.1)
            await wire.piece(sound(1))
            await asyncio.sleep(0.1)
            await wire.piece(sound(0.5))
            await wire.end()

        record = await ask(script)
        assert record.outcome is Outcome.WHOLE
        assert record.first_byte_s and record.first_audio_s  # noqa: PT018
        begun_s = record.scheduled_s
        assert record.first_byte_s - begun_s == pytest.approx(0.1 + SLACK_S / 2, abs=SLACK_S / 2)
        assert record.first_audio_s - begun_s == pytest.approx(0.2 + SLACK_S / 2, abs=SLACK_S / 2)
        assert record.end_s - begun_s == pytest.approx(0.3 + SLACK_S / 2, abs=SLACK_S / 2)
        assert (record.audio_s, record.bytes, record.stalls) == (1.5, 72_000, 0)

    async def test_a_late_chunk_interrupts_the_listener(self) -> None:
        record = await ask(streaming(sound(0.2), 0.6, sound(1), 0.05, sound(0.1)))
        # 0.2 s of buffer and 0.2 s of sound last 0.4 s.
        assert (record.outcome, record.stalls) == (Outcome.WHOLE, 1)
        assert record.stalled_s == pytest.approx(0.2, abs=0.15)

    async def test_a_buffer_hides_a_late_chunk(self) -> None:
        record = await ask(streaming(sound(0.2), 0.4, sound(1)), buffer_s=1.0)
        assert (record.stalls, record.stalled_s) == (0, 0.0)


class TestSound:
    async def test_pcm_is_counted_at_the_rate_that_it_says(self) -> None:
        record = await ask(streaming(sound(1), x_sample_rate="8000", x_channels="1"))
        assert record.audio_s == 3.0

    async def test_the_header_of_a_wav_is_not_sound(self) -> None:
        header = b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 48_000, 96_000, 2, 16)
        pieces = (header[:20], header[20:] + b"data\xff\xff\xff\xff", 0.15, sound(2), sound(1))
        record = await ask(streaming(*pieces), Caller(format="wav"))
        assert record.audio_s == 1.5
        assert record.first_byte_s and record.first_audio_s  # noqa: PT018
        assert record.first_audio_s - record.first_byte_s > 0.14

    async def test_a_wav_without_a_header_is_all_sound(self) -> None:
        assert (await ask(streaming(sound(1)), Caller(format="wav"))).audio_s == 1.0

    async def test_other_formats_are_counted_in_bytes_only(self) -> None:
        record = await ask(streaming(b"x" * 999), Caller(format="mp3"))
        assert (record.outcome, record.bytes, record.audio_s) == (Outcome.WHOLE, 999, None)
        assert record.good

    async def test_an_answer_without_sound_is_not_whole(self) -> None:
        record = await ask(streaming())
        assert (record.outcome, record.error) == (Outcome.CUT, "no_audio")


class TestEvents:
    SSE = Caller(stream_format="sse")

    async def test_sound_is_what_they_carry(self) -> None:
        stream = b": hello\n\ndata: [DONE]\n\n" + delta(0.5) + delta(0) + delta(0.25) + event("speech.audio.done")
        record = await ask(streaming(stream[:100], stream[100:5000], stream[5000:]), self.SSE)
        assert (record.outcome, record.audio_s) == (Outcome.WHOLE, 0.75)

    async def test_an_error_is_a_cut_even_if_the_wire_ends_well(self) -> None:
        record = await ask(streaming(delta(1), event("speech.audio.error", error={})), self.SSE)
        assert (record.outcome, record.error) == (Outcome.CUT, "error_event")

    async def test_without_a_last_event_they_are_cut(self) -> None:
        record = await ask(streaming(delta(1)), self.SSE)
        assert (record.outcome, record.error) == (Outcome.CUT, "no_done_event")


class TestFailures:
    @pytest.mark.parametrize("end", ["hang_up", "reset"])
    async def test_a_cut_stream_is_cut_and_no_goodput(self, end: str) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.start()
            await wire.piece(sound(1))
            await asyncio.sleep(0.05)
            getattr(wire, end)()

        record = await ask(script)
        assert (record.outcome, record.audio_s, record.good) == (Outcome.CUT, 1.0, False)
        assert record.error in ("closed_by_server", "ConnectionResetError")

    async def test_too_few_bytes_are_a_cut(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.raw(head(200, content_length="48000") + sound(0.5))
            wire.hang_up()

        assert (await ask(script)).outcome is Outcome.CUT

    async def test_an_end_that_nothing_marks_counts_as_cut(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.raw(head(200, connection="close") + sound(0.5))
            wire.hang_up()

        async with stage(script) as here:
            report = await measure(Profile(url=here.url, phases=[Phase(duration_s=0.001, concurrency=1)]))
        assert report.total.outcomes["cut"] == 1
        assert "closed connection" in report.warnings[0]

    async def test_a_refusal_keeps_what_it_said(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.refuse(retry_after="3", retry_after_ms="2500", x_should_retry="true", x_request_id="r1")

        record = await ask(script)
        assert (record.outcome, record.status, record.code) == (Outcome.REFUSED, 503, "queue_full")
        assert (record.retry_after, record.retry_after_ms, record.told_s) == ("3", "2500", 2.5)
        assert (record.should_retry, record.request_id) == ("true", "r1")

    async def test_other_errors_are_failures(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.answer(500, b"not an envelope", x_queue_ms="soon")

        record = await ask(script)
        assert (record.outcome, record.status, record.code, record.queue_ms) == (Outcome.FAILED, 500, None, None)

    @pytest.mark.parametrize("way", ["hang_up", "reset"])
    async def test_no_answer_is_a_loss(self, way: str) -> None:
        async def script(request: Request, wire: Wire) -> None:
            getattr(wire, way)()

        record = await ask(script)
        assert (record.outcome, record.status) == (Outcome.LOST, 0)

    async def test_what_is_not_http_is_a_loss(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.raw(b"220 mail ready\r\n\r\n")

        record = await ask(script)
        assert (record.outcome, record.error) == (Outcome.LOST, "not_http")

    async def test_nobody_listening_is_a_loss(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            here.hang_up()
            wire.hang_up()

        async with stage(script) as here:
            report = await measure(Profile(url=here.url, phases=[Phase(duration_s=0.5, rate=20)]))
        assert report.total.errors.keys() == {"closed_by_server", "ConnectionRefusedError"}

    async def test_a_request_takes_at_most_its_timeout(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await asyncio.sleep(5)

        record = await ask(script, timeout_s=0.2)
        assert (record.outcome, record.error) == (Outcome.LOST, "timeout")
        assert 0.19 < record.end_s - record.scheduled_s < 0.2 + SLACK_S


class TestRequests:
    async def test_say_who_asks_for_what(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            asked.append(request)
            await wire.whole()

        asked: list[Request] = []
        caller = Caller(
            key="secret", priority="batch", model="m", voice="v", format="wav", stream_format="sse",
            tell_deadline=True, extra={"speed": 2},
        )  # fmt: skip
        await ask(script, caller, deadline_s=2.5, texts=(Length(chars=60),))
        fields, headers = asked[0].fields, asked[0].headers
        assert 50 < len(fields.pop("input")) < 70
        assert fields == {"voice": "v", "response_format": "wav", "model": "m", "stream_format": "sse", "speed": 2}
        assert (headers["authorization"], headers["x-chorus-priority"]) == ("Bearer secret", "batch")
        assert headers["x-chorus-deadline-ms"] == "2500"
        assert asked[0].path == "/v1/audio/speech"

    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/audio/speech"])
    async def test_any_form_of_an_address_will_do(self, path: str) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.whole()

        async with stage(script) as here:
            phases = [Phase(duration_s=0.01, concurrency=1)]
            await measure(Profile(url=here.url + "/tts" + path, phases=phases))
            assert {request.path for request in here.requests} == {"/tts/ready", "/tts/v1/audio/speech"}

    async def test_strangers_open_connections_and_keepers_reuse_them(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.whole()

        for keep_alive in (False, True):
            async with stage(script) as here:
                callers = (Caller(keep_alive=keep_alive),)
                await measure(
                    Profile(url=here.url, callers=callers, phases=[Phase(duration_s=0.2, concurrency=2)])
                )
            # One more was for the question whether the server is ready.
            assert here.connections - 1 == (2 if keep_alive else len(here.requests))

    async def test_a_kept_connection_that_the_server_closed_is_not_used_again(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.whole()
            wire.hang_up()

        async with stage(script) as here:
            callers = (Caller(keep_alive=True),)
            report = await measure(Profile(url=here.url, callers=callers, phases=[Phase(duration_s=0.5, rate=20)]))
        assert report.total.outcomes["whole"] == report.total.visits > 2

    async def test_a_server_that_wants_to_close_is_believed(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.answer(200, sound(0.1), connection="close")

        async with stage(script) as here:
            callers = (Caller(keep_alive=True),)
            report = await measure(
                Profile(url=here.url, callers=callers, phases=[Phase(duration_s=0.3, concurrency=2)])
            )
            assert here.connections - 1 == len(here.requests)
        assert report.total.outcomes["whole"] == report.total.visits > 2

    async def test_bytes_that_nobody_asked_for_close_a_kept_connection(self) -> None:
        async def script(request: Request, wire: Wire) -> None:
            await wire.whole()
            await asyncio.sleep(0.02)
            await wire.whole()

        async with stage(script) as here:
            callers = (Caller(keep_alive=True),)
            report = await measure(Profile(url=here.url, callers=callers, phases=[Phase(duration_s=0.5, rate=10)]))
        assert report.total.outcomes["whole"] >= 1


class TestUnreachable:
    async def test_servers_are_told_before_anything_is_measured(self) -> None:
        for url, told in {
            f"http://127.0.0.1:{free_port()}": "Nothing can be reached at 127.0.0.1:",
            "http://nowhere.invalid": "There is no host 'nowhere.invalid'",
        }.items():
            with pytest.raises(Exception, match=told):
                await measure(Profile(url=url, phases=[Phase(duration_s=1, rate=1)]))
