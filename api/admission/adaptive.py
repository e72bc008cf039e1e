"""How many to admit: as many as the slots allow, fewer while streams fall behind what is being played."""

import time

# Late chunks are looked for over this long before anything is changed.
WINDOW_S = 1.0
# One late chunk may be chance; this share of them is a worker that does too much at once.
MOST_LATE = 0.02
SHRINK = 0.85
# After shrinking, wait for the streams that run to feel it.
CALM_S = 3.0


class AdaptiveCap:
    """Slots that shrink by a share when chunks come late, and grow back one by one while none do.

    What counts is whether listeners run dry, not how long anything took: a long text is not an overload.
    """

    def __init__(self, slots: int, *, adaptive: bool) -> None:
        self._slots = slots
        self._adaptive = adaptive
        self._cap = float(slots)
        self._chunks = self._late = 0
        self._looked_at = self._shrunk_at = time.monotonic()

    @property
    def slots(self) -> int:
        return max(1, int(self._cap))

    def chunk(self, *, late: bool) -> None:
        self._chunks += 1
        self._late += late

    def adapt(self, running: int) -> None:
        """Look at the window that is over; called with every beat."""
        now = time.monotonic()
        if not self._adaptive or now - self._looked_at < WINDOW_S:
            return
        late = self._late / self._chunks if self._chunks else 0.0
        self._chunks = self._late = 0
        self._looked_at = now
        if now - self._shrunk_at < CALM_S:
            return
        if late > MOST_LATE:
            self._cap = max(1.0, min(self._cap, running) * SHRINK)
            self._shrunk_at = now
        elif late == 0:
            self._cap = min(self._slots, self._cap + 1)
