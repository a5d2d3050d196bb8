"""Neighbours that an index of another library proposes, such as faiss or hnswlib.

The index says which points may be near. How far they are is computed by the space, as for every
search, so that the library's own idea of a distance (squared, negated, compressed) never matters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_list_length, some_of
from diffpeaks._native import move_self_first
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import freeze
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.contract import Space
from diffpeaks.progress import stage

_BLOCK_ENTRIES = 1 << 22
_FOUND_SELF = 0.5  # share of points that any index worth using finds at their own place

Ask = Callable[[NDArray[np.float32], int], Any]


def graph_from_index(
    index: Any, X: Any, space: Space, n_neighbors: Any, radius: Any, n_threads: int
) -> NeighborGraph:
    """Each point's `n_neighbors` nearest among those that the index proposes for it."""
    ask, name = _ask(index), _name(index)
    _check_fits(index, name, X, space)
    if n_neighbors is None or radius is not None:
        raise ValueError(
            f"{name} answers n_neighbors without radius, got n_neighbors={n_neighbors} and radius={radius}; "
            "for balls use search='auto'"
        )
    n_samples = X.shape[0]
    n_neighbors = check_list_length(n_neighbors, n_samples)
    indices = _proposals(ask, name, X, n_neighbors)
    indptr = np.arange(n_samples + 1, dtype=np.int64) * n_neighbors
    unmeasured = RaggedRows(indptr, indices.ravel(), np.broadcast_to(0.0, indices.size))
    rows = space.settle(space.points, unmeasured, n_threads)
    _check_found_themselves(rows, name)
    move_self_first(*rows, n_threads)
    for values in rows:
        freeze(values)
    complete = np.inf if n_neighbors == n_samples else 0.0
    return NeighborGraph(*rows, n_neighbors, complete, name)


def _ask(index: Any) -> Ask:
    """How the index is asked for points near some queries."""
    if hasattr(index, "knn_query") and not isinstance(index, type):
        return lambda queries, n_neighbors: index.knn_query(queries, n_neighbors)[0]
    if hasattr(index, "search") and not isinstance(index, type):
        return lambda queries, n_neighbors: index.search(queries, n_neighbors)[1]
    raise TypeError(
        f"search={index!r} is no search; use 'auto', the name of one, or an instance of an index of faiss or "
        "hnswlib that holds X, with a method search(X, k) or knn_query(X, k)"
    )


def _name(index: Any) -> str:
    kind = type(index)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"


def _check_fits(index: Any, name: str, X: Any, space: Space) -> None:
    """Refuse points that the index cannot hold, and metrics that need more than pairs of points."""
    if not isinstance(X, np.ndarray):
        raise ValueError(f"{name} needs dense points, got a sparse matrix; use X.toarray() or search='auto'")
    if not space.settles_pairs:
        raise ValueError(
            f"{name} proposes points whose distances are then computed pair by pair, which is done for "
            "Minkowski, Euclidean and cosine metrics; use search='brute', or the index's own distances with "
            "NeighborGraph.from_arrays"
        )
    by_query = hasattr(index, "knn_query")
    n_held = getattr(index, "element_count" if by_query else "ntotal", None)
    n_features = getattr(index, "dim" if by_query else "d", None)
    for held, given, what in ((n_held, X.shape[0], "points"), (n_features, X.shape[1], "features")):
        if held is not None and held != given:
            raise ValueError(f"{name} has {held} {what}, X has {given}; it must hold the rows of X in order")


def _proposals(ask: Ask, name: str, X: NDArray[Any], n_neighbors: int) -> NDArray[np.int32]:
    """A table of points near each point of X, asked for in blocks."""
    n_samples = len(X)
    table = np.empty((n_samples, n_neighbors), np.int32)
    step = max(1, _BLOCK_ENTRIES // max(n_neighbors, X.shape[1]))
    with stage("neighbours", n_samples) as done:
        for first in range(0, n_samples, step):
            queries = _as_float32(X[first : first + step], first, name)
            try:
                found = np.asarray(ask(queries, n_neighbors))
            except RuntimeError as error:
                row = first + _first_refused(ask, queries, n_neighbors)
                raise ValueError(_too_few(name, row, n_neighbors, str(error))) from error
            _check_proposals(found, (len(queries), n_neighbors), first, n_samples, name)
            table[first : first + step] = found
            done(len(queries))
    return table


def _as_float32(rows: NDArray[Any], first: int, name: str) -> NDArray[np.float32]:
    """Rows of X, from `first` on, as an index takes them."""
    with np.errstate(over="ignore"):
        queries = np.ascontiguousarray(rows, np.float32)
    strange = np.flatnonzero(~np.isfinite(queries).all(axis=1))
    if len(strange):
        raise ValueError(
            f"rows {some_of(first + strange)} of X hold NaN, or values above the range of float32, which "
            f"{name} cannot take; rescale X or use search='auto'"
        )
    return queries


def _first_refused(ask: Ask, queries: NDArray[np.float32], n_neighbors: int) -> int:
    """A query for which the index raises, found by halving."""
    first, last = 0, len(queries)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            ask(queries[first:middle], n_neighbors)
            first = middle
        except RuntimeError:
            last = middle
    return first


def _check_proposals(
    found: NDArray[Any], shape: tuple[int, int], first: int, n_samples: int, name: str
) -> None:
    if found.dtype.kind not in "iu" or found.shape != shape:
        raise TypeError(
            f"{name} returned {found.dtype} of shape {found.shape} where row numbers of shape {shape} were "
            "expected: search(X, k) must return (distances, row numbers), knn_query(X, k) the reverse"
        )
    if found.min() >= 0 and found.max() < n_samples:
        return
    row, column = np.argwhere((found < 0) | (found >= n_samples))[0]
    if found[row, column] == -1:
        raise ValueError(_too_few(name, first + row, shape[1], f"{column} were found, the rest is -1"))
    raise ValueError(
        f"{name} names point {found[row, column]} for row {first + row}, outside 0 .. {n_samples - 1}; it "
        "must hold the rows of X under their row numbers"
    )


def _too_few(name: str, row: int, n_neighbors: int, why: str) -> str:
    return (
        f"{name} did not find n_neighbors={n_neighbors} points for row {row} ({why}); search with more "
        "effort (nprobe of faiss's IVF, efSearch of its HNSW, set_ef of hnswlib), build a better index, or "
        "use a smaller n_neighbors"
    )


def _check_found_themselves(rows: RaggedRows, name: str) -> None:
    """Refuse an index of other points: those of X lie nowhere near what it returns for them."""
    nearest = rows.indptr[:-1]  # rows are sorted: whoever found itself or a duplicate has it first
    there = rows.distances[nearest] == 0
    if there.mean() < _FOUND_SELF:
        lost = np.flatnonzero(~there)
        raise ValueError(
            f"{name} did not find the points {some_of(lost)} themselves; it must hold the rows of X in "
            "order, for the same metric (inner products of vectors of length 1 only), or search with more "
            "effort"
        )
