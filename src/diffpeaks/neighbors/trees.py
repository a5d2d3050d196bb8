"""Exact search in low dimension: scipy's kd-tree over the distinct locations of the points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from diffpeaks._validation import check_graph_size
from diffpeaks.graph import offsets
from diffpeaks.neighbors.contract import (
    ROUNDING,
    ExactSearch,
    Neighbors,
    Space,
    at_most,
    concatenated,
    first_of_rows,
)

_BLOCK_ENTRIES = 1 << 22


class TreeSearch(ExactSearch):
    """Holds the contract for Minkowski metrics, Euclidean and cosine included.

    Where the last neighbour is tied with the next, a ball query fetches everything at that distance
    and the index decides.
    """

    name = "tree"

    def __init__(self, space: Space, n_threads: int) -> None:
        if space.minkowski_order is None:
            raise ValueError(
                "search='tree' needs dense points and a Minkowski, Euclidean or cosine metric; "
                "use search='brute'"
            )
        self.space, self.n_threads = space, n_threads
        self._locations = space.locations()
        distinct = space.points[self._locations.representatives]
        self._tree = cKDTree(distinct, balanced_tree=False, compact_nodes=True)

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        indices = np.empty((len(queries), n_neighbors), np.int32)
        distances = np.empty((len(queries), n_neighbors), self.space.dtype)
        order = self._visiting_order(queries)
        step = max(1, _BLOCK_ENTRIES // n_neighbors)
        for block in (order[first : first + step] for first in range(0, len(queries), step)):
            found = self._nearest(queries[block], n_neighbors)
            indices[block] = found.indices.reshape(-1, n_neighbors)
            distances[block] = found.distances.reshape(-1, n_neighbors)
        indptr = np.arange(len(queries) + 1, dtype=np.int64) * n_neighbors
        return Neighbors(indptr, indices.ravel(), distances.ravel())

    def _visiting_order(self, queries: Any) -> NDArray[Any]:
        """Queries that lie together one after the other: they find the tree's nodes in the cache."""
        own = queries is self.space.points and self._locations.all_distinct
        return self._tree.indices if own else cKDTree(queries, balanced_tree=False).indices

    def within(self, queries: Any, radius: float) -> Neighbors:
        parts: list[Neighbors] = []
        reach = self._safe(self.space.tree_radius(radius))
        for block in self._ball_blocks(queries, reach):
            candidates = self._ball(block, reach)
            parts.append(at_most(self.space.settle(block, candidates, self.n_threads), radius))
            check_graph_size(len(queries), sum(len(part.indices) for part in parts))
        return concatenated(parts)

    def reaching(self, queries: Any, reach: NDArray[Any]) -> Neighbors:
        points, radius = self.space.points, self._safe(self.space.tree_radius(reach.astype(np.float64)))
        around = cKDTree(queries)
        found = _flat(
            around.query_ball_point(points, radius, p=self.space.minkowski_order, workers=self.n_threads)
        )
        point = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(found.indptr))
        by_query = np.argsort(found.indices, kind="stable")
        indptr = offsets(np.bincount(found.indices, minlength=len(queries)))
        rows = self.space.settle(queries, _unmeasured(indptr, point[by_query]), self.n_threads)
        return at_most(rows, reach[rows.indices])

    def _safe(self, distance: Any) -> Any:
        """A distance of the tree that nothing nearer exceeds once the final distances are computed."""
        return np.maximum(distance * (1 + ROUNDING[self.space.dtype]), 1.01 * self.space.tree_zero)

    def _query(self, queries: Any, n_locations: int) -> tuple[NDArray[Any], NDArray[Any]]:
        order = self.space.minkowski_order
        distances, found = self._tree.query(queries, n_locations, p=order, workers=self.n_threads)
        shape = (len(queries), n_locations)
        return distances.reshape(shape), found.reshape(shape).astype(np.int32)

    def _nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        n_locations = min(n_neighbors + 1, self._locations.n_locations)
        distances, found = self._query(queries, n_locations)
        last = self._last_needed(found, n_neighbors)
        rows = np.arange(len(queries))
        farthest = distances[rows, last]
        following = np.minimum(last + 1, n_locations - 1)
        beyond = np.where(last + 1 < n_locations, distances[rows, following], np.inf)
        farthest = self._safe(farthest)
        tied = beyond <= farthest
        listed = np.arange(n_locations) <= last[:, None]
        plain = self._settled(queries[~tied], found[~tied], listed[~tied], n_neighbors)
        if not tied.any():
            return plain
        balls = self._ball(queries[tied], farthest[tied], n_neighbors)
        balls = self.space.settle(queries[tied], balls, self.n_threads)
        return _interleaved(plain, first_of_rows(balls, n_neighbors), tied, n_neighbors)

    def _last_needed(self, found: NDArray[Any], n_neighbors: int) -> NDArray[Any]:
        """Column of the location with which a row has enough points."""
        if self._locations.all_distinct:
            return np.full(len(found), n_neighbors - 1)
        return np.argmax(np.cumsum(self._locations.counts[found], axis=1) >= n_neighbors, axis=1)

    def _settled(
        self, queries: Any, found: NDArray[Any], listed: NDArray[Any], n_neighbors: int
    ) -> Neighbors:
        indptr = offsets(listed.sum(axis=1))
        candidates = self._locations.points_at(_unmeasured(indptr, found[listed]), n_neighbors)
        return first_of_rows(self.space.settle(queries, candidates, self.n_threads), n_neighbors)

    def _ball_blocks(self, queries: Any, reach: float) -> Iterator[Any]:
        """Blocks of queries whose balls together hold a bounded number of locations."""
        counts = self._tree.query_ball_point(
            queries, reach, p=self.space.minkowski_order, workers=self.n_threads, return_length=True
        )
        filled = np.cumsum(counts)
        first = 0
        while first < len(queries):
            goal = (filled[first - 1] if first else 0) + _BLOCK_ENTRIES
            last = max(first + 1, int(np.searchsorted(filled, goal, side="right")))
            yield queries[first:last]
            first = last

    def _ball(self, queries: Any, radius: Any, most: int | None = None) -> Neighbors:
        order = self.space.minkowski_order
        balls = self._tree.query_ball_point(queries, radius, p=order, workers=self.n_threads)
        return self._locations.points_at(_flat(balls), most)


def _flat(balls: Any) -> Neighbors:
    """Lists of indices, as the tree returns them, as rows."""
    indptr = offsets(np.array([len(ball) for ball in balls]))
    indices = np.fromiter((i for ball in balls for i in ball), np.int32, int(indptr[-1]))
    return _unmeasured(indptr, indices)


def _unmeasured(indptr: NDArray[Any], indices: NDArray[Any]) -> Neighbors:
    """Rows whose distances the space will settle."""
    return Neighbors(indptr, indices, np.broadcast_to(0.0, len(indices)))


def _interleaved(
    plain: Neighbors, tied: Neighbors, is_tied: NDArray[np.bool_], n_neighbors: int
) -> Neighbors:
    """Rows of two searches back in the order of the queries."""
    shape = (len(is_tied), n_neighbors)
    indices, distances = np.empty(shape, np.int32), np.empty(shape, plain.distances.dtype)
    for rows, which in ((plain, ~is_tied), (tied, is_tied)):
        indices[which] = rows.indices.reshape(-1, n_neighbors)
        distances[which] = rows.distances.reshape(-1, n_neighbors)
    indptr = np.arange(len(is_tied) + 1, dtype=np.int64) * n_neighbors
    return Neighbors(indptr, indices.ravel(), distances.ravel())
