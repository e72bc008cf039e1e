"""What the device at hand can do faster, switched on where it is there and where it sounds the same."""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.speed.selfcheck import self_check
from api.logs import LOGGER

Asked = Literal["auto", "fp32", "int8"]
# Some sounds of every kind, twice over: two to four seconds.
SOUNDS = "ðə bɹˈaʊn fˈɑks, hˌuː ɪz kwˈɪk, ʤˈʌmps ˈoʊvəɹ ə lˈeɪzi dˈɔɡ."
# Another draw of the source's noise is 7 to 8 dB away.
INT8_LIMIT_DB = 1.5
# The machine code computes what torch computes; only the order of its sums is another.
NATIVE_LIMIT_DB = 0.5


def quicken(model: Kokoro, lines: Sequence[Line], precision: Asked = "auto") -> tuple[str, ...]:
    """For as long as the model's weights stay as they are. The lines are what is tried.

    What comes back is what was asked for and cannot be had.
    """
    if model.device.type != "cuda":
        return _quicken_cpu(model, lines, precision)
    from api.engines.kokoro.speed.cuda.quicken import quicken_gpu

    quicken_gpu(model, lines, fewer_bits=precision != "fp32")
    return _not_int8("that is for a CPU", "this GPU's best is taken") if precision == "int8" else ()


def trial_lines(config: Config, style: Tensor) -> list[Line]:
    """Two lines, one of them faster, in some voice's style."""
    ids = config.ids(SOUNDS)
    return [Line(ids, style), Line((*ids[:-1], *ids[1:]), style, 1.1)]


def _quicken_cpu(model: Kokoro, lines: Sequence[Line], precision: Asked) -> tuple[str, ...]:
    try:
        from api.engines.kokoro.speed import snake
    except ImportError:
        LOGGER.info("kokoro: llvmlite is not installed, which would make speech on this CPU twice as fast")
        return _not_int8("llvmlite is not installed") if precision == "int8" else ()
    blocks = [block for block in model.modules() if isinstance(block, SnakeBlock)]
    with snake.sizes_of(blocks) as sizes:
        check = self_check(model, lines)
    lacking: tuple[str, ...] = ()
    if precision == "int8":
        if not snake.can_round_off():
            lacking = _not_int8("this CPU has no instruction for it (AVX512-VNNI)")
        else:
            snake.round_off(blocks, sizes)
            if check.passes("int8", INT8_LIMIT_DB):
                return ()
            lacking = _not_int8("it is heard on these weights")
    snake.quicken(blocks)
    if not check.passes("machine code", NATIVE_LIMIT_DB):
        for block in blocks:
            block.faster = None
    return lacking


def _not_int8(reason: str, instead: str = "fp32 is taken") -> tuple[str, ...]:
    LOGGER.warning("kokoro: int8 is left off: %s; %s", reason, instead)
    return (f"CHORUS_KOKORO__PRECISION is int8, but {reason}: {instead}.",)
