"""What is tried of Kokoro: some lines, read once, and spoken again and again with the same breath."""

from collections.abc import Sequence
from functools import partial

from api.engines.computing.selfcheck import SelfCheck
from api.engines.kokoro.model.kokoro import Kokoro, Line


def self_check(model: Kokoro, lines: Sequence[Line]) -> SelfCheck:
    return SelfCheck("kokoro", partial(model.speak, model.read(lines), range(len(lines))))
