"""Exact search in any metric: blocks of queries against all distinct locations of the points."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import keep_nearest
from diffpeaks._validation import check_graph_size
from diffpeaks.graph import offsets
from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.contract import (
    ROUNDING,
    ExactSearch,
    Neighbors,
    Space,
    at_most,
    concatenated,
    first_of_rows,
)

_BLOCK_ENTRIES = 1 << 23  # of all threads together
_SUBSET = 16  # columns looked at for each neighbour wanted, to bound how far the last one is


class BruteSearch(ExactSearch):
    """Holds the contract for every metric, dense and sparse.

    Whatever cannot be proved farther than the last neighbour, given the rounding error of the
    block, is a candidate; the final distances decide among candidates.
    """

    name = "brute"

    def __init__(self, space: Space, n_threads: int, block_entries: int = _BLOCK_ENTRIES) -> None:
        self.space, self.n_threads = space, n_threads
        self._block_entries = min(block_entries, _BLOCK_ENTRIES)
        self._locations = space.locations()
        distinct = self._locations.all_distinct
        self._distinct = space if distinct else space.restricted(self._locations.representatives)

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        n_locations = self._locations.n_locations
        n_nearest = min(n_neighbors, n_locations)
        # the n-th smallest of every stride-th column bounds the n-th smallest of all
        stride = max(1, n_locations // (_SUBSET * n_nearest))

        def select(block: Any) -> Neighbors:
            values, slack = self._distinct.block(block)
            subset = np.partition(values[:, ::stride], n_nearest - 1, axis=1)
            near = values <= subset[:, n_nearest - 1 : n_nearest] + 2 * slack
            rows = _kept_nearest(_candidates(values, near), slack, n_nearest)
            rows = self.space.settle(block, self._locations.points_at(rows, n_neighbors), 1)
            return first_of_rows(rows, n_neighbors)

        return self._in_blocks(queries, select)

    def within(self, queries: Any, radius: float) -> Neighbors:
        return self._at_most(self._distinct, queries, np.broadcast_to(radius, self.space.points.shape[0]))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> Neighbors:
        return self._at_most(self._distinct.reversed(), queries, reach)

    def _at_most(self, distinct: Space, queries: Any, reach: NDArray[Any]) -> Neighbors:
        farthest = self._locations.largest(reach.astype(np.float64))
        limit = self.space.limit(farthest) * (1 + ROUNDING[self.space.dtype])

        def select(block: Any) -> Neighbors:
            values, slack = distinct.block(block)
            rows = self._locations.points_at(_candidates(values, values <= limit + slack))
            rows = self.space.settle(block, rows, 1)
            return at_most(rows, reach[rows.indices])

        return self._in_blocks(queries, select)

    def _in_blocks(self, queries: Any, select: Callable[[Any], Neighbors]) -> Neighbors:
        n_queries = queries.shape[0]
        step = max(1, self._block_entries // (self.n_threads * self._locations.n_locations))
        blocks = [queries[first : first + step] for first in range(0, n_queries, step)]
        parts: list[Neighbors] = []
        n_entries = 0
        # one thread a block; the product inside it must not start threads of its own
        with ONE_BLAS_THREAD, ThreadPoolExecutor(self.n_threads) as pool:
            for part in pool.map(select, blocks):
                n_entries += len(part.indices)
                check_graph_size(n_queries, n_entries)
                parts.append(part)
        return concatenated(parts)


def _candidates(values: NDArray[Any], near: NDArray[np.bool_]) -> Neighbors:
    """The marked entries of a block as rows."""
    marked = np.flatnonzero(near.ravel())
    indices = (marked % values.shape[1]).astype(np.int32)
    return Neighbors(offsets(near.sum(axis=1)), indices, values.ravel()[marked])


def _kept_nearest(rows: Neighbors, slack: Any, n_nearest: int) -> Neighbors:
    """Rows without the entries that are proved to lie behind the `n_nearest` nearest."""
    n_rows = len(rows.indptr) - 1
    kept = np.empty(n_rows, np.int64)
    row_slack = np.array(np.broadcast_to(np.ravel(slack), n_rows), np.float64)
    keep_nearest(rows.indptr, rows.indices, rows.distances, row_slack, n_nearest, kept)
    last = np.repeat(rows.indptr[:-1] + kept, np.diff(rows.indptr))
    inside = np.arange(len(rows.indices)) < last
    return Neighbors(offsets(kept), rows.indices[inside], rows.distances[inside])
