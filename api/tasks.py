"""Tasks that must end."""

import asyncio
from typing import Any

PATIENCE_S = 0.2


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until they are done, and say nothing of how they ended.

    Once is not always enough: a library that cancels its own waiting when a timeout falls due may take our
    cancellation, if it comes in the same moment, for its own.
    """
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=PATIENCE_S)
    await asyncio.gather(*tasks, return_exceptions=True)
