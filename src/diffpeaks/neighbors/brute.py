"""Exact search in any metric: blocks of queries against all distinct locations of the points."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from diffpeaks._validation import check_graph_size
from diffpeaks.graph import offsets
from diffpeaks.neighbors.contract import ROUNDING, Neighbors, Space, at_most, concatenated, first_of_rows
from diffpeaks.neighbors.locations import Locations
from diffpeaks.neighbors.spaces import MatrixSpace

_BLOCK_ENTRIES = 1 << 23  # of all threads together


class _OneBlasThread:
    """Keeps BLAS to one thread as long as any search needs it.

    The limit belongs to the process: searches that overlap share it, and the last one lifts it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_users += 1
            if self._n_users == 1:
                self._limit = threadpool_limits(1, "blas")

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


class BruteSearch:
    """Holds the contract for every metric, dense and sparse.

    Whatever cannot be proved farther than the last neighbour, given the rounding error of the
    block, is a candidate; the final distances decide among candidates.
    """

    name = "brute"

    def __init__(self, space: Space, n_threads: int) -> None:
        self.space, self.n_threads = space, n_threads
        if isinstance(space, MatrixSpace):
            self._locations = Locations.each_its_own(len(space.points))
        else:
            self._locations = Locations.of(space.points)
        distinct = self._locations.all_distinct
        self._distinct = space if distinct else space.restricted(self._locations.representatives)

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        last_column = min(n_neighbors, self._locations.n_locations) - 1

        def select(block: Any) -> Neighbors:
            values, slack = self._distinct.block(block)
            last = np.partition(values, last_column, axis=1)[:, last_column : last_column + 1]
            rows = self._settled(block, values, values <= last + 2 * slack, n_neighbors)
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
            rows = self._settled(block, values, values <= limit + slack)
            return at_most(rows, reach[rows.indices])

        return self._in_blocks(queries, select)

    def _settled(
        self, block: Any, values: NDArray[Any], near: NDArray[np.bool_], most: int | None = None
    ) -> Neighbors:
        """The candidates of each query with their final distances."""
        indptr = offsets(near.sum(axis=1))
        indices = np.nonzero(near)[1].astype(np.int32)
        rows = self._locations.points_at(Neighbors(indptr, indices, values[near]), most)
        return self.space.settle(block, rows, 1)

    def _in_blocks(self, queries: Any, select: Callable[[Any], Neighbors]) -> Neighbors:
        n_queries = queries.shape[0]
        step = max(1, _BLOCK_ENTRIES // (self.n_threads * self._locations.n_locations))
        blocks = [queries[first : first + step] for first in range(0, n_queries, step)]
        parts: list[Neighbors] = []
        n_entries = 0
        # one thread a block; the product inside it must not start threads of its own
        with _ONE_BLAS_THREAD, ThreadPoolExecutor(self.n_threads) as pool:
            for part in pool.map(select, blocks):
                n_entries += len(part.indices)
                check_graph_size(n_queries, n_entries)
                parts.append(part)
        return concatenated(parts)
