"""Decoders that share no code with the encoders: libsndfile's (mpg123, libopus, libFLAC) and FFmpeg's."""

import io
import subprocess
from typing import Any

import imageio_ffmpeg
import numpy as np
import soundfile

from api.types import Samples

DEMUXERS = {"mp3": "mp3", "opus": "ogg", "aac": "aac", "flac": "flac", "wav": "wav"}


class Stream(soundfile.SoundFile):  # type: ignore[misc]
    """A file of unknown length: read to its end, as no one can seek to it."""

    def seekable(self) -> bool:
        return False


def sndfile(data: bytes) -> Samples:
    with Stream(io.BytesIO(data)) as stream:
        blocks: list[Any] = []
        while len(block := stream.read(65_536, dtype="int16")):
            blocks.append(block)
    return np.concatenate([np.zeros(0, np.int16), *blocks])


def ffmpeg(data: bytes, name: str, rate_hz: int) -> Samples:
    """Whatever FFmpeg finds wrong with the data is an error here."""
    # A WAV of unknown length ends, to FFmpeg, in the middle of a block.
    strictly = [] if name == "wav" else ["-xerror"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *strictly, "-f", DEMUXERS[name], "-i", "-"]
    output = ["-f", "s16le", "-ar", str(rate_hz), "-"]
    done = subprocess.run([*command, *output], input=data, capture_output=True, check=False)
    assert not done.stderr, done.stderr.decode()
    return np.frombuffer(done.stdout, np.int16)
