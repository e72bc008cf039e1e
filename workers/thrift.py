"""Memory that is free goes back to the system.

The C library keeps what was freed for the next who asks, in an arena for each thread. A whole file of two minutes
of sound leaves some seven megabytes there, now in this arena and now in that one: so a worker that does nothing
wrong grows from hour to hour.
"""

import asyncio
import ctypes
from contextlib import suppress

EVERY_S = 30.0


async def give_back() -> None:
    """For as long as the worker lives. Nothing is done where the C library is another one."""
    with suppress(AttributeError, OSError):
        trim = ctypes.CDLL(None).malloc_trim
        while True:
            await asyncio.sleep(EVERY_S)
            await asyncio.to_thread(trim, 0)
