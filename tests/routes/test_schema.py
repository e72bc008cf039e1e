"""The served OpenAPI document against the server: no 5xx, and no answer that it does not foretell."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import Server

KEY = "a-secret"
CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "unsupported_method"),
    *("response_schema_conformance", "response_headers_conformance"),
)


@pytest.fixture(scope="module")
def locked() -> Iterator[Server]:
    with Server(ENGINE="tone", AUTH__KEYS=f"one:{KEY}") as server:
        yield server


@pytest.mark.parametrize(
    ("key", "phases", "least"),
    [
        pytest.param(None, "examples,coverage,fuzzing", 1000, id="no key"),
        # It is looked at where no key is: what else is wrong with such a request makes no difference.
        pytest.param("not-a-key", "fuzzing", 50, id="a wrong key"),
        pytest.param(KEY, "examples,coverage,fuzzing", 1000, id="a key"),
    ],
)
def test_every_answer_is_foretold(
    locked: Server, key: str | None, phases: str, least: int, times: int, tmp_path: Path
) -> None:
    """Schemathesis makes requests of the document, right ones and wrong ones, always the same."""
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "run", f"{locked.url}/openapi.json", "--no-color"),
            *("--phases", phases, "--mode", "all", "--generation-deterministic"),
            *("--max-examples", str(6 * times), "--checks", ",".join(CHECKS)),
            *(("--header", f"Authorization: Bearer {key}") if key else ()),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert passed, done.stdout
    assert passed[1] == passed[2]
    assert int(passed[1]) > least
