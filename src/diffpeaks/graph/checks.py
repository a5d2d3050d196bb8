"""Checks of the arrays of a neighbour graph, and arrays that cannot be changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.validation import (
    check_graph_size,
    check_integers,
    check_unmasked,
    is_number,
    some_of,
)
from diffpeaks._native import first_fault
from diffpeaks.graph.rows import RaggedRows

# Distances from a matrix product leave that much to a point itself, relative to the largest distance.
_SELF_ROUNDING = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-5}
_FAULTS = {
    1: "does not start with the point itself",
    2: "has the point itself at a distance other than 0",
    3: "names a point outside 0 .. n_samples - 1",
    4: "has a distance that is negative, NaN or infinite; drop such samples or use another metric",
    5: "is not sorted by (distance, index)",
    6: "names a point twice",
}


def checked_rows(indptr: ArrayLike, indices: ArrayLike, distances: ArrayLike) -> RaggedRows:
    """Read-only arrays that hold the invariants of a neighbour graph."""
    offsets = check_integers("indptr", indptr).astype(np.int64, copy=False)
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        raise ValueError(
            "indptr must be n_samples + 1 ascending offsets from 0 with n_samples >= 1, "
            f"got an array of shape {offsets.shape}"
        )
    for name, values in (("indices", indices), ("distances", distances)):
        check_unmasked(name, values)
        if np.shape(values) != (offsets[-1],):
            raise ValueError(f"{name} has shape {np.shape(values)}, but indptr ends at {offsets[-1]}")
    check_graph_size(len(offsets) - 1, 0)
    rows = RaggedRows(
        frozen(offsets, np.int64),
        frozen(_checked_points(indices, offsets), np.int32),
        frozen(distances, _real_dtype(distances)),
    )
    row, fault = first_fault(rows)
    if fault:
        raise ValueError(f"row {row} of the graph {_FAULTS[fault]}")
    return rows


def _checked_points(indices: ArrayLike, indptr: NDArray[Any]) -> NDArray[Any]:
    """Indices of points, checked before they become int32."""
    array, n_samples = check_integers("indices", indices), len(indptr) - 1
    if array.dtype != np.int32 and len(array) and not (array.min() >= 0 and array.max() < n_samples):
        entry = np.flatnonzero((array < 0) | (array >= n_samples))[0]
        row = np.searchsorted(indptr, entry, side="right") - 1
        raise ValueError(f"row {row} of the graph names {array[entry]}, a point outside 0 .. {n_samples - 1}")
    return array


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Values as a read-only, contiguous array: a copy, unless they are one that nobody can change."""
    given = np.asarray(values)
    array = np.ascontiguousarray(given, dtype)
    if np.may_share_memory(array, given) and not _is_frozen(given):
        array = array.copy()
    array = array.view()
    array.flags.writeable = False
    return array


def _is_frozen(array: NDArray[Any]) -> bool:
    """Whether an array and everything that it is a view of are read-only.

    The owner of the memory may be no array: a file that is mapped for reading, or bytes, say so
    themselves. One that cannot say so, such as a tensor of another library, may change.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    while isinstance(owner, memoryview):  # a read-only view of what may be changed elsewhere
        owner = owner.obj
    if owner is None:
        return True
    try:
        with memoryview(owner) as view:
            return view.readonly
    except TypeError:
        return False


def _real_dtype(distances: ArrayLike) -> Any:
    return np.float32 if np.asarray(distances).dtype == np.float32 else np.float64


def check_claims(n_neighbors: Any, shortest: int, radius: Any, recall: Any, recall_error: Any) -> None:
    """Refuse what a graph cannot say of its rows, of which the shortest has that length."""
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)):
        raise TypeError(f"n_neighbors must be an integer or None, got {n_neighbors!r}")
    if not 1 <= n_neighbors <= shortest:
        raise ValueError(
            f"n_neighbors={n_neighbors} must lie in 1 .. {shortest}, the length of the shortest row; give "
            "None for that length"
        )
    numbers = {"radius": radius, "recall": 1.0 if recall is None else recall, "recall_error": recall_error}
    for name, value in numbers.items():
        if not is_number(value):
            raise TypeError(f"{name} must be a number, got {value!r}")
    if not radius >= 0:
        raise ValueError(f"radius={radius} must be a number of at least 0; 0 says that it is not known")
    if recall is not None and not 0 <= recall <= 1:
        raise ValueError(f"recall={recall} must lie in 0 .. 1, or be None where it is not known")
    if not 0 <= recall_error <= 1:
        raise ValueError(f"recall_error={recall_error} must lie in 0 .. 1; 0 says that a recall is exact")


def is_self_rounding(values: NDArray[Any], largest: float) -> NDArray[np.bool_]:
    """Which distances of samples to themselves are zero but for rounding."""
    return abs(values) <= _SELF_ROUNDING[values.dtype] * largest


def check_self_distances(values: NDArray[Any], samples: NDArray[Any], largest: float) -> None:
    """Refuse distances of some samples to themselves that are more than rounding."""
    away = np.flatnonzero(~is_self_rounding(values, largest))
    if len(away):
        raise ValueError(
            f"the distance of a point to itself must be 0; it is {values[away[0]]} at sample "
            f"{samples[away[0]]} (samples {some_of(samples[away])}); a similarity must be turned into a "
            "distance first, and rounding be set to 0"
        )
