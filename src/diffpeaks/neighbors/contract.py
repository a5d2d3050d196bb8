"""What every neighbour search promises. `tests/test_search_contract.py` holds each one to it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

# Relative difference below which two computations of one distance may disagree.
ROUNDING = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-12}


class Neighbors(NamedTuple):
    """Neighbours of each query as flat rows, sorted by (distance, index)."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    distances: NDArray[Any]


class Search(Protocol):
    """Finds neighbours of queries among the points it was built on.

    The promise, to the last bit:

    - The order among points is (distance, index), and the distance of a pair is the one its space
      computes, whichever search proposed the pair. So two exact searches give equal arrays.
    - `nearest` returns exactly `n_neighbors` points a row, the first in that order.
    - `within` returns all points at distance `radius` or less: the ball is closed.
    - A query that is one of the points finds itself like any other point. Putting it first in its
      own row is the graph builder's work, not the search's.
    - Memory beyond the result is bounded by blocks, whatever the number of queries.
    - The number of threads changes nothing but the time.
    """

    name: str

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors: ...

    def within(self, queries: Any, radius: float) -> Neighbors: ...


def concatenated(parts: list[Neighbors]) -> Neighbors:
    """Rows of consecutive blocks of queries as one."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return Neighbors(
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )


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


def at_most(rows: Neighbors, limit: Any) -> Neighbors:
    """Only entries at distance `limit` or less, one limit for all or one for each entry."""
    inside = rows.distances <= limit
    kept = np.concatenate(([0], np.cumsum(inside)))
    return Neighbors(kept[rows.indptr], rows.indices[inside], rows.distances[inside])
