"""What the device at hand can do faster, switched on where it is there and where it sounds the same."""

from collections.abc import Sequence

from torch import Tensor

from api.engines.kokoro.model.blocks import SnakeBlock
from api.engines.kokoro.model.config import Config
from api.engines.kokoro.model.kokoro import Kokoro, Line
from api.engines.kokoro.speed.selfcheck import self_check
from api.logs import LOGGER

# Some sounds of every kind, twice over: two to four seconds.
SOUNDS = "ðə bɹˈaʊn fˈɑks, hˌuː ɪz kwˈɪk, ʤˈʌmps ˈoʊvəɹ ə lˈeɪzi dˈɔɡ."
# The machine code computes what torch computes; only the order of its sums is another.
NATIVE_LIMIT_DB = 0.5


def quicken(model: Kokoro, lines: Sequence[Line]) -> None:
    """For as long as the model's weights stay as they are. The lines are what is tried."""
    if model.device.type == "cuda":
        from api.engines.kokoro.speed.cuda.quicken import quicken_gpu

        quicken_gpu(model, lines)
    else:
        _quicken_cpu(model, lines)


def trial_lines(config: Config, style: Tensor) -> list[Line]:
    """Two lines, one of them faster, in some voice's style."""
    ids = config.ids(SOUNDS)
    return [Line(ids, style), Line((*ids[:-1], *ids[1:]), style, 1.1)]


def _quicken_cpu(model: Kokoro, lines: Sequence[Line]) -> None:
    try:
        from api.engines.kokoro.speed import snake
    except ImportError:
        LOGGER.info("kokoro: llvmlite is not installed, which would make speech on this CPU twice as fast")
        return
    check = self_check(model, lines)
    blocks = [block for block in model.modules() if isinstance(block, SnakeBlock)]
    snake.quicken(blocks)
    if not check.passes("machine code", NATIVE_LIMIT_DB):
        for block in blocks:
            block.faster = None
