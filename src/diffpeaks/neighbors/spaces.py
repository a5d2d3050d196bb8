"""Points with any metric of scikit-learn, with a metric of the user, or known by distances alone."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._native import pair_distances, sort_rows
from diffpeaks.graph.checks import is_self_rounding
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.contract import ROUNDING, Measure, check_representable, copied_bytes, like
from diffpeaks.neighbors.duplicates import ComparedByValue, Duplicates
from diffpeaks.neighbors.euclidean import check_scale, squared_norms
from diffpeaks.neighbors.metric_params import fixed_params
from diffpeaks.neighbors.ragged_rows import pair_blocks

_MINKOWSKI_ORDER = {"manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
_TREE_ORDERS = (1.0, np.inf)  # other powers of small or large differences leave the range of floats


class _OrdinarySpace(ComparedByValue):
    """What most metrics share: selection values are distances, in both directions alike."""

    minkowski_order: float | None = None
    settles_pairs = False
    divisible = True
    calls_python = False
    copied_bytes = 0
    measure: Measure | None = None
    can_join = False

    def queries(self, X: Any) -> Any:
        return like(self.points, X)

    def restricted(self, which: NDArray[Any] | slice) -> Self:
        part = copy.copy(self)
        part.points, part._duplicates = self.points[which], None
        return part

    def reversed(self) -> Self:
        return self

    def limit(self, distance: Any) -> Any:
        return distance


class MetricSpace(_OrdinarySpace):
    """A metric by name or callable: the block's values are the distances.

    Minkowski distances alone are settled anew, because a tree sums them differently.
    """

    def __init__(self, X: Any, metric: Any, params: dict[str, Any]) -> None:
        from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

        self.dtype = X.dtype
        self.metric, self.calls_python = metric, callable(metric)
        self.points = X.astype(bool) if metric in PAIRWISE_BOOLEAN_FUNCTIONS else X
        self.copied_bytes = 0 if self.points is X else copied_bytes(self.points)
        self.params = fixed_params(X, metric, params)
        named = _MINKOWSKI_ORDER.get(metric) if isinstance(metric, str) else None
        order = params.get("p", 2.0) if metric == "minkowski" else named
        self._order = None if sp.issparse(X) or params.get("w") is not None else order
        self.minkowski_order = self._order if self._order in _TREE_ORDERS else None
        self.settles_pairs = self._order is not None
        self.measure = None if self.minkowski_order is None else Measure(self.minkowski_order)

    def reversed(self) -> Self:
        if not callable(self.metric):
            return self
        metric = self.metric

        def swapped(x: Any, y: Any, **params: Any) -> float:
            return metric(y, x, **params)

        back = copy.copy(self)
        back.metric = swapped
        return back

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        values = self._distances(queries, self.points)
        if self._order is None:
            return values, 0.0
        # powers of differences may also vanish
        vanished = (queries.shape[1] * np.finfo(np.float64).tiny) ** (1 / self._order)
        return values, ROUNDING[self.dtype] * values.max(axis=1, keepdims=True) + 2 * vanished

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        return self._distances(self.points[first], self.points[second])

    def _distances(self, queries: Any, points: Any) -> NDArray[Any]:
        from sklearn.metrics import pairwise_distances

        distances = pairwise_distances(queries, points, metric=self.metric, **self.params)
        check_distances(distances, f"metric={self.metric!r}")
        return distances.astype(self.dtype, copy=False)

    def settle(self, queries: Any, rows: RaggedRows, n_threads: int) -> RaggedRows:
        distances = rows.distances
        if self._order is not None:
            distances = self._pairs(queries, rows, self._order, n_threads)
            check_representable(distances)
        distances = np.ascontiguousarray(distances, self.dtype)
        sort_rows(rows.indptr, rows.indices, distances, n_threads)
        return rows._replace(distances=distances)

    def _pairs(self, queries: Any, rows: RaggedRows, order: float, n_threads: int) -> NDArray[Any]:
        if self.measure is None:
            return _minkowski_pairs(queries, self.points, rows, order)
        distances = np.empty(len(rows.indices), self.dtype)
        pair_distances(queries, self.points, rows.indptr, rows.indices, distances, self.measure, n_threads)
        return distances


class NanEuclideanSpace(_OrdinarySpace):
    """Euclidean distance over the features that two samples share, scaled up to all features.

    Samples that share none are infinitely far apart.
    """

    metric = "nan_euclidean"
    settles_pairs = True

    def __init__(self, X: Any) -> None:
        self.points = X
        self.dtype = X.dtype
        check_scale(np.nan_to_num(X), np.dtype(np.float64))
        with np.errstate(all="ignore"):
            self._center = np.nan_to_num(np.nansum(X, axis=0) / np.sum(~np.isnan(X), axis=0))

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        from sklearn.metrics.pairwise import nan_euclidean_distances

        shifted, points = queries - self._center, self.points - self._center
        squared = nan_euclidean_distances(shifted, points, squared=True)
        squared[np.isnan(squared)] = np.inf
        norms, point_norms = squared_norms(np.nan_to_num(shifted)), squared_norms(np.nan_to_num(points))
        n_features = queries.shape[1]
        unit = 2.0 * (n_features + 8) * n_features * np.finfo(self.dtype).eps
        return squared, unit * (norms + point_norms.max())[:, None]

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        return np.sqrt(self.restricted(second).block(self.points[first])[0])

    def limit(self, distance: Any) -> Any:
        return distance**2

    def settle(self, queries: Any, rows: RaggedRows, n_threads: int) -> RaggedRows:
        n_features = queries.shape[1]
        distances = np.empty(len(rows.indices), self.dtype)
        for part, query, point in pair_blocks(rows, n_features):
            difference = queries[query].astype(np.float64) - self.points[point]
            shared = np.sum(~np.isnan(difference), axis=1)
            sums = np.nansum(difference**2, axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                distances[part] = np.where(shared > 0, np.sqrt(sums * (n_features / shared)), np.inf)
        sort_rows(rows.indptr, rows.indices, distances, n_threads)
        return rows._replace(distances=distances)


class MatrixSpace(_OrdinarySpace):
    """A square matrix of distances; a query is its row of distances to all points."""

    metric = "precomputed"
    divisible = False

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.points = matrix
        self.dtype = matrix.dtype

    def queries(self, X: Any) -> Any:
        if X.shape[1] != len(self.points):
            raise ValueError(
                f"X has {X.shape[1]} columns; with metric='precomputed' a new sample is its distances "
                f"to all {len(self.points)} samples of the fit"
            )
        if sp.issparse(X):
            raise ValueError(
                "X is sparse, and distances that it leaves out are not 0; with metric='precomputed' a new "
                "sample is a dense row of its distances to all samples of the fit"
            )
        X = like(self.points, X)
        check_distances(X, "metric='precomputed'")
        return X

    def same(self, queries: Any, first: int) -> NDArray[np.bool_]:
        """What rounding left on the diagonal does not count: the points have zeros there."""
        own = np.arange(len(queries)), first + np.arange(len(queries))
        if queries[own].any():
            queries = queries.copy()
            queries[own] = np.where(is_self_rounding(queries[own], self.points.max()), 0, queries[own])
        return super().same(queries, first)

    def duplicates(self, n_threads: int) -> Duplicates:
        """None: a matrix of distances does not say who coincides."""
        return Duplicates(len(self.points))

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        return queries, 0.0

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        return self.points[np.ix_(first, second)]

    def settle(self, queries: Any, rows: RaggedRows, n_threads: int) -> RaggedRows:
        sort_rows(rows.indptr, rows.indices, rows.distances, n_threads)
        return rows


def _minkowski_pairs(queries: Any, points: Any, rows: RaggedRows, order: float) -> NDArray[Any]:
    distances = np.zeros(len(rows.indices))
    for part, query, point in pair_blocks(rows, points.shape[1]):
        with np.errstate(over="ignore", invalid="ignore"):
            difference = np.abs(queries[query].astype(np.float64) - points[point])
        largest = difference.max(axis=1)
        apart = largest > 0  # in units of the largest difference no power leaves the range of floats
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = difference[apart] / largest[apart, None]
            distances[part][apart] = largest[apart] * np.linalg.norm(ratio, ord=order, axis=1)
    return distances


def check_distances(distances: NDArray[Any], origin: str) -> None:
    """Refuse distances that are NaN or negative, naming the row."""
    bad = ~(distances >= 0)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        what = "Negative values in data" if distances[row, column] < 0 else "NaN among the distances"
        raise ValueError(
            f"{what}: {origin} gives {distances[row, column]} at row {row}, column {column}; a distance must "
            "be a number of at least 0; drop such samples or use another metric"
        )
