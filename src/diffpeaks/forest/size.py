"""Hills that are told apart by their rise, less what chance adds to it where hills are large."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks.forest.peaks import PeakForest


def weighed_by_size(
    forest: PeakForest, distinct: NDArray[Any] | slice, size_weight: float, usual_size: float
) -> PeakForest:
    """The forest in which large hills are less prominent: the more samples, the higher the hills of chance.

    Where a hill meets a denser one, both count with all that joined them over higher saddles. The size is
    the number of `distinct` samples of the smaller one. `size_weight` log(size / usual_size) is taken off the
    rise, at most `size_weight`, and nothing up to `usual_size`. No hill is less prominent than one that
    joined it before.
    """
    tops, rank = forest.roots, forest.rank
    number = np.empty(len(rank), np.int32)
    number[tops] = np.arange(len(tops), dtype=np.int32)
    sizes = np.bincount(number[forest.hill[distinct]], minlength=len(tops)).tolist()
    least = [0.0] * len(tops)

    lower = tops[forest.saddle[tops] != NO_POINT]
    lower = lower[np.lexsort((-rank[lower], rank[forest.saddle[lower]]))]  # the highest saddle first
    met = number[forest.hill[forest.crossing[lower]]]
    joined = _Joined(len(tops))
    prominence = forest.prominence.copy()
    for top, hill, other in zip(lower.tolist(), number[lower].tolist(), met.tolist(), strict=True):
        upper = joined.end_of(other)
        excess = np.log(max(1.0, min(sizes[hill], sizes[upper]) / usual_size))
        prominence[top] = max(prominence[top] - size_weight * min(1.0, excess), least[hill])
        joined.to[hill] = upper
        sizes[upper] += sizes[hill]
        least[upper] = max(least[upper], prominence[top])
    return replace(forest, prominence=prominence)


class _Joined:
    """Which hill each hill has joined, itself if none."""

    def __init__(self, n_hills: int) -> None:
        self.to = list(range(n_hills))

    def end_of(self, hill: int) -> int:
        """The hill that it has become a part of."""
        to = self.to
        while to[hill] != hill:
            to[hill] = to[to[hill]]
            hill = to[hill]
        return hill
