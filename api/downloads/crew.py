"""Several files at once: a voice takes the hub longer to answer for than to send."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from api.downloads.fetch import Stopped
from api.downloads.hub import HubFile

HANDS = 4


def fetch_all(files: Iterable[HubFile], fetch: Callable[[HubFile], None], stop: threading.Event) -> None:
    """Returns when all are there; the first failure, or a person's interruption, stops the others."""
    with ThreadPoolExecutor(HANDS) as hands:
        try:
            for one in as_completed([hands.submit(fetch, file) for file in files]):
                one.result()
        except Stopped:
            pass
        except BaseException:
            stop.set()
            hands.shutdown(wait=False, cancel_futures=True)
            raise
