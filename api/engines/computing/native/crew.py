"""Threads that share a piece of work."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise

import torch


class Crew:
    """As many as torch has been given: it has no part in this work, and its own threads rest meanwhile."""

    def __init__(self) -> None:
        self._others = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="compute")

    def share(self, work: Callable[[int, int], None], pieces: int) -> None:
        """`work(first, last)` for all pieces, in as many parts as there are threads."""
        parts = min(torch.get_num_threads(), pieces)
        edges = [pieces * part // parts for part in range(parts + 1)]
        others = [self._others.submit(work, *edge) for edge in pairwise(edges[1:])]
        work(edges[0], edges[1])
        wait(others)
        for other in others:
            other.result()
