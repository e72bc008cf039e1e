"""Where a segment begins and ends there is no step."""

import numpy as np
import pytest

from api.engines.spark.edges import Edges


@pytest.mark.parametrize("sizes", [[1600, 1600], [1, 2, 3, 2000], [64, 64, 64, 64], [5000]])
def test_both_ends_are_faded_and_nothing_is_lost(sizes: list[int]) -> None:
    edges = Edges(16_000)
    made = [edges.through(np.full(size, 20_000, np.int16)) for size in sizes]
    sound = np.concatenate([*made, edges.rest()])
    assert len(sound) == sum(sizes)
    assert sound.dtype == np.int16
    assert abs(int(sound[0])) < 400
    assert abs(int(sound[-1])) < 400
    assert np.abs(np.diff(sound.astype(int))).max() < 400
    assert (sound[64:-64] == 20_000).all()


@pytest.mark.parametrize("size", [0, 1, 50, 127])
def test_the_shortest_are_kept_whole(size: int) -> None:
    edges = Edges(16_000)
    assert len(edges.through(np.full(size, 900, np.int16))) == 0
    assert len(edges.rest()) == size
