"""Exact search in low dimension: a kd-tree over the points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.validation import check_graph_size
from diffpeaks._native import kd_tree, sort_rows
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.contract import ExactSearch, Space, check_representable
from diffpeaks.progress import loop_stage

if TYPE_CHECKING:
    from diffpeaks._native import KDTree


# up to there a tree is surely the fastest, mostly, or possibly
FEW_FEATURES, SOME_FEATURES, MOST_FEATURES = 4, 10, 32
_QUERIES, _NEIGHBORS = 128, 30  # a sample that tells how much of the tree is visited
# Seconds on one thread, fitted to the searches of benchmarks/neighbors/choice.py: of a query, of a leaf, and
# of a feature of its points.
_QUERY, _LEAF, _LEAF_FEATURE = 1e-6, 5e-8, 6e-9


def bytes_for_tree(n_samples: int, n_features: int, dtype: Any) -> int:
    """Memory that a tree takes beside points and graph, at most: a copy of the points, boxes, orders."""
    return n_samples * (2 * n_features * np.dtype(dtype).itemsize + 16) + (4 << 20)


class TreeSearch(ExactSearch):
    """Holds the contract for Minkowski metrics of order 1, 2 and infinity, and for cosine.

    The tree computes final distances itself, by the measure of the space, and breaks ties by index.
    """

    name = "tree"

    def __init__(self, space: Space, n_threads: int) -> None:
        if space.measure is None or space.minkowski_order is None:
            raise ValueError(
                "search='tree' needs dense points and a Minkowski metric with p = 1, 2 or infinity and no "
                "weights (manhattan, euclidean, chebyshev), or cosine; use search='brute'"
            )
        self.space, self.n_threads, self._measure = space, n_threads, space.measure
        self._tree = kd_tree(space.points, n_threads)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tree = kd_tree(self.space.points, self.n_threads)

    def moved(self, space: Space) -> TreeSearch:
        return TreeSearch(space, self.n_threads)

    def predicted_seconds(self) -> float:
        """For the neighbours of a point, on one thread: by the leaves that a sample of points visits.

        Leaves are counted and no clock is read: the same points get the same search on every machine.
        """
        points = self.space.points
        some = points[:: max(1, len(points) // _QUERIES)][:_QUERIES]
        n_neighbors = min(_NEIGHBORS, len(points))
        n_leaves = self._tree.leaves_visited(np.ascontiguousarray(some), n_neighbors, self._measure)
        return _QUERY + n_leaves / len(some) * (_LEAF + points.shape[1] * _LEAF_FEATURE)

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows:
        n_points = len(self.space.points)
        if n_neighbors > n_points:
            raise ValueError(
                f"n_neighbors={n_neighbors} is above the number of points, {n_points}; use fewer neighbours"
            )
        order, queries = self._visiting_order(queries), np.ascontiguousarray(queries)
        indices = np.empty(len(queries) * n_neighbors, np.int32)
        distances = np.empty(len(queries) * n_neighbors, self.space.dtype)
        asked = queries, order, n_neighbors, self._measure
        with loop_stage("neighbours", len(queries)):
            self._tree.nearest(*asked, indices, distances, self.n_threads)
        check_representable(distances[n_neighbors - 1 :: n_neighbors])
        return RaggedRows(np.arange(len(queries) + 1, dtype=np.int64) * n_neighbors, indices, distances)

    def nearest_denser(
        self, points: NDArray[Any], rank: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The nearest point of lower rank for each of `points`: NO_POINT and infinity where there is none."""
        nearest, distances = np.empty(len(points), np.int32), np.empty(len(points), self.space.dtype)
        order = np.arange(len(points), dtype=np.int32)
        asked = np.ascontiguousarray(self.space.points[points]), order, rank[points], rank
        with loop_stage("hilltops", len(points)):
            self._tree.nearest_denser(*asked, self._measure, nearest, distances, self.n_threads)
        check_representable(distances[nearest != NO_POINT])
        return nearest, distances

    def within(self, queries: Any, radius: float) -> RaggedRows:
        return self._balls(self._tree, queries, self._visiting_order(queries), np.full(len(queries), radius))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        """Balls around the points, in a tree over the queries, and then the other way round."""
        around = kd_tree(np.ascontiguousarray(queries), self.n_threads)
        points = self.space.points
        balls = self._balls(around, points, _order_of(self._tree, points), reach.astype(np.float64))
        point = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(balls.indptr))
        by_query = np.argsort(balls.indices, kind="stable")
        indptr = offsets(np.bincount(balls.indices, minlength=len(queries)))
        rows = RaggedRows(indptr, point[by_query], balls.distances[by_query])
        sort_rows(*rows, self.n_threads)
        return rows

    def _visiting_order(self, queries: Any) -> NDArray[np.int32] | None:
        """Queries that lie together one after the other: they find the tree's nodes in the cache.

        None for the points themselves: that is the order of their own tree.
        """
        if queries is self.space.points:
            return None
        return _order_of(kd_tree(np.ascontiguousarray(queries), self.n_threads), queries)

    def _balls(
        self, tree: KDTree, queries: Any, order: NDArray[np.int32] | None, radii: NDArray[np.float64]
    ) -> RaggedRows:
        """Counted first: what cannot be held is refused, and nothing but the result takes memory."""
        queries = np.ascontiguousarray(queries)
        counts = np.empty(len(queries), np.int64)
        asked = queries, order, radii, self._measure
        with loop_stage("ball sizes", len(queries)):
            tree.counts(*asked, counts, self.n_threads)
        indptr = offsets(counts)
        check_graph_size(max(1, len(queries)), int(indptr[-1]))
        indices = np.empty(indptr[-1], np.int32)
        distances = np.empty(indptr[-1], self.space.dtype)
        with loop_stage("neighbours", len(queries)):
            tree.balls(*asked, indptr, indices, distances, self.n_threads)
        return RaggedRows(indptr, indices, distances)


def _order_of(tree: KDTree, points: Any) -> NDArray[np.int32]:
    order = np.empty(len(points), np.int32)
    tree.order(order)
    return order
