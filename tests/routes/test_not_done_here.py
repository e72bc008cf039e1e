"""Fields that clients of other servers send: refused if they ask for something, and harmless if they do not."""

import pytest

from api.routes.schemas import NOT_DONE_HERE, SpeechRequest
from tests.server import Server


@pytest.mark.parametrize("name", [name for name in NOT_DONE_HERE if name not in SpeechRequest.model_fields])
def test_what_is_not_done_is_refused_by_name(tone: Server, name: str) -> None:
    for value in (True, "x", ["x"], {"a": 1}):
        error = tone.speech(**{name: value}).json()["error"]
        assert (error["code"], error["param"]) == ("unsupported_parameter", name)


def test_defaults_of_other_servers_clients_say_nothing(tone: Server) -> None:
    assert tone.speech(**dict.fromkeys(NOT_DONE_HERE)).status_code == 200
    others = [name for name in NOT_DONE_HERE if name not in SpeechRequest.model_fields]
    assert tone.speech(**dict.fromkeys(others, False)).status_code == 200
