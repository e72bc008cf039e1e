"""Kokoro's files on the hub."""

from api.engines.published import Published

KOKORO = Published(
    name="kokoro",
    repository="hexgrad/Kokoro-82M",
    about="Kokoro-82M v1.0: 54 voices, 9 languages",
    files=("config.json", "kokoro-v1_0.pth"),
    voices="voices/*.pt",
    sha256={"kokoro-v1_0.pth": "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4"},
)
KOKORO_ZH = Published(
    name="kokoro-v1.1-zh",
    repository="hexgrad/Kokoro-82M-v1.1-zh",
    about="Kokoro-82M v1.1: about a hundred Chinese voices and three English ones",
    files=("config.json", "kokoro-v1_1-zh.pth"),
    voices="voices/*.pt",
)
