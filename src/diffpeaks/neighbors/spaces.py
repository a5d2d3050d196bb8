"""Points with a metric: the one place where the distance of a pair is computed."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._native import pair_distances, sort_rows
from diffpeaks._validation import check_distances, check_scale, some_of
from diffpeaks.neighbors.contract import ROUNDING, Neighbors, Space

_EUCLIDEAN = {"euclidean", "l2", "sqeuclidean", "cosine"}
_MINKOWSKI_ORDER = {"manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
_PAIR_BLOCK_VALUES = 1 << 22


class EuclideanSpace:
    """Euclidean distance, its square, and cosine distance through unit vectors (1 - cos = d^2 / 2).

    Blocks are squared distances from one matrix product on centred points, with a bound on the
    rounding error; final distances are sums of squared differences in double precision.
    """

    def __init__(self, X: Any, metric: str) -> None:
        self.metric = metric
        self.dtype = X.dtype
        self.minkowski_order = None if sp.issparse(X) else 2.0
        self.points = self._directions(X)
        self._block_dtype = check_scale(self.points, self.dtype)
        self._centered: dict[Any, tuple[Any, NDArray[np.float64]]] = {}

    def _directions(self, X: Any) -> Any:
        return _unit_vectors(X) if self.metric == "cosine" else X

    def queries(self, X: Any) -> Any:
        return self._directions(_like(self.points, X))

    def restricted(self, which: NDArray[Any]) -> Self:
        part = copy.copy(self)
        part.points, part._centered = self.points[which], {}
        part.__dict__.pop("_center", None)
        return part

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_centered": {}}

    @cached_property
    def _center(self) -> Any:
        return 0.0 if sp.issparse(self.points) else self.points.mean(axis=0, dtype=np.float64)

    def _shifted(self, X: Any, dtype: Any) -> tuple[Any, NDArray[np.float64]]:
        """Centred rows and their squared norms."""
        shifted = (X if sp.issparse(X) else X - self._center).astype(dtype, copy=False)
        return shifted, _squared_norms(shifted)

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        dtype = np.promote_types(self._block_dtype, check_scale(queries, self.dtype))
        if dtype not in self._centered:
            self._centered[dtype] = self._shifted(self.points, dtype)
        points, point_norms = self._centered[dtype]
        shifted, norms = self._shifted(queries, dtype)
        products = shifted @ points.T
        squared = products.toarray() if sp.issparse(products) else products
        squared *= -2
        squared += norms[:, None]
        squared += point_norms
        # rounding of the dot products, the norms and the shift, each below (d + 8) eps |.|^2
        unit = 2 * (queries.shape[1] + 8) * float(np.finfo(dtype).eps)
        slack = unit * (norms + point_norms.max() + np.sum(self._center**2))
        return squared, slack[:, None]

    def limit(self, distance: Any) -> Any:
        if self.metric == "cosine":
            return 2 * distance
        return distance if self.metric == "sqeuclidean" else distance**2

    def tree_radius(self, radius: Any) -> Any:
        return radius if self.metric in ("euclidean", "l2") else np.sqrt(self.limit(radius))

    def between(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        indptr = np.arange(len(first) + 1, dtype=np.int64) * len(second)
        rows = Neighbors(indptr, np.tile(second.astype(np.int32), len(first)), np.empty(0))
        return self._pairs(self.points[first], rows, 1).reshape(len(first), len(second))

    def settle(self, queries: Any, rows: Neighbors, n_threads: int) -> Neighbors:
        distances = self._pairs(queries, rows, n_threads)
        sort_rows(rows.indptr, rows.indices, distances, n_threads)
        return rows._replace(distances=distances)

    def _pairs(self, queries: Any, rows: Neighbors, n_threads: int) -> NDArray[Any]:
        squared = self.metric in ("sqeuclidean", "cosine")
        if sp.issparse(self.points):
            distances = _sparse_pairs(queries, self.points, rows, squared).astype(self.dtype)
        else:
            distances = np.empty(len(rows.indices), self.dtype)
            pair_distances(queries, self.points, rows.indptr, rows.indices, distances, squared, n_threads)
        return distances / 2 if self.metric == "cosine" else distances


class MetricSpace:
    """Any other metric of scikit-learn, by name or callable: the block's values are the distances."""

    def __init__(self, X: Any, metric: Any, params: dict[str, Any]) -> None:
        from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

        self.dtype = X.dtype
        self.metric = metric
        self.points = X.astype(bool) if metric in PAIRWISE_BOOLEAN_FUNCTIONS else X
        self.params = _fixed_params(X, metric, params)
        order = params.get("p", 2.0) if metric == "minkowski" else _MINKOWSKI_ORDER.get(metric)
        beyond_trees = sp.issparse(X) or params.get("w") is not None or (order is not None and order < 1)
        self.minkowski_order = None if beyond_trees else order

    def queries(self, X: Any) -> Any:
        return _like(self.points, X)

    def restricted(self, which: NDArray[Any]) -> Self:
        part = copy.copy(self)
        part.points = self.points[which]
        return part

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        values = self._distances(queries, self.points)
        if self.minkowski_order is None:
            return values, 0.0
        return values, ROUNDING[self.dtype] * values.max(axis=1, keepdims=True)

    def between(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return self._distances(self.points[first], self.points[second])

    def _distances(self, queries: Any, points: Any) -> NDArray[Any]:
        from sklearn.metrics import pairwise_distances

        distances = pairwise_distances(queries, points, metric=self.metric, **self.params)
        if self.metric == "nan_euclidean":
            distances[np.isnan(distances)] = np.inf  # samples that share no feature are no neighbours
        check_distances(distances, f"metric={self.metric!r}")
        return distances.astype(self.dtype, copy=False)

    def limit(self, distance: Any) -> Any:
        return distance

    def tree_radius(self, radius: Any) -> Any:
        return radius

    def settle(self, queries: Any, rows: Neighbors, n_threads: int) -> Neighbors:
        distances = rows.distances
        if self.minkowski_order is not None:  # also proposed by a tree, whose sums round differently
            distances = _minkowski_pairs(queries, self.points, rows, self.minkowski_order)
        distances = np.ascontiguousarray(distances, self.dtype)
        sort_rows(rows.indptr, rows.indices, distances, n_threads)
        return rows._replace(distances=distances)


class MatrixSpace:
    """A square matrix of distances; a query is its row of distances to all points."""

    minkowski_order: float | None = None

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.points = matrix
        self.dtype = matrix.dtype

    def queries(self, X: Any) -> Any:
        if X.shape[1] != len(self.points):
            raise ValueError(
                f"X has {X.shape[1]} columns; with metric='precomputed' a new sample is its distances "
                f"to all {len(self.points)} samples of the fit"
            )
        X = _like(self.points, X)
        check_distances(X, "metric='precomputed'")
        return X

    def restricted(self, which: NDArray[Any]) -> Self:
        raise NotImplementedError("the points of a matrix of distances are not searched by location")

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        return queries, 0.0

    def between(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return self.points[np.ix_(first, second)]

    def limit(self, distance: Any) -> Any:
        return distance

    def tree_radius(self, radius: Any) -> Any:
        return radius

    def settle(self, queries: Any, rows: Neighbors, n_threads: int) -> Neighbors:
        sort_rows(rows.indptr, rows.indices, rows.distances, n_threads)
        return rows


def space_of(X: Any, metric: Any, params: dict[str, Any] | None) -> Space:
    """The space for a metric by name or callable."""
    params = dict(params or {})
    if metric == "minkowski" and params.get("p", 2) == 2 and params.get("w") is None:
        metric, params = "euclidean", {}
    if isinstance(metric, str) and metric in _EUCLIDEAN:
        if params:
            raise ValueError(f"metric={metric!r} takes no metric_params, got {params}")
        return EuclideanSpace(X, metric)
    return MetricSpace(X, metric, params)


def _like(points: Any, X: Any) -> Any:
    """X in the form of the points: dense or sparse, and of their dtype."""
    if sp.issparse(points):
        return sp.csr_array(X).astype(points.dtype)
    return (X.toarray() if sp.issparse(X) else X).astype(points.dtype, copy=False)


def _unit_vectors(X: Any) -> Any:
    largest = abs(X).max(axis=1)  # first, so that no square leaves the range of floats
    largest = np.asarray(largest.todense() if sp.issparse(largest) else largest, np.float64).reshape(-1, 1)
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise ValueError(
            f"metric='cosine' needs rows with a direction; rows {some_of(zero)} are all zero; "
            "drop these rows or use metric='euclidean'"
        )
    scaled = sp.csr_array(X.multiply(1 / largest)) if sp.issparse(X) else X / largest
    norms = np.sqrt(_squared_norms(scaled))[:, None]
    unit = sp.csr_array(scaled.multiply(1 / norms)) if sp.issparse(X) else scaled / norms
    return unit.astype(X.dtype)


def _squared_norms(X: Any) -> NDArray[np.float64]:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _pair_blocks(rows: Neighbors, values_each: int) -> Any:
    """Blocks of pairs whose coordinates stay small in memory."""
    owners = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    step = max(1, _PAIR_BLOCK_VALUES // max(1, values_each))
    for first in range(0, len(owners), step):
        part = slice(first, first + step)
        yield part, owners[part], rows.indices[part]


def _sparse_pairs(queries: Any, points: Any, rows: Neighbors, squared: bool) -> NDArray[Any]:
    sums = np.empty(len(rows.indices))
    for part, query, point in _pair_blocks(rows, points.nnz // points.shape[0]):
        difference = queries[query].astype(np.float64) - points[point].astype(np.float64)
        sums[part] = _squared_norms(difference)
    return sums if squared else np.sqrt(sums)


def _minkowski_pairs(queries: Any, points: Any, rows: Neighbors, order: float) -> NDArray[Any]:
    distances = np.empty(len(rows.indices))
    for part, query, point in _pair_blocks(rows, points.shape[1]):
        difference = queries[query].astype(np.float64) - points[point]
        distances[part] = np.linalg.norm(difference, ord=order, axis=1)
    return distances


def _fixed_params(X: Any, metric: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters that scikit-learn would estimate from each block are estimated once, from all of X."""
    if metric == "seuclidean" and "V" not in params:
        return {**params, "V": np.var(X, axis=0, ddof=1)}
    if metric == "mahalanobis" and "VI" not in params and "V" not in params:
        return {**params, "VI": np.linalg.inv(np.cov(X, rowvar=False)).T}
    return params
