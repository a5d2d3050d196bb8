"""Exact search in any metric: blocks of queries against all distinct locations of the points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.validation import check_graph_size
from diffpeaks._native import keep_nearest
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.blas import threads_without_blas
from diffpeaks.neighbors.contract import ROUNDING, ExactSearch, Space
from diffpeaks.neighbors.ragged_rows import at_most, concatenated, first_of_rows
from diffpeaks.progress import stage

_BLOCK_BYTES = 1 << 29  # of all threads together
_BYTES_PER_ENTRY = 64  # a value, and what selects among values where all of them are ties
Answer = TypeVar("Answer")
_MOST_CALLS = 50_000  # of a user's metric in a block, so that an interrupt need not wait for long
_SUBSET = 16  # columns looked at for each neighbour wanted, to bound how far the last one is


def values_each(space: Space) -> int:
    """Numbers that are stored of a point, on average."""
    points = space.points
    return points.nnz // points.shape[0] + 1 if sp.issparse(points) else points.shape[1]


def bytes_for_query(space: Space, n_points: int) -> int:
    """Memory for a query that is compared with so many points of a space, at most."""
    value = 8 + 3 * np.dtype(space.dtype).itemsize  # it is centred in double, scaled, and joined with columns
    return _BYTES_PER_ENTRY * n_points + value * values_each(space)


def bytes_for_points(space: Space, n_points: int, n_threads: int) -> int:
    """Memory that so many points of a space take on the other side of the comparison, at most."""
    if not space.divisible:
        return 0  # they are distances themselves
    n_values = values_each(space) * (3 if sp.issparse(space.points) else 1)  # with places
    distinct = 64 + np.dtype(space.dtype).itemsize * n_values  # which of them differ, and those alone
    if space.can_join or sp.issparse(space.points):
        return n_points * (distinct + 8 * (n_values + 2))
    return n_points * (distinct + n_threads * 64 * n_values)  # scikit-learn copies what it compares


class BruteSearch(ExactSearch):
    """Holds the contract for every metric, dense and sparse.

    Whatever cannot be proved farther than the last neighbour, given the rounding error of the
    block, is a candidate; the final distances decide among candidates.
    """

    name = "brute"

    def __init__(self, space: Space, n_threads: int, block_bytes: int = _BLOCK_BYTES) -> None:
        self.space, self.n_threads = space, n_threads
        self._block_bytes = min(block_bytes, _BLOCK_BYTES)
        self._duplicates = space.duplicates(n_threads)
        distinct = self._duplicates.all_distinct
        self._distinct = space if distinct else space.restricted(self._duplicates.representatives)

    def moved(self, space: Space) -> BruteSearch:
        return BruteSearch(space, self.n_threads, self._block_bytes)

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows:
        n_distinct = self._duplicates.n_distinct
        n_nearest = min(n_neighbors, n_distinct)
        # the n-th smallest of every stride-th column bounds the n-th smallest of all
        stride = max(1, n_distinct // (_SUBSET * n_nearest))

        indices = np.empty((queries.shape[0], n_neighbors), np.int32)
        distances = np.empty((queries.shape[0], n_neighbors), self.space.dtype)

        def select(part: slice) -> None:
            block = queries[part]
            values, slack = self._distinct.block(block)
            subset = np.partition(values[:, ::stride], n_nearest - 1, axis=1)
            near = values <= subset[:, n_nearest - 1 : n_nearest] + 2 * slack
            rows = _kept_nearest(_candidates(values, near), slack, n_nearest)
            rows = self.space.settle(block, self._duplicates.points_at(rows, n_neighbors), 1)
            rows = first_of_rows(rows, n_neighbors)
            indices[part] = rows.indices.reshape(-1, n_neighbors)
            distances[part] = rows.distances.reshape(-1, n_neighbors)

        with stage("neighbours", queries.shape[0]) as done:
            for n_asked, _ in self._in_blocks(queries.shape[0], select):
                done(n_asked)
        indptr = np.arange(len(indices) + 1, dtype=np.int64) * n_neighbors
        return RaggedRows(indptr, indices.ravel(), distances.ravel())

    def within(self, queries: Any, radius: float) -> RaggedRows:
        return self._at_most(self._distinct, queries, np.broadcast_to(radius, self.space.points.shape[0]))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        return self._at_most(self._distinct.reversed(), queries, reach)

    def _at_most(self, distinct: Space, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        farthest = self._duplicates.largest(reach.astype(np.float64))
        limit = self.space.limit(farthest) * (1 + ROUNDING[self.space.dtype])

        def select(part: slice) -> RaggedRows:
            block = queries[part]
            values, slack = distinct.block(block)
            rows = self._duplicates.points_at(_candidates(values, values <= limit + slack))
            rows = self.space.settle(block, rows, 1)
            return at_most(rows, reach[rows.indices])

        parts: list[RaggedRows] = []
        n_entries = 0
        with stage("neighbours", queries.shape[0]) as done:
            for n_asked, rows in self._in_blocks(queries.shape[0], select):
                n_entries += len(rows.indices)
                check_graph_size(queries.shape[0], n_entries)
                parts.append(rows)
                done(n_asked)
        return concatenated(parts)

    def _in_blocks(self, n_queries: int, select: Callable[[slice], Answer]) -> Iterator[tuple[int, Answer]]:
        """The answers for blocks of queries, in their order, each with the size of its block."""
        each = bytes_for_query(self.space, self._duplicates.n_distinct)
        step = max(1, self._block_bytes // (self.n_threads * each))
        if self.space.calls_python:
            step = min(step, max(1, _MOST_CALLS // self._duplicates.n_distinct))
        starts = range(0, max(n_queries, 1), step)
        blocks = [slice(first, min(first + step, n_queries)) for first in starts]
        sizes = [block.stop - block.start for block in blocks]
        with threads_without_blas(self.n_threads) as pool:
            yield from zip(sizes, pool.map(select, blocks), strict=True)


def _candidates(values: NDArray[Any], near: NDArray[np.bool_]) -> RaggedRows:
    """The marked entries of a block as rows."""
    marked = np.flatnonzero(near.ravel())
    indices = (marked % values.shape[1]).astype(np.int32)
    return RaggedRows(offsets(near.sum(axis=1)), indices, values.ravel()[marked])


def _kept_nearest(rows: RaggedRows, slack: Any, n_nearest: int) -> RaggedRows:
    """Rows without the entries that are proved to lie behind the `n_nearest` nearest."""
    n_rows = len(rows.indptr) - 1
    kept = np.empty(n_rows, np.int64)
    row_slack = np.array(np.broadcast_to(np.ravel(slack), n_rows), np.float64)
    keep_nearest(rows.indptr, rows.indices, rows.distances, row_slack, n_nearest, kept)
    last = np.repeat(rows.indptr[:-1] + kept, np.diff(rows.indptr))
    inside = np.arange(len(rows.indices)) < last
    return RaggedRows(offsets(kept), rows.indices[inside], rows.distances[inside])
