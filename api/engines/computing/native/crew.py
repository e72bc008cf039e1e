"""Threads that share a piece of work."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise

import torch
from torch import Tensor


class Crew:
    """As many as torch has been given: it has no part in this work, and its own threads rest meanwhile."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._others = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="compute")

    def space(self, floats: int) -> Tensor:
        """This thread's own room to work in, kept: to be given memory anew takes as long as some of the work."""
        kept: Tensor | None = getattr(self._own, "space", None)
        if kept is None or len(kept) < floats:
            kept = self._own.space = torch.empty(floats)
        return kept

    def share(self, work: Callable[[int, int], None], pieces: int) -> None:
        """`work(first, last)` for all pieces, in as many parts as there are threads."""
        parts = min(torch.get_num_threads(), pieces)
        edges = [pieces * part // parts for part in range(parts + 1)]
        others = [self._others.submit(work, *edge) for edge in pairwise(edges[1:])]
        work(edges[0], edges[1])
        wait(others)
        for other in others:
            other.result()
