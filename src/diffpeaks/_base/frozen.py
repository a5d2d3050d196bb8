"""Arrays that nobody can change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Values as a read-only, contiguous array: a copy, unless they are one that nobody can change."""
    given = np.asarray(values)
    array = np.ascontiguousarray(given, dtype)
    if np.may_share_memory(array, given) and not _is_frozen(given):
        array = array.copy()
    array = array.view()
    array.flags.writeable = False
    return array


def freeze(array: NDArray[Any]) -> None:
    """Make an array that nobody else holds read-only, with all that it is a view of."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner.flags.writeable = False
        owner = owner.base


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
