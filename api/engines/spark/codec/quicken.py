"""What the device at hand can do faster, switched on where it is there and where it sounds the same."""

import torch

from api.engines.computing.precision import compute_exactly
from api.engines.computing.selfcheck import SelfCheck
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.trial import Trial
from api.engines.spark.codec.wave import WaveGenerator
from api.logs import LOGGER

# The machine code computes what torch computes; only the order of its sums is another.
NATIVE_LIMIT_DB = 0.5
# What is tried is so long, and a little shorter: three quarters of a second.
TOKENS = 40


def quicken(codec: BiCodec) -> None:
    """What computes the same. For as long as the decoder's weights stay as they are."""
    compute_exactly()
    if codec.device.type == "cuda":
        from api.engines.spark.codec.cuda.quicken import fuse

        fuse(codec, self_check(codec))
    else:
        _quicken_cpu(codec)


def quicken_further(codec: BiCodec) -> None:
    """When the context is known: fewer bits would hide how little of it matters, and records have its size."""
    if codec.device.type == "cuda":
        from api.engines.spark.codec.cuda.quicken import lower
        from api.engines.spark.codec.cuda.recorded import recorded

        lower(codec, self_check(codec))
        codec.faster = recorded(codec)


def self_check(codec: BiCodec) -> SelfCheck:
    spoken = [Trial.drawn(codec, seed).spoken(TOKENS - seed) for seed in range(2)]
    return SelfCheck("bicodec", lambda: codec.decode(spoken))


def _quicken_cpu(codec: BiCodec) -> None:
    try:
        from api.engines.spark.codec.native import NativeWave
    except ImportError:
        LOGGER.info("bicodec: llvmlite is not installed, which would make decoding on this CPU twice as fast")
        return
    check, plain = self_check(codec), codec.wave
    with torch.inference_mode():
        assert isinstance(plain, WaveGenerator)
        codec.wave = NativeWave(plain)
    if not check.passes("machine code", NATIVE_LIMIT_DB):
        codec.wave = plain
