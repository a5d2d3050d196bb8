"""What every space and every search promises; `tests/neighbors/test_contract.py` holds them to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diffpeaks.graph.rows import RaggedRows
    from diffpeaks.neighbors.duplicates import Duplicates

Told: TypeAlias = tuple[str, float, float]  # how neighbours were found, their recall, and its error

# Relative difference below which two computations of one distance may disagree.
ROUNDING = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-12}


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
    can_join: bool  # whether distances are those of dense points in Euclidean space, or functions of these
    settles_pairs: bool  # whether `settle` computes distances; if not, it keeps those of the candidates
    divisible: bool  # whether queries can be compared with some of the points as with all
    calls_python: bool  # for each distance
    copied_bytes: int  # what the points take beside those that were given

    @property
    def measure(self) -> Measure | None:
        """How differences make the distances, if the metric is one that a kd-tree understands."""

    def queries(self, X: Any) -> Any:
        """Queries in the form that `block` and `settle` take."""

    def duplicates(self, n_threads: int) -> Duplicates:
        """Which points coincide; found once."""

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

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Distances from some of the points to some of the points."""

    def settle(self, queries: Any, rows: RaggedRows, n_threads: int) -> RaggedRows:
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
    - `told` says how `nearest` finds that many neighbours of the points themselves, which share of them it
      finds, and half the width of the 95% interval of that; None is a search that finds all of them.
    - `moved` is the same search of the same points after they were moved a little; it finds what a search
      from nothing finds, or as large a share, and may start from what this one knows.
    - Memory beyond the result is bounded by blocks, whatever the number of queries.
    - The number of threads changes nothing but the time.
    """

    name: str
    space: Space

    def __init__(self, space: Space, n_threads: int) -> None: ...

    @property
    def told(self) -> Callable[[int], Told] | None: ...

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows: ...

    def within(self, queries: Any, radius: float) -> RaggedRows: ...

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows: ...

    def moved(self, space: Space) -> Search: ...


class ExactSearch:
    """What searches share that find every neighbour."""

    told: Callable[[int], Told] | None = None


def like(points: Any, X: Any) -> Any:
    """X in the form of the points: dense or sparse, and of their dtype."""
    if sp.issparse(points):
        return sp.csr_array(X).astype(points.dtype)
    return (X.toarray() if sp.issparse(X) else X).astype(points.dtype, copy=False)


def copied_bytes(points: Any) -> int:
    """What points take that are no part of those given."""
    if sp.issparse(points):
        return sum(values.nbytes for values in (points.data, points.indices, points.indptr))
    return int(points.nbytes)


def check_representable(distances: NDArray[Any]) -> None:
    """Refuse distances that a float cannot hold."""
    if not np.isfinite(distances).all():
        raise ValueError("a difference of two values is too large for a float; rescale X")
