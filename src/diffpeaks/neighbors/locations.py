"""Points grouped by where they lie, so that duplicates are searched once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks.graph import offsets
from diffpeaks.neighbors.contract import Neighbors

_LEXSORT_FEATURES = 16  # beyond, one comparison of whole rows is faster than a pass for each feature


class Locations:
    """The distinct locations of some points, and which points lie at each.

    A search finds locations; `points_at` turns them into points. However many points share a
    location, they neither slow the search down nor crowd a point out of its own row.
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
    """Points ordered by location, ascending inside a group: members, and where each group starts."""
    if sp.issparse(points):
        group = _sparse_groups(points)
        order = np.argsort(group, kind="stable")
        new = np.diff(group[order], prepend=-1) != 0
    else:
        rows = points if points.shape[1] <= _LEXSORT_FEATURES else _as_bytes(points)
        order = np.lexsort(rows.T[::-1]) if rows.ndim == 2 else np.argsort(rows, kind="stable")
        ordered = rows[order]
        differs = ordered[1:] != ordered[:-1]
        new = np.append(True, differs.any(axis=1) if rows.ndim == 2 else differs)
    return order.astype(np.int32), np.append(np.flatnonzero(new), len(order))


def _as_bytes(points: NDArray[Any]) -> NDArray[Any]:
    """Each row as one value that compares as a whole; adding zero turns -0.0 into 0.0."""
    rows = np.ascontiguousarray(points + points.dtype.type(0))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _sparse_groups(points: Any) -> NDArray[np.int64]:
    canonical = points.copy()
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    seen: dict[bytes, int] = {}
    group = np.empty(canonical.shape[0], np.int64)
    for row, (begin, end) in enumerate(zip(canonical.indptr, canonical.indptr[1:], strict=False)):
        key = canonical.indices[begin:end].tobytes() + canonical.data[begin:end].tobytes()
        group[row] = seen.setdefault(key, len(seen))
    return group
