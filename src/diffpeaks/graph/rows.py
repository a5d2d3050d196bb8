"""Rows in flat arrays, one after the other: where they start, their first entries, and as a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diffpeaks._native import Graph

_BLOCK_ENTRIES = 1 << 17  # a block of rows and its temporaries stay in the processor's cache


class RaggedRows(NamedTuple):
    """Points for each query as flat rows.

    Results of a search are sorted by (distance, index). Candidates are not, and their distances are
    approximations until the space has computed the exact ones (`settle`).
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    distances: NDArray[Any]


def offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Where each row starts in flat arrays, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def row_blocks(indptr: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Consecutive (rows, entries) slices, small enough that temporaries of a block are cheap."""
    first, n_rows = 0, len(indptr) - 1
    while first < n_rows:
        goal = indptr[first] + _BLOCK_ENTRIES
        last = max(first + 1, int(np.searchsorted(indptr, goal, side="right")) - 1)
        yield slice(first, last), slice(int(indptr[first]), int(indptr[last]))
        first = last


def row_prefixes(
    indptr: NDArray[np.int64], lengths: NDArray[np.int64], *columns: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """The offsets and columns of the rows that keep only so many of their first entries."""
    kept, degrees = offsets(lengths), np.diff(indptr)
    if kept[-1] == indptr[-1]:
        return kept, *columns
    if np.all(degrees == degrees[0]) and np.all(lengths == lengths[0]):
        table = (len(degrees), int(degrees[0]))
        return kept, *(column.reshape(table)[:, : lengths[0]].ravel() for column in columns)
    entries = np.arange(kept[-1]) + np.repeat(indptr[:-1] - kept[:-1], lengths)
    return kept, *(column[entries] for column in columns)


def csr(rows: Graph, data: NDArray[Any]) -> sp.csr_array:
    """`data`, one value for each entry of a graph, as a sparse matrix that shares its structure.

    The arrays are set one by one because scipy's constructor would copy the indices to 64 bits where
    the offsets need them.
    """
    n_samples = len(rows.indptr) - 1
    small = len(rows.indices) <= np.iinfo(np.int32).max
    indptr = rows.indptr.astype(np.int32) if small else rows.indptr
    matrix = sp.csr_array((n_samples, n_samples), dtype=data.dtype)
    matrix.indptr, matrix.indices, matrix.data = indptr, rows.indices, data
    return matrix
