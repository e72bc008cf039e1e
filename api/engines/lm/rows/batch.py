"""Who is in the running batch, who waits for a slot, and what is computed next."""

from collections.abc import Iterator
from heapq import heappop, heappush

from api.engines.lm.rows.row import Row, Span


class Batch:
    """Not thread safe: it belongs to the runtime's thread."""

    def __init__(self, slots: int, chunk: int, readers: int = 1) -> None:
        """A step reads `chunk` tokens of so many prompts: speakers wait no longer than for those."""
        self._free = list(range(slots - 1, -1, -1))
        self._chunk = chunk
        self._readers = readers
        self._waiting: list[tuple[tuple[bool, int], Row]] = []
        self.rows: list[Row] = []

    @property
    def is_idle(self) -> bool:
        return not self.rows and not self._waiting

    def add(self, row: Row) -> None:
        heappush(self._waiting, (row.rank, row))

    def remove(self, row: Row) -> None:
        """Its slot is free for the next one at once."""
        self.rows.remove(row)
        self._free.append(row.slot)

    def next_step(self) -> list[Span]:
        """Who has left goes, for whom there is a slot comes; then a token each, or a piece of a prompt."""
        for row in [row for row in self.rows if row.has_left]:
            self.remove(row)
        while self._free and self._waiting:
            _, row = heappop(self._waiting)
            if not row.has_left:
                row.slot = self._free.pop()
                self.rows.append(row)
        return list(self._spans())

    def everybody(self) -> list[Row]:
        """Inside and waiting."""
        return [*self.rows, *(row for _, row in self._waiting)]

    def _spans(self) -> Iterator[Span]:
        readers = sorted((row for row in self.rows if row.reads), key=lambda row: row.rank)[: self._readers]
        yield from (row.span(self._chunk) for row in self.rows if not row.reads or row in readers)
