"""Euclidean distance and its relatives: one matrix product selects, sums of squares decide."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.tensors import on_host
from diffpeaks._base.validation import some_of
from diffpeaks._native import pair_distances, shift_towards, sort_rows, squared_lengths
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.contract import Measure, copied_bytes, like
from diffpeaks.neighbors.duplicates import ComparedByValue
from diffpeaks.neighbors.ragged_rows import pair_blocks

if TYPE_CHECKING:
    from diffpeaks._native import Graph

METRICS = ("euclidean", "l2", "sqeuclidean", "cosine", "inner_product")
_BLOCK_VALUES = 1 << 17
_UNIT = 1e-4  # by how much the length of a vector may differ from one


class Pull(NamedTuple):
    """How strongly neighbours pull a sample towards them."""

    kept: float  # the share of its own position in the new one
    n_filled: int  # with fewer mutual neighbours, the nearest others count as well until they are as many
    distances_squared: bool  # whether distances are squares of lengths
    length: float | None = None  # of all samples, if they have the same; moved samples are scaled to it


class EuclideanSpace(ComparedByValue):
    """Euclidean distance, its square, and cosine distance through unit vectors (1 - cos = d^2 / 2).

    The inner product is that of vectors which are unit vectors already: 1 - x.y, and no copy of them.

    Blocks are squared distances from one matrix product on centred points, with a bound on the
    rounding error; final distances are sums of squared differences in double precision.
    """

    settles_pairs = divisible = True

    def __init__(self, X: Any, metric: str, are_directions: bool = False) -> None:
        """With `are_directions` the rows of X are unit vectors already, the points of another such space."""
        self.metric = metric
        self.dtype: Any = self._dtype_of(X)
        self.can_join, self.calls_python = not sp.issparse(X), False
        self.minkowski_order = 2.0 if self.can_join else None
        self.measure = _measure(metric, self.dtype)
        self.points = X if are_directions else self._directions(X)
        self.copied_bytes = 0 if self.points is X else copied_bytes(self.points)
        self._block_dtype = check_scale(self.points, self._stored_dtype)
        self._centered: dict[Any, tuple[Any, float]] = {}

    @property
    def _stored_dtype(self) -> Any:
        """The dtype whose range must hold the squares of all distances."""
        return self.dtype if self.metric == "sqeuclidean" else np.dtype(np.float64)

    @staticmethod
    def _dtype_of(X: Any) -> Any:
        return X.dtype

    def _directions(self, X: Any) -> Any:
        if self.metric == "inner_product":
            _check_unit(self.lengths_of(X))
        return self.unit_vectors(X) if self.metric == "cosine" else X

    def unit_vectors(self, X: Any) -> Any:
        return unit_vectors(X)

    def lengths_of(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        return np.sqrt(squared_norms(X, n_threads))

    def rows(self, which: NDArray[Any]) -> NDArray[Any]:
        """Some of the points, on the host."""
        return on_host(self.points[which])

    def sums_of(
        self, members: NDArray[Any], group: NDArray[Any], weights: NDArray[np.float64], n_groups: int
    ) -> NDArray[np.float64]:
        """The weighted sums of groups of points: members ascend, each with the number of its group."""
        shape = n_groups, self.points.shape[0]
        sums: NDArray[np.float64] = sp.csr_array((weights, (group, members)), shape) @ on_host(self.points)
        return sums

    def queries(self, X: Any) -> Any:
        return self._directions(like(self.points, X))

    def restricted(self, which: NDArray[Any] | slice) -> Self:
        part = copy.copy(self)
        part.points, part._centered, part._duplicates = self.points[which], {}, None
        part.__dict__.pop("_center", None)
        return part

    def moved(self, points: Any) -> Self:
        """Other points under the same metric; for cosine and inner product their unit vectors."""
        of_directions = self.metric in ("cosine", "inner_product")
        return type(self)(self.unit_vectors(points) if of_directions else points, self.metric, True)

    def shifted(
        self, queries: Any, rows: Graph, own_first: bool, masses: Any, reach: Any, pull: Pull, n_threads: int
    ) -> Any:
        """Queries moved towards the points in their rows.

        With `own_first` the queries are the first of the points, and each is the first in its own row. Other
        queries have mass one.
        """
        queries = np.ascontiguousarray(queries)
        moved = np.empty(queries.shape, queries.dtype)
        targets = np.ascontiguousarray(self.points), masses, reach
        shift_towards(queries, rows, own_first, targets, pull[:3], moved, n_threads)
        if pull.length is not None:
            lengths = self.lengths_of(moved, n_threads)
            has_length = lengths > 0  # a new sample may have none
            moved[has_length] *= (pull.length / lengths[has_length])[:, None]
        return moved

    def reversed(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_centered": {}}

    @cached_property
    def _center(self) -> Any:
        return 0.0 if sp.issparse(self.points) else self.points.mean(axis=0, dtype=np.float64)

    def _shifted(self, X: Any, dtype: Any) -> tuple[Any, NDArray[np.float64]]:
        """Centred rows and their squared norms."""
        shifted = (X if sp.issparse(X) else X - self._center).astype(dtype, copy=False)
        return shifted, squared_norms(shifted)

    def _right_side(self, dtype: Any) -> tuple[Any, float]:
        """The factor of the product that belongs to the points, and the largest squared norm."""
        if dtype not in self._centered:
            self._centered[dtype] = self._centered_points(dtype)
        return self._centered[dtype]

    def _centered_points(self, dtype: Any) -> tuple[Any, float]:
        if sp.issparse(self.points):
            points, norms = self._shifted(self.points, dtype)
            return _with_columns(points, 1.0, norms), float(norms.max())
        n_points, n_features = self.points.shape
        right, largest = np.ones((n_points, n_features + 2), dtype), 0.0
        for part in row_blocks(self.points):
            right[part, :n_features], norms = self._shifted(self.points[part], dtype)
            right[part, -1] = norms
            largest = max(largest, float(norms.max()))
        return right, largest

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        dtype = np.promote_types(self._block_dtype, check_scale(queries, self._stored_dtype))
        right, largest = self._right_side(dtype)
        shifted, norms = self._shifted(queries, dtype)
        # (-2x, |x|^2, 1) . (y, 1, |y|^2) is the squared distance, in one pass over the block
        products = _with_columns(-2 * shifted, norms, 1.0) @ right.T
        squared = products.toarray() if sp.issparse(products) else products
        # rounding of the product and the norms in the block's precision, of the shift in double, and of
        # distances, of which those that become equal are ties, as all are that count as zero
        factor, reported, lengths = 2.0 * (queries.shape[1] + 10), np.finfo(self.dtype), norms + largest
        slack = (factor * np.finfo(dtype).eps + 8 * float(reported.eps)) * lengths
        slack += 8 * float(reported.smallest_subnormal) * np.sqrt(lengths)
        slack += factor * np.finfo(np.float64).eps * np.sum(self._center**2) + self.limit(0.0)
        return squared, slack[:, None]

    def limit(self, distance: Any) -> Any:
        if self.metric in ("cosine", "inner_product"):
            return 2 * np.maximum(distance, self.measure.zero)
        return distance if self.metric == "sqeuclidean" else distance**2

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        indptr = np.arange(len(first) + 1, dtype=np.int64) * len(second)
        rows = RaggedRows(indptr, np.tile(second.astype(np.int32), len(first)), np.empty(0))
        return self._pairs(self.points[first], rows, n_threads).reshape(len(first), len(second))

    def settle(self, queries: Any, rows: RaggedRows, n_threads: int) -> RaggedRows:
        distances = self._pairs(queries, rows, n_threads)
        sort_rows(rows.indptr, rows.indices, distances, n_threads)
        return rows._replace(distances=distances)

    def _pairs(self, queries: Any, rows: RaggedRows, n_threads: int) -> NDArray[Any]:
        if sp.issparse(self.points):
            return _sparse_pairs(queries, self.points, rows, self.measure, self.dtype)
        distances = np.empty(len(rows.indices), self.dtype)
        pair_distances(queries, self.points, rows.indptr, rows.indices, distances, self.measure, n_threads)
        return distances


def check_scale(X: Any, dtype: Any) -> Any:
    """Refuse values whose squares a float of that dtype cannot hold; the dtype in which blocks are safe."""
    largest = max(float(X.max()), -float(X.min()))  # without a copy of X
    low, high = (1e-150, 1e153) if dtype == np.float64 else (1e-15, 1e18)
    high /= np.sqrt(X.shape[1])
    if largest and not low <= largest <= high:
        raise ValueError(
            f"the largest value of X is {largest:.3g} in size; it must lie between {low:g} and {high:.3g}, "
            "where squares of distances stay in the range of floats; rescale X, for example X / abs(X).max()"
        )
    return X.dtype if not largest or 1e-15 <= largest <= 1e15 else np.dtype(np.float64)


def _measure(metric: str, dtype: Any) -> Measure:
    if metric == "inner_product":
        return Measure(2.0, squared=True, factor=0.5)
    if metric != "cosine":
        return Measure(2.0, squared=metric == "sqeuclidean")
    # normalising rounds: vectors of one direction are up to that far apart
    apart = 4 * float(np.finfo(dtype).eps)
    return Measure(2.0, squared=True, factor=0.5, zero=apart**2 / 2)


def _check_unit(lengths: NDArray[np.float64]) -> None:
    """Refuse vectors whose inner products say nothing about how near they are."""
    wrong = np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT))
    if len(wrong):
        raise ValueError(
            f"metric='inner_product' needs rows of length 1, up to {_UNIT:g}; row {wrong[0]} has length "
            f"{lengths[wrong[0]]:.6g} (rows {some_of(wrong)}); use metric='cosine', which divides by the "
            "lengths, or metric='euclidean'"
        )


def check_directions(largest: NDArray[Any]) -> None:
    """Refuse rows without a direction, by their largest values in size."""
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        raise ValueError(
            f"metric='cosine' needs rows with a direction; rows {some_of(zero)} are all zero; "
            "drop these rows or use metric='euclidean'"
        )


def unit_vectors(X: Any) -> Any:
    """Each row divided by its length, in double: one copy of X, and blocks of it."""
    largest, least = X.max(axis=1), X.min(axis=1)  # first, so that no square leaves the range of floats
    if sp.issparse(X):
        largest, least = largest.toarray(), least.toarray()
    largest = np.maximum(largest, -least).astype(np.float64).reshape(-1, 1)
    check_directions(largest)
    if sp.issparse(X):
        scaled = sp.csr_array(X.multiply(1 / largest))
        return sp.csr_array(scaled.multiply(1 / np.sqrt(squared_norms(scaled))[:, None])).astype(X.dtype)
    unit = np.empty(X.shape, X.dtype)
    for part in row_blocks(X):
        block = X[part] / largest[part]
        unit[part] = block / np.sqrt(squared_norms(block))[:, None]
    return unit


def row_blocks(X: NDArray[Any]) -> Iterator[slice]:
    """Consecutive rows, so few that a copy of them in double stays in the processor's cache."""
    step = max(1, _BLOCK_VALUES // X.shape[1])
    return (slice(first, first + step) for first in range(0, len(X), step))


def _with_columns(X: Any, first: Any, second: Any) -> Any:
    """X with two more columns, each an array or a constant."""
    columns = [np.broadcast_to(column, X.shape[0]).astype(X.dtype)[:, None] for column in (first, second)]
    if sp.issparse(X):
        return sp.hstack([X, *(sp.csr_array(column) for column in columns)], format="csr")
    return np.hstack([X, *columns])


def squared_norms(X: Any, n_threads: int = 1) -> NDArray[np.float64]:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    squares = np.empty(len(X))
    squared_lengths(np.ascontiguousarray(X), squares, n_threads)
    return squares


def _sparse_pairs(queries: Any, points: Any, rows: RaggedRows, measure: Measure, dtype: Any) -> NDArray[Any]:
    sums = np.empty(len(rows.indices))
    for part, query, point in pair_blocks(rows, points.nnz // points.shape[0]):
        difference = queries[query].astype(np.float64) - points[point].astype(np.float64)
        sums[part] = squared_norms(difference)
    distances = (measure.factor * (sums if measure.squared else np.sqrt(sums))).astype(dtype)
    distances[distances < measure.zero] = 0
    return distances
