"""Kokoro against its reference, which stops at Python 3.12."""

import sys

import pytest

if sys.version_info >= (3, 13):
    pytest.skip("the reference needs Python 3.12 at most", allow_module_level=True)
