"""Distances that the user computed: a square matrix, a sparse graph in scikit-learn's form, or tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from diffpeaks._base.validation import check_finite, check_graph_size
from diffpeaks._native import move_self_first, sort_rows
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.checks import check_self_distances
from diffpeaks.neighbors.given_graph import GivenGraph
from diffpeaks.neighbors.points import Choice, PointSet
from diffpeaks.neighbors.spaces import MatrixSpace


def _space_from_matrix(X: Any) -> MatrixSpace:
    """A dense matrix of distances, checked; it may be asymmetric, row i holds the distances from i."""
    _check_distances(X.shape, X, X.diagonal())
    if X.diagonal().any():
        X = X.copy()
        np.fill_diagonal(X, 0)
    return MatrixSpace(X)


def points_of_distances(X: Any, metric_params: Any, choice: Choice) -> PointSet | GivenGraph:
    """Given distances: a graph of some of them, or a matrix of all."""
    if metric_params:
        raise ValueError(f"metric='precomputed' takes no metric_params, got {metric_params}")
    if choice.asked not in ("auto", "exact", "brute"):
        raise ValueError(f"search={choice.asked!r} needs points, not distances; use 'auto' or 'brute'")
    if choice.device is not None:
        raise ValueError(f"device={choice.device!r} needs points, not distances; use device=None")
    if not isinstance(X, NeighborGraph):
        check_finite(X)
        if not sp.issparse(X):
            return choice.points(_space_from_matrix(X))
    if choice.memory_limit is not None:
        raise ValueError(f"memory_limit={choice.memory_limit} has no effect: in a graph nothing is searched")
    return GivenGraph(X if isinstance(X, NeighborGraph) else _graph_from_sparse(X), choice.n_threads)


def graph_from_tables(X: Any) -> Any:
    """A pair (indices, distances) of tables as a graph; anything else as it is."""
    if isinstance(X, tuple) and len(X) == 2 and all(np.ndim(table) == 2 for table in X):
        return NeighborGraph.from_arrays(*X, metric="precomputed")
    return X


def _graph_from_sparse(X: Any) -> NeighborGraph:
    """A sparse graph of distances; stored zeros are neighbours, the point itself is added if absent.

    To say that rows of one length are whole balls, make a `NeighborGraph` with their radius.
    """
    X = sp.csr_array(X)
    _check_not_connectivity(X)
    _check_distances(X.shape, X.data, X.diagonal())
    check_graph_size(X.shape[0], X.nnz + X.shape[0])
    if not X.has_canonical_format:
        X = X.sorted_indices()
        if not X.has_canonical_format:
            raise ValueError("the sparse graph stores an entry twice; call sum_duplicates() first")
    owners = np.repeat(np.arange(X.shape[0], dtype=np.int32), np.diff(X.indptr))
    has_self = np.zeros(X.shape[0], bool)
    has_self[owners[X.indices == owners]] = True
    absent = np.flatnonzero(~has_self)
    indptr = X.indptr.astype(np.int64)
    indices = np.insert(X.indices, indptr[absent], absent).astype(np.int32)
    distances = np.insert(X.data, indptr[absent], 0)
    indptr[1:] += np.cumsum(~has_self)
    sort_rows(indptr, indices, distances, 1)
    move_self_first(indptr, indices, distances, 1)
    degrees = np.diff(indptr)
    # rows of one length are nearest neighbours, about whose balls nothing is known; others are balls
    one_length = any(np.all(lengths == lengths[0]) for lengths in (degrees, np.diff(X.indptr)))
    nearest = one_length and degrees.max() > 1 and degrees.min() < len(degrees)
    return NeighborGraph(indptr, indices, distances, radius=0.0 if nearest else np.inf)


def _check_not_connectivity(X: Any) -> None:
    """Refuse a graph that says who is near whom, but not how near; a stored 0 shows that 1 is a distance."""
    if X.nnz and np.all(X.data == 1):
        raise ValueError(
            "every value that the sparse graph stores is 1: this is who is connected, not a distance; use "
            "mode='distance' of scikit-learn's transformers and neighbour graphs, or store the zeros of the "
            "diagonal too if all distances are 1"
        )


def _check_distances(shape: tuple[int, ...], values: Any, diagonal: Any) -> None:
    if shape[0] != shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances, got shape {shape}; "
            "pass points with another metric, or distances among all samples"
        )
    if values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: a distance must be at least 0, but the smallest is {values.min()}; "
            "a similarity must be turned into a distance first"
        )
    check_self_distances(diagonal, np.arange(len(diagonal)), values.max() if values.size else 0)
