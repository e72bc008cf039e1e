"""The GPU's ways, each tried on the weights that were loaded before it is taken."""

import importlib.util
from collections.abc import Callable

from torch import nn

from api.engines.computing.precision import Precision, lower_to_what_passes, lowered
from api.engines.computing.selfcheck import SelfCheck
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.wave import Bend, Snake, Stretch, WaveGenerator, bent

# The kernel computes what torch computes; only the order of its sums is another.
FUSED_LIMIT_DB = 0.5
# As for every vocoder here: below it nobody has told one from the other.
PRECISION_LIMIT_DB = 1.5


def fuse(codec: BiCodec, check: SelfCheck, bend: Bend | None = None) -> None:
    """The snake as one kernel, where Triton is there to make it."""
    if bend is None:
        if importlib.util.find_spec("triton") is None:
            return
        from api.engines.spark.codec.cuda.snake import bent_at_once

        bend = bent_at_once
    snakes = [module for module in codec.wave.modules() if isinstance(module, Snake)]
    for snake in snakes:
        snake.bend = bend
    if not check.passes("the snake as one kernel", FUSED_LIMIT_DB):
        for snake in snakes:
            snake.bend = bent


def lower(codec: BiCodec, check: SelfCheck) -> None:
    """The wave generator alone: what comes before it is 7 % of the work."""

    def take(precision: Precision) -> Callable[[], None]:
        codec.precision = precision
        return lowered(convolutions(codec.wave), precision)

    lower_to_what_passes(take, check, PRECISION_LIMIT_DB)


def convolutions(wave: nn.Module) -> list[nn.Module]:
    """All but the last, whose output is what is heard."""
    assert isinstance(wave, WaveGenerator)
    stretches = [module for module in wave.stretches if isinstance(module, Stretch)]
    units = [unit for stretch in stretches for unit in stretch.units]
    return [wave.first, *(stretch.up for stretch in stretches), *(c for u in units for c in (u.conv1, u.conv2))]
