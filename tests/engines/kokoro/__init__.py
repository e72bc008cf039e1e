"""Kokoro against its reference; skipped where their libraries are not installed."""

from importlib.util import find_spec

import pytest

if lacking := [name for name in ("torch", "safetensors", "transformers", "kokoro") if find_spec(name) is None]:
    pytest.skip(f"needs {', '.join(lacking)}", allow_module_level=True)
