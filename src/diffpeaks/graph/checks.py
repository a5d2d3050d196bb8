"""Checks of the arrays of a neighbour graph, and arrays that cannot be changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.validation import (
    check_graph_size,
    check_integers,
    check_point_indices,
    check_unmasked,
)
from diffpeaks._native import first_fault
from diffpeaks.graph.rows import RaggedRows

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
        frozen(check_point_indices(indices, offsets), np.int32),
        frozen(distances, _real_dtype(distances)),
    )
    row, fault = first_fault(rows)
    if fault:
        raise ValueError(f"row {row} of the graph {_FAULTS[fault]}")
    return rows


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
