"""What a person, or a log, gets to see."""

import io
import time

import pytest

from api.downloads import Meter
from api.downloads.progress import size


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fetched(out: io.StringIO, pause_s: float = 0.11) -> str:
    meter = Meter(out)
    meter.begin(1_000_000, 200_000)
    for _ in range(2):
        time.sleep(pause_s)
        meter.gained(400_000)
    meter.end()
    return out.getvalue()


def test_a_terminal_has_one_line_drawn_anew() -> None:
    said = fetched(Terminal())
    first, *drawn = said.split("\r")
    assert first == "200 kB of 1 MB are here already\n"
    assert drawn[0].startswith(f"[{'#' * 18:30}]  60% of 1 MB")
    assert " s left" in drawn[0]
    assert drawn[-1].startswith(f"[{'#' * 30}] 100% of 1 MB")
    assert said.count("\n") == 2


def test_a_log_has_plain_lines_and_few(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetched(io.StringIO()) == "200 kB of 1 MB are here already\n"
    monkeypatch.setattr("api.downloads.progress.LINE_EVERY_S", 0.05)
    lines = fetched(io.StringIO()).splitlines()
    assert lines[1].startswith(" 60% of 1 MB")
    assert not any("\r" in line or "#" in line for line in lines)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 kB"), (1200, "1 kB"), (327_212_226, "327 MB"), (2_030_000_000, "2.03 GB")]
)
def test_sizes_are_told_as_hubs_tell_them(count: int, words: str) -> None:
    assert size(count) == words
