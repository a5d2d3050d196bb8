"""Points grouped by where they lie, so that duplicates are searched once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._native import first_equal
from diffpeaks._validation import n_threads
from diffpeaks.graph import offsets
from diffpeaks.neighbors.contract import Neighbors


class Locations:
    """The distinct locations of some points, and which points lie at each.

    A search finds locations; `points_at` turns them into points. However many points share a
    location, they neither slow the search down nor crowd a point out of its own row. Locations are
    numbered by their first points, so the nearest locations by (distance, index) hold the nearest
    points.
    """

    def __init__(self, members: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        self._members, self._starts = members, starts
        self.counts = np.diff(starts)
        self.n_locations = len(self.counts)
        self.all_distinct = self.n_locations == len(members)

    @classmethod
    def of(cls, points: Any) -> Self:
        """Points grouped by equality; if all differ, each location is its point."""
        members, starts = _grouped(points)
        return cls.each_its_own(len(members)) if len(starts) > len(members) else cls(members, starts)

    @classmethod
    def each_its_own(cls, n_samples: int) -> Self:
        """Every point a location, whether or not others coincide with it."""
        return cls(np.arange(n_samples, dtype=np.int32), np.arange(n_samples + 1))

    @property
    def representatives(self) -> NDArray[np.int32]:
        """One point at each location, the first."""
        return self._members[self._starts[:-1]]

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value of the points at each location."""
        return np.maximum.reduceat(values[self._members], self._starts[:-1])

    def rows_of_points(self, rows: Neighbors) -> Neighbors:
        """Rows of one length for each location as rows for each point."""
        if self.all_distinct:
            return rows
        location = np.empty(len(self._members), np.int64)
        location[self._members] = np.repeat(np.arange(self.n_locations), self.counts)
        width = len(rows.indices) // self.n_locations
        indptr = np.arange(len(location) + 1, dtype=np.int64) * width
        indices, distances = (values.reshape(-1, width)[location].ravel() for values in rows[1:])
        return Neighbors(indptr, indices, distances)

    def points_at(self, rows: Neighbors, most: int | None = None) -> Neighbors:
        """Rows of locations as rows of points, at most the first `most` points of each location."""
        if self.all_distinct:
            return rows
        counts = self.counts[rows.indices]
        if most is not None:
            counts = np.minimum(counts, most)
        ends = offsets(counts)
        positions = np.arange(ends[-1]) + np.repeat(self._starts[rows.indices] - ends[:-1], counts)
        distances = np.repeat(rows.distances, counts)
        return Neighbors(ends[rows.indptr], self._members[positions], distances)


def _grouped(points: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Points ordered by the first point at their location: members, and where each group starts."""
    if sp.issparse(points):
        first = _sparse_first_equal(points)
    else:
        first = np.empty(len(points), np.int32)
        values = points.astype(np.float32) if points.dtype == bool else points
        first_equal(np.ascontiguousarray(values), first, n_threads(None))
    order = np.argsort(first, kind="stable")
    new = np.diff(first[order], prepend=-1) != 0
    return order.astype(np.int32), np.append(np.flatnonzero(new), len(order))


def _sparse_first_equal(points: Any) -> NDArray[np.int32]:
    canonical = points.copy()
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    seen: dict[bytes, int] = {}
    first = np.empty(canonical.shape[0], np.int32)
    for row, (begin, end) in enumerate(zip(canonical.indptr, canonical.indptr[1:], strict=False)):
        key = canonical.indices[begin:end].tobytes() + canonical.data[begin:end].tobytes()
        first[row] = seen.setdefault(key, row)
    return first
