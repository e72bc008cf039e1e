"""Fields that clients of other servers send: refused if they ask for something, and harmless if they do not."""

import pytest

from api.routes.schemas import NOT_DONE_HERE
from tests.server import Server


@pytest.mark.parametrize("name", NOT_DONE_HERE)
def test_what_is_not_done_is_refused_by_name(tone: Server, name: str) -> None:
    for value in (True, "x", ["x"], {"a": 1}):
        error = tone.speech(**{name: value}).json()["error"]
        assert (error["code"], error["param"]) == ("unsupported_parameter", name)


def test_defaults_of_other_servers_clients_say_nothing(tone: Server) -> None:
    assert tone.speech(**dict.fromkeys(NOT_DONE_HERE)).status_code == 200
    assert tone.speech(**dict.fromkeys(NOT_DONE_HERE, False)).status_code == 200
