"""Points for each of some queries, as rows of any length in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph.rows import RaggedRows, offsets

_PAIR_BLOCK_VALUES = 1 << 22


def pair_blocks(rows: RaggedRows, values_each: int) -> Iterator[tuple[slice, Any, Any]]:
    """Blocks of pairs (entries, queries, points) whose coordinates stay small in memory."""
    owners = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    step = max(1, _PAIR_BLOCK_VALUES // max(1, values_each))
    for first in range(0, len(owners), step):
        part = slice(first, first + step)
        yield part, owners[part], rows.indices[part]


def concatenated(parts: list[RaggedRows]) -> RaggedRows:
    """Rows of consecutive blocks of queries as one; the parts are given up on the way."""
    if len(parts) == 1:
        return parts[0]
    indptr = offsets(np.concatenate([np.diff(part.indptr) for part in parts]))
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], parts[0].distances.dtype)
    last = len(indices)
    while parts:
        part = parts.pop()
        first = last - len(part.indices)
        indices[first:last], distances[first:last] = part.indices, part.distances
        last = first
    return RaggedRows(indptr, indices, distances)


def scattered(answers: list[tuple[NDArray[Any], RaggedRows]], n_rows: int, dtype: Any) -> RaggedRows:
    """Rows that were found in parts, each with the places of its rows; the parts are given up on the way."""
    lengths = np.zeros(n_rows, np.int64)
    for which, rows in answers:
        lengths[which] = np.diff(rows.indptr)
    indptr = offsets(lengths)
    indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    while answers:
        which, rows = answers.pop()
        places = np.arange(len(rows.indices)) + np.repeat(indptr[which] - rows.indptr[:-1], lengths[which])
        indices[places], distances[places] = rows.indices, rows.distances
    return RaggedRows(indptr, indices, distances)


def tables_of(rows: RaggedRows) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and distances of rows of one length, with a row of the tables for each."""
    n_rows = len(rows.indptr) - 1
    width = len(rows.indices) // max(n_rows, 1)
    return rows.indices.reshape(n_rows, width), rows.distances.reshape(n_rows, width)


def first_of_rows(rows: RaggedRows, n_neighbors: int) -> RaggedRows:
    """Only the first `n_neighbors` of each row; every row must hold as many."""
    starts = rows.indptr[:-1]
    if np.any(np.diff(rows.indptr) < n_neighbors):
        raise ValueError(f"a search found fewer than n_neighbors={n_neighbors} points for some query")
    if len(rows.indices) == len(starts) * n_neighbors:
        return rows
    keep = (starts[:, None] + np.arange(n_neighbors)).ravel()
    indptr = np.arange(len(starts) + 1, dtype=np.int64) * n_neighbors
    return RaggedRows(indptr, rows.indices[keep], rows.distances[keep])


def leading(rows: RaggedRows, which: NDArray[Any], lengths: NDArray[np.int64]) -> RaggedRows:
    """Some of the rows, and of each as many entries as its length says."""
    indptr = offsets(lengths)
    keep = np.arange(indptr[-1]) + np.repeat(rows.indptr[which] - indptr[:-1], lengths)
    return RaggedRows(indptr, rows.indices[keep], rows.distances[keep])


def at_most(rows: RaggedRows, limit: Any) -> RaggedRows:
    """Only entries at distance `limit` or less, one limit for all or one for each entry."""
    inside = rows.distances <= np.atleast_1d(limit)  # an array, so that no limit is rounded to float32
    kept = offsets(inside)
    return RaggedRows(kept[rows.indptr], rows.indices[inside], rows.distances[inside])


def with_rows(rows: RaggedRows, which: NDArray[Any], replacement: RaggedRows) -> RaggedRows:
    """`rows` with some of them replaced."""
    replaced = np.zeros(len(rows.indptr) - 1, bool)
    replaced[which] = True
    lengths = np.diff(rows.indptr)
    kept_entries = np.repeat(~replaced, lengths)
    lengths[which] = np.diff(replacement.indptr)
    indptr = offsets(lengths)
    from_replacement = np.repeat(replaced, lengths)
    indices = np.empty(indptr[-1], np.int32)
    distances = np.empty(indptr[-1], rows.distances.dtype)
    indices[from_replacement] = replacement.indices
    indices[~from_replacement] = rows.indices[kept_entries]
    distances[from_replacement] = replacement.distances
    distances[~from_replacement] = rows.distances[kept_entries]
    return RaggedRows(indptr, indices, distances)
