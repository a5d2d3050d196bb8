"""What every space and every search promises; `tests/test_search_contract.py` holds them to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks.graph.rows import offsets

if TYPE_CHECKING:
    from diffpeaks.neighbors.locations import Locations

# Relative difference below which two computations of one distance may disagree.
ROUNDING = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-12}

_PAIR_BLOCK_VALUES = 1 << 22


class Neighbors(NamedTuple):
    """Points for each query as flat rows.

    What a search returns is sorted by (distance, index). Candidates on their way there are not, and
    their distances are those that selected them, until a space has settled them.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    distances: NDArray[Any]


class Measure(NamedTuple):
    """How differences make a Minkowski distance of order 1, 2 or infinity, or a relative of one.

    A sum of squares (2), a sum of sizes (1) or the largest size (infinity); of squares the root, unless
    the metric is squared; times a factor; and what is then below `zero` is zero but for rounding.
    """

    order: float
    squared: bool = False
    factor: float = 1.0
    zero: float = 0.0


class Space(Protocol):
    """Points and a metric.

    A search may select with `block`, whose values are off by at most the slack it states; what is
    kept gets its distance from `settle`. A kd-tree computes the same number by the `measure`.
    """

    points: Any
    dtype: Any
    minkowski_order: float | None  # the p of a metric that a kd-tree understands
    settles_pairs: bool  # whether `settle` computes distances; if not, it keeps those of the candidates
    divisible: bool  # whether queries can be compared with some of the points as with all
    copied_bytes: int  # what the points take beside those that were given

    @property
    def measure(self) -> Measure | None:
        """How differences make the distances, if the metric is one that a kd-tree understands."""

    def queries(self, X: Any) -> Any:
        """Queries in the form that `block` and `settle` take."""

    def locations(self) -> Locations:
        """The points grouped by where they lie."""

    def same(self, queries: Any, first: int) -> NDArray[np.bool_]:
        """Which queries equal the points of the numbers `first`, `first` + 1, ..."""

    def restricted(self, which: NDArray[Any] | slice) -> Self:
        """The space of some of the points."""

    def reversed(self) -> Self:
        """The space with d(y, x) in the place of d(x, y)."""

    def block(self, queries: Any) -> tuple[NDArray[Any], Any]:
        """Selection values of queries x points, and a bound on their error for each query."""

    def limit(self, distance: Any) -> Any:
        """The selection value of a distance, or of an array of them."""

    def between(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        """Distances from some of the points to some of the points."""

    def settle(self, queries: Any, rows: Neighbors, n_threads: int) -> Neighbors:
        """The same rows with final distances, in the order (distance, index)."""


class Search(Protocol):
    """Finds neighbours of queries among the points of a space, on some number of threads.

    The promise, to the last bit:

    - The order among points is (distance, index), and the distance of a pair is the one its space
      computes, whichever search proposed the pair. So two exact searches give equal arrays.
    - `nearest` returns exactly `n_neighbors` points a row, the first in that order.
    - `within` returns all points at distance `radius` or less: the ball is closed.
    - `reaching` does so with a radius for each point, and with distances from the point to the query
      where these differ from those in the other direction.
    - A query that is one of the points finds itself like any other point. Putting it first in its
      own row is the graph builder's work, not the search's.
    - `recall` is the share of nearest neighbours of the points themselves that `nearest` finds, and half
      the width of its 95% interval: 1 and 0 for every search but the approximate one.
    - Memory beyond the result is bounded by blocks, whatever the number of queries.
    - The number of threads changes nothing but the time.
    """

    name: str
    space: Space

    def __init__(self, space: Space, n_threads: int) -> None: ...

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors: ...

    def within(self, queries: Any, radius: float) -> Neighbors: ...

    def reaching(self, queries: Any, reach: NDArray[Any]) -> Neighbors: ...

    def recall(self, n_neighbors: int) -> tuple[float, float]: ...


class ExactSearch:
    """What a search that finds every neighbour says of its recall."""

    def recall(self, n_neighbors: int) -> tuple[float, float]:
        return 1.0, 0.0


def can_join(space: Space) -> bool:
    """Whether distances are those of dense points in Euclidean space, or functions of these."""
    return space.measure is not None and space.minkowski_order == 2


def like(points: Any, X: Any) -> Any:
    """X in the form of the points: dense or sparse, and of their dtype."""
    if sp.issparse(points):
        return sp.csr_array(X).astype(points.dtype)
    return (X.toarray() if sp.issparse(X) else X).astype(points.dtype, copy=False)


def copied_bytes(points: Any, X: Any) -> int:
    """What points take that were made of X; nothing if they are X."""
    if points is X:
        return 0
    return (
        sum(values.nbytes for values in (points.data, points.indices, points.indptr))
        if sp.issparse(points)
        else points.nbytes
    )


def check_representable(distances: NDArray[Any]) -> None:
    """Refuse distances that a float cannot hold."""
    if not np.isfinite(distances).all():
        raise ValueError("a difference of two values is too large for a float; rescale X")


def pair_blocks(rows: Neighbors, values_each: int) -> Iterator[tuple[slice, Any, Any]]:
    """Blocks of pairs (entries, queries, points) whose coordinates stay small in memory."""
    owners = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    step = max(1, _PAIR_BLOCK_VALUES // max(1, values_each))
    for first in range(0, len(owners), step):
        part = slice(first, first + step)
        yield part, owners[part], rows.indices[part]


def concatenated(parts: list[Neighbors]) -> Neighbors:
    """Rows of consecutive blocks of queries as one; the parts are given up on the way."""
    if len(parts) == 1:
        return parts[0]
    indptr = offsets(np.concatenate([np.diff(part.indptr) for part in parts]))
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], parts[0].distances.dtype)
    last = len(indices)
    while parts:
        part = parts.pop()
        first = last - len(part.indices)
        indices[first:last], distances[first:last] = part.indices, part.distances
        last = first
    return Neighbors(indptr, indices, distances)


def scattered(answers: list[tuple[NDArray[Any], Neighbors]], n_rows: int, dtype: Any) -> Neighbors:
    """Rows that were found in parts, each with the places of its rows; the parts are given up on the way."""
    lengths = np.zeros(n_rows, np.int64)
    for which, rows in answers:
        lengths[which] = np.diff(rows.indptr)
    indptr = offsets(lengths)
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    while answers:
        which, rows = answers.pop()
        places = np.arange(len(rows.indices)) + np.repeat(indptr[which] - rows.indptr[:-1], lengths[which])
        indices[places], distances[places] = rows.indices, rows.distances
    return Neighbors(indptr, indices, distances)


def first_of_rows(rows: Neighbors, n_neighbors: int) -> Neighbors:
    """Only the first `n_neighbors` of each row; every row must hold as many."""
    starts = rows.indptr[:-1]
    if np.any(np.diff(rows.indptr) < n_neighbors):
        raise ValueError(f"a search found fewer than n_neighbors={n_neighbors} points for some query")
    if len(rows.indices) == len(starts) * n_neighbors:
        return rows
    keep = (starts[:, None] + np.arange(n_neighbors)).ravel()
    indptr = np.arange(len(starts) + 1, dtype=np.int64) * n_neighbors
    return Neighbors(indptr, rows.indices[keep], rows.distances[keep])


def leading(rows: Neighbors, which: NDArray[Any], lengths: NDArray[np.int64]) -> Neighbors:
    """Some of the rows, and of each as many entries as its length says."""
    indptr = offsets(lengths)
    keep = np.arange(indptr[-1]) + np.repeat(rows.indptr[which] - indptr[:-1], lengths)
    return Neighbors(indptr, rows.indices[keep], rows.distances[keep])


def at_most(rows: Neighbors, limit: Any) -> Neighbors:
    """Only entries at distance `limit` or less, one limit for all or one for each entry."""
    inside = rows.distances <= np.atleast_1d(limit)  # an array, so that no limit is rounded to float32
    kept = offsets(inside)
    return Neighbors(kept[rows.indptr], rows.indices[inside], rows.distances[inside])


def with_rows(rows: Neighbors, which: NDArray[Any], replacement: Neighbors) -> Neighbors:
    """`rows` with some of them replaced."""
    replaced = np.zeros(len(rows.indptr) - 1, bool)
    replaced[which] = True
    lengths = np.diff(rows.indptr)
    kept_entries = np.repeat(~replaced, lengths)
    lengths[which] = np.diff(replacement.indptr)
    indptr = offsets(lengths)
    from_replacement = np.repeat(replaced, lengths)
    indices = np.empty(indptr[-1], np.int32)
    distances = np.empty(indptr[-1], rows.distances.dtype)
    indices[from_replacement] = replacement.indices
    indices[~from_replacement] = rows.indices[kept_entries]
    distances[from_replacement] = replacement.distances
    distances[~from_replacement] = rows.distances[kept_entries]
    return Neighbors(indptr, indices, distances)
