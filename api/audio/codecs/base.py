"""What every codec promises."""

from dataclasses import dataclass
from typing import Protocol

from api.types import Samples


@dataclass(frozen=True, slots=True)
class Order:
    """The stream to make. Only a `whole` one can be patched: its reader gets nothing before the end."""

    rate_hz: int
    bit_rate: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """A stream's last bytes. `patches` (offset, bytes) put right, in a whole file, what was not known earlier."""

    data: bytes
    patches: tuple[tuple[int, bytes], ...] = ()


class Codec(Protocol):
    """Fed in order; the same samples give the same bytes, in chunks of whatever size."""

    def encode(self, samples: Samples) -> bytes: ...

    def finish(self) -> Tail: ...

    def close(self) -> None:
        """Give native memory back. Closing twice, or after `finish`, does no harm."""
