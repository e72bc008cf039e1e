"""By when somebody's next sound is due, as far as the order of work goes."""

import time
from math import inf

from api.types import Run

# A first sound that comes so late is still in time: a gap in what is being heard is worse.
IN_TIME_S = 0.3


class Turn:
    """One request's. Set `heard` when the first of its sound is there."""

    def __init__(self, run: Run) -> None:
        self.heard = False
        self._run = run
        self._began = time.monotonic()

    def patience_s(self) -> float:
        """As long as the listener's; but who has heard nothing is late from a fixed moment on.

        Were a first sound always due now, those who have run dry would go before it for as long as there are any.
        """
        patience_s = self._run.patience_s()
        if patience_s < inf and not self.heard and self._run.first_sound_at is None:
            return self._began + IN_TIME_S - time.monotonic()
        return patience_s
