"""A profile that makes no sense is refused with the reason, before anything is sent."""

from pathlib import Path
from typing import Any

import pytest

from api.bench import Phase, Profile
from api.errors import ChorusError

OPEN = {"rate": 5, "duration_s": 10}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"url": "ftp://host"}, "must begin with http"),
        ({"url": "http://"}, "name a host"),
        ({"phases": []}, "phases: "),
        ({"phases": [{"duration_s": 1}]}, "give one of rate, audio_rate and concurrency"),
        ({"phases": [{"duration_s": 1, "rate": 1, "concurrency": 1}]}, "give one of rate"),
        ({"phases": [{"duration_s": 1, "rate": 50_000}]}, "50,000 requests/s is more than"),
        ({"phases": [{"duration_s": 9999, "rate": 999}]}, "requests are more than the 1,000,000"),
        ({"phases": [{"duration_s": 1, "concurrency": 99_999}]}, "phases.0.concurrency"),
        ({"phases": [OPEN | {"callers": ["who"]}]}, "callers that do not exist: who"),
        ({"callers": [{"name": "a"}, {"name": "a"}]}, "the same name"),
        ({"callers": [{"retry": "always"}]}, "callers.0.retry"),
        ({"callers": [{"key": "two words"}]}, "callers.0.key"),
        ({"texts": [{"seconds": 1, "chars": 15}]}, "seconds or chars"),
        ({"texts": [{"seconds": 5, "up_to_s": 5}]}, "up_to_s must be above"),
        ({"rate": 5}, "rate: Extra inputs"),
    ],
)
def test_nonsense_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ChorusError, match=told):
        Profile.check(**{"url": "http://localhost", "phases": [OPEN], **fields})


def test_a_file_says_the_same_as_the_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'deadline_s = 3\n[[phases]]\nrate = 5\nduration_s = 10\n[[callers]]\nname = "a"\ndeadline_s = 1\n'
    )
    profile = Profile.read(path, url="http://localhost")
    assert profile.phases == (Phase(rate=5, duration_s=10),)
    assert (profile.deadline_s, profile.deadline_of(profile.callers[0]), profile.end_s) == (3, 1, 10)


@pytest.mark.parametrize("text", [None, "= nonsense"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "a.toml"
    if text:
        path.write_text(text)
    with pytest.raises(ChorusError, match=r"a\.toml cannot be read"):
        Profile.read(path)


def test_a_key_is_never_shown() -> None:
    profile = Profile.check(url="http://localhost", phases=[OPEN], callers=[{"key": "sk-secret"}])
    assert "sk-secret" not in repr(profile)
