"""Exact neighbours of a sample of the points: what share of them a search finds, and how certain that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLE = 512  # queries: a rule is fitted to one half of them and measured on the other
MARGIN = 0.2  # of what may be missed: kept back for the error of the sample
RELAXED = (0.0, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0)  # shares by which a rule that finds too little grows
_UNSEEN = 3.0  # neighbours missed where none is seen to be: at most, with 95% confidence


def drawn_points(counts: NDArray[np.int64], n_drawn: int = SAMPLE) -> NDArray[np.int64]:
    """Some of the points, as locations, at each of which so many points lie.

    It is another draw than those that cells and directions were fitted to: these points are found better.
    """
    chosen = np.random.RandomState(1).choice(counts.sum(), n_drawn, replace=False)
    return np.searchsorted(np.cumsum(counts), np.sort(chosen), side="right")


class Truth(NamedTuple):
    """Some of the points as queries, with their exact neighbours.

    Neighbours are locations, and a location stands for all points there.
    """

    which: NDArray[np.int64]  # of the points
    neighbors: NDArray[np.int32]  # without the location of the query itself
    n_points: NDArray[np.int64]  # that each neighbour adds to the row of the query
    n_beside: NDArray[np.int64]  # other points where the query is, which are always found

    @classmethod
    def of(cls, which: NDArray[np.int64], rows: NDArray[np.int32], counts: NDArray[np.int64]) -> Truth:
        """From the nearest locations, the own one first, at each of which so many points lie."""
        held = np.minimum(np.cumsum(counts[rows], axis=1), rows.shape[1])
        return cls(which, rows[:, 1:], np.diff(held, axis=1), held[:, 0] - 1)

    def halves(self) -> tuple[Truth, Truth]:
        """Every other query, and those between them."""
        return self._every_second(0), self._every_second(1)

    def _every_second(self, first: int) -> Truth:
        kept = np.arange(first, len(self.which), 2)
        return Truth(self.which[kept], self.neighbors[kept], self.n_points[kept], self.n_beside[kept])

    def estimate(self, rows: NDArray[np.int32]) -> tuple[float, float]:
        """The mean share of neighbours that the rows of queries hold, and half of its 95% interval."""
        shares = self.recall(rows)
        spread = 1.96 * np.std(shares) / np.sqrt(len(shares))
        unseen = _UNSEEN / (len(shares) * self.neighbors.shape[1])
        return float(np.mean(shares)), float(max(spread, unseen))

    def recall(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """The share of each query's neighbours that its row holds, the query itself not counted."""
        n_found = np.sum(self.n_points, axis=1, where=self.places(rows) < rows.shape[1])
        return (n_found + self.n_beside) / (np.sum(self.n_points, axis=1) + self.n_beside)

    def places(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Where each neighbour stands in the row of its query, or behind its end."""
        n_rows, length = rows.shape
        first = np.arange(n_rows)[:, None] << 32
        entries, wanted = (rows + first).ravel(), self.neighbors + first
        order = np.argsort(entries)
        at = order[np.minimum(np.searchsorted(entries, wanted, sorter=order), len(order) - 1)]
        return np.where(entries[at] == wanted, at % length, length)
