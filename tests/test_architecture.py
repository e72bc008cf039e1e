"""The shape of the house, where a linter cannot see it."""

import re
import subprocess
import sys

from api.engines.registry import ENGINES
from tests.server import ROOT

# Where an engine may be named: its folder, the registry and the settings; and a library that has an engine's name.
MAY_NAME_ENGINES = (
    "api/engines/registry.py",
    "api/engine_settings.py",
    "api/settings.py",
    "api/engines/espeakng.py",
)


def test_an_engine_is_named_in_the_places_that_adding_one_touches() -> None:
    names = re.compile(rf"\b({'|'.join(ENGINES)})\b")
    strangers = [
        str(path.relative_to(ROOT))
        for room in ("api", "workers")
        for path in (ROOT / room).rglob("*.py")
        if not str(path.relative_to(ROOT)).startswith((*MAY_NAME_ENGINES, *(f"api/engines/{n}/" for n in ENGINES)))
        and names.search(path.read_text())
    ]
    assert strangers == []


def test_an_engine_can_be_asked_what_it_lacks_before_anything_heavy_is_loaded() -> None:
    asks = "import sys; from api.engines.registry import ENGINES, engine_class; [engine_class(n) for n in ENGINES]"
    heavy = {"torch", "transformers", "vllm", "safetensors", "spacy", "misaki", "llvmlite"}
    command = [sys.executable, "-c", f"{asks}; print(*sys.modules)"]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not heavy & {*loaded}


def test_only_settings_reads_the_environment() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "api").rglob("*.py")
        if re.search(r"os\.(environ|getenv)|from os import environ", path.read_text())
    ]
    # The command passes its options on to the server it becomes.
    assert readers == ["api/cli.py", "api/settings.py"]


def test_files_and_functions_stay_small() -> None:
    long = [
        str(path.relative_to(ROOT))
        for room in ("api", "workers")
        for path in (ROOT / room).rglob("*.py")
        if path.read_text().count("\n") > 400
    ]
    assert long == []
