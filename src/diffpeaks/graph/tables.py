"""Tables of neighbours that another library found, turned into the rows of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.validation import check_graph_size, check_unmasked, n_threads
from diffpeaks._native import move_self_first, sort_rows
from diffpeaks.graph.checks import check_self_distances

# Their distances obey the triangle inequality, and squares of them do not.
_TRUE_METRICS = {"euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev"}
_TRIANGLE_ROWS, _TRIANGLE_WAYS = 1024, 64  # rows looked at, and ways around in each: enough to find squares
_TRIANGLE_ROUNDING = 1e-2  # of a row's reach, the most that rounding or a compressed index leaves


def checked_tables(indices: ArrayLike, distances: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as arrays of one shape, points and distances; what cannot be these is refused."""
    for name, table in (("indices", indices), ("distances", distances)):
        check_unmasked(name, table)
    points, lengths = np.asarray(indices), np.asarray(distances)
    if points.dtype.kind not in "iu":
        swapped = points.dtype.kind == "f" and lengths.dtype.kind in "iu"
        remedy = (
            "swap the two: indices come first; scikit-learn's kneighbors and faiss return them second"
            if swapped
            else "give row numbers; rows of different lengths go into a scipy.sparse matrix of distances"
        )
        raise TypeError(f"indices must be integers, got an array of dtype {points.dtype}; {remedy}")
    if lengths.dtype.kind not in "iuf":
        raise TypeError(f"distances must be real numbers, got an array of dtype {lengths.dtype}")
    if points.ndim != 2 or 0 in points.shape or points.shape != lengths.shape:
        raise ValueError(
            f"indices and distances must have one shape (n_samples, k) with both at least 1, got "
            f"{points.shape} and {lengths.shape}"
        )
    check_graph_size(len(points), len(points) * (points.shape[1] + 1))
    _check_points(points)
    single = lengths.dtype.newbyteorder("=") == np.float32
    lengths = lengths.astype(np.float32 if single else np.float64, copy=False)
    _check_values(lengths, _own(points))
    return points, lengths


def rows_of_tables(
    points: NDArray[Any], lengths: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """New arrays of offsets, points and distances, in the order of a graph; absent points are added."""
    n_samples, width = points.shape
    has_self = _own(points).any(axis=1)
    absent = np.flatnonzero(~has_self)
    flat_points = np.insert(points.astype(np.int32).ravel(), absent * width, absent)
    flat_lengths = np.insert(lengths.ravel(), absent * width, 0)
    indptr = np.arange(n_samples + 1, dtype=np.int64) * width
    indptr[1:] += np.cumsum(~has_self)
    sort_rows(indptr, flat_points, flat_lengths, n_threads(None))
    move_self_first(indptr, flat_points, flat_lengths, n_threads(None))
    return indptr, flat_points, flat_lengths


def check_metric_of_tables(metric: str) -> None:
    from sklearn.neighbors import VALID_METRICS

    known = sorted([*VALID_METRICS["brute"], "inner_product"])
    if metric not in known:
        raise ValueError(
            f"metric={metric!r} is unknown; use 'precomputed' for distances of any kind, or one of {known}"
        )


def _own(points: NDArray[Any]) -> NDArray[np.bool_]:
    """Where rows name their own point."""
    return points == np.arange(len(points))[:, None]


def _check_points(points: NDArray[Any]) -> None:
    n_samples, width = points.shape
    if points.min() >= 0 and points.max() < n_samples:
        return
    row, column = np.argwhere((points < 0) | (points >= n_samples))[0]
    point = points[row, column]
    if point == -1:
        raise ValueError(
            f"row {row} is padded with -1 from entry {column} on: its search found only {column} of {width} "
            "neighbours; search again with more effort (nprobe, efSearch, ef), or ask for fewer neighbours"
        )
    raise ValueError(
        f"row {row} names {point}, a point outside 0 .. {n_samples - 1}; indices must be row numbers of this "
        "same table, one row for each point, without padding"
    )


def _check_values(lengths: NDArray[Any], own: NDArray[np.bool_]) -> None:
    """Refuse what is no distance: NaN, infinity, negative values, similarities."""
    bad = ~(np.isfinite(lengths) & ((lengths >= 0) | own))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"row {row} has the distance {lengths[row, column]} at entry {column}; a distance must be a "
            "finite number of at least 0: turn similarities s into distances first, for example 1 - s; drop "
            "samples with NaN; clip what rounding left below 0 with np.maximum(distances, 0)"
        )
    check_self_distances(lengths[own], np.nonzero(own)[0], lengths.max())
    if own.any() or lengths.shape[1] < 2:
        return  # a point at distance 0 from itself: no similarities
    steps = np.diff(lengths, axis=1)
    descending = np.flatnonzero((steps < 0).any(axis=1))
    if len(descending) and not (steps > 0).any():
        row = descending[0]
        raise ValueError(
            f"row {row} descends from {lengths[row, 0]} to {lengths[row, -1]}, and no row ascends: these are "
            "similarities, not distances; turn them into distances first, for example 1 - s; reverse the "
            "columns of both tables if they are distances from the farthest to the nearest"
        )


def check_triangles(points: NDArray[Any], lengths: NDArray[Any], metric: str) -> None:
    """Refuse a distance of a true metric that is longer than a way around: squared distances are."""
    if metric not in _TRUE_METRICS:
        return
    direct = np.full(len(points), np.nan)
    stride = max(1, len(points) // _TRIANGLE_ROWS)
    for row in range(0, len(points), stride):
        between = points[row, :_TRIANGLE_WAYS]
        direct[points[row]] = lengths[row]
        around = lengths[row, :_TRIANGLE_WAYS, None].astype(np.float64) + lengths[between]
        longer = direct[points[between]] > around + _TRIANGLE_ROUNDING * lengths[row].max()
        if longer.any():
            via, last = np.argwhere(longer)[0]
            end = points[between[via], last]
            raise ValueError(
                f"row {row} has the distance {direct[end]:.6g} to point {end}, but the way through point "
                f"{between[via]} is only {around[via, last]:.6g}: no {metric} distance does that; take "
                "np.sqrt of squared distances, as faiss and hnswlib return them, or say which metric it is, "
                "metric='cosine', or 'precomputed' to take them as they are"
            )
        direct[points[row]] = np.nan
