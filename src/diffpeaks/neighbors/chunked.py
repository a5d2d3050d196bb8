"""A search over the points in chunks, one after the other, so that what it holds of them stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import sort_rows
from diffpeaks.graph import offsets
from diffpeaks.neighbors.contract import ExactSearch, Neighbors, Search, Space, first_of_rows


class ChunkedSearch(ExactSearch):
    """Exact where the search of a chunk is: what is nearest of all is nearest in its chunk."""

    def __init__(self, space: Space, n_threads: int, search: type[Search], chunk_size: int) -> None:
        self.space, self.n_threads, self.name = space, n_threads, search.name
        self._search, self._chunk_size = search, chunk_size

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        def ask(search: Search, chunk: slice) -> Neighbors:
            return search.nearest(queries, min(n_neighbors, len(search.space.points)))

        rows = self._merged(ask, n_neighbors)
        return first_of_rows(rows, n_neighbors)

    def within(self, queries: Any, radius: float) -> Neighbors:
        return self._merged(lambda search, chunk: search.within(queries, radius), None)

    def reaching(self, queries: Any, reach: NDArray[Any]) -> Neighbors:
        return self._merged(lambda search, chunk: search.reaching(queries, reach[chunk]), None)

    def _merged(self, ask: Callable[[Search, slice], Neighbors], most: int | None) -> Neighbors:
        """The answers of all chunks as one, at most `most` in a row."""
        merged: Neighbors | None = None
        for chunk in self._chunks():
            search = self._search(self.space.restricted(chunk), self.n_threads)
            rows = ask(search, chunk)
            rows = rows._replace(indices=rows.indices + np.int32(chunk.start))
            merged = rows if merged is None else _joined(merged, rows, most, self.n_threads)
        assert merged is not None  # there is at least one point
        return merged

    def _chunks(self) -> Iterator[slice]:
        n_points = self.space.points.shape[0]
        for first in range(0, n_points, self._chunk_size):
            yield slice(first, min(first + self._chunk_size, n_points))


def _joined(first: Neighbors, second: Neighbors, most: int | None, n_threads: int) -> Neighbors:
    """Rows that hold what both hold, in the order (distance, index)."""
    lengths = np.diff(first.indptr), np.diff(second.indptr)
    indptr = offsets(lengths[0] + lengths[1])
    indices = np.empty(indptr[-1], np.int32)
    distances = np.empty(indptr[-1], first.distances.dtype)
    from_second = np.repeat(np.tile([False, True], len(lengths[0])), np.stack(lengths, axis=1).ravel())
    for which, rows in ((~from_second, first), (from_second, second)):
        indices[which], distances[which] = rows.indices, rows.distances
    sort_rows(indptr, indices, distances, n_threads)
    rows = Neighbors(indptr, indices, distances)
    enough = most is not None and int(np.diff(indptr).min(initial=most)) >= most
    return first_of_rows(rows, most) if enough and most is not None else rows
