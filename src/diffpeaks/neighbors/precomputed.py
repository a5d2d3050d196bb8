"""Distances that the user computed: a square matrix, or a sparse graph in scikit-learn's form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from diffpeaks._native import move_self_first, sort_rows
from diffpeaks._validation import check_finite, check_graph_size, some_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.spaces import MatrixSpace

# Distances from a matrix product leave that much on the diagonal, relative to the largest distance.
_DIAGONAL_ROUNDING = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-5}


def space_from_matrix(X: Any) -> MatrixSpace:
    """A dense matrix of distances, checked; it may be asymmetric, row i holds the distances from i."""
    X = check_array(X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    check_finite(X)
    _check_distances(X.shape, X, X.diagonal())
    if X.diagonal().any():
        X = X.copy()
        np.fill_diagonal(X, 0)
    return MatrixSpace(X)


def graph_from_sparse(X: Any) -> NeighborGraph:
    """A sparse graph of distances; stored zeros are neighbours, the point itself is added if absent.

    To say that rows of one length are whole balls, make a `NeighborGraph` with their radius.
    """
    X = sp.csr_array(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    check_finite(X)
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
    nearest = degrees[0] > 1 and np.all(degrees == degrees[0]) and degrees[0] < len(degrees)
    return NeighborGraph(indptr, indices, distances, radius=0.0 if nearest else np.inf)


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
    away = np.flatnonzero(diagonal > _DIAGONAL_ROUNDING[values.dtype] * (values.max() if values.size else 0))
    if len(away):
        raise ValueError(
            f"the distance of a point to itself must be 0; it is {diagonal[away[0]]} at sample {away[0]} "
            f"(samples {some_of(away)}); a similarity must be turned into a distance first"
        )
