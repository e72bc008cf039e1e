"""The moment at which whatever a worker is still doing has to end."""

import asyncio

from api.errors import ChorusError


class Curfew:
    """Falls once. Everything that runs for a caller ends then, and tells the caller why."""

    def __init__(self) -> None:
        self._fallen: asyncio.Future[ChorusError] | None = None

    @property
    def fallen(self) -> asyncio.Future[ChorusError]:
        """To be waited for beside the work; its result is what to tell."""
        if self._fallen is None:
            self._fallen = asyncio.get_running_loop().create_future()
        return self._fallen

    def fall(self, reason: ChorusError) -> None:
        if not self.fallen.done():
            self.fallen.set_result(reason)
