"""Searches that keep a limit of memory: on fewer threads, in smaller blocks, and chunk by chunk."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from diffpeaks.neighbors.brute import BruteSearch, bytes_for_points, bytes_for_query
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.contract import Search, Space
from diffpeaks.neighbors.memory.cell_bytes import bytes_for_cells
from diffpeaks.neighbors.memory.chunked import ChunkedSearch, bytes_for_merging
from diffpeaks.neighbors.trees import TreeSearch, bytes_for_tree

_SMALLEST_CHUNK = 1024  # points in cells
_SMALLEST_COMPARED = 64  # points that are compared with all others
_FEWEST_QUERIES = 256  # at a time
_FEWEST_COMPARED = 16
_AROUND = 1 << 20  # bytes around blocks of brute force: threads, and rows on their way


def limited_search(make: Any, space: Space, n_threads: int, memory_limit: int, n_neighbors: int) -> Search:
    """A search that takes no more memory than that beside the points that were given, and the graph."""
    room = memory_limit - space.copied_bytes
    if make is BruteSearch:
        return _limited_brute(space, n_threads, room, memory_limit, n_neighbors)
    if make is CellSearch:
        return _limited_cells(space, n_threads, room, memory_limit, n_neighbors)
    n_samples, n_features = space.points.shape
    if make is TreeSearch:
        needed = bytes_for_tree(n_samples, n_features, space.dtype)
    else:
        needed = bytes_for_cells(n_samples, n_features, n_neighbors, space.dtype, n_threads, approximate=True)
    if needed > room:
        least = _least_for_cells(space, n_neighbors, 1) + space.copied_bytes
        chunks = f"search='cells', which works in chunks from {least} bytes on"
        other = chunks if space.can_join else "search='brute'"
        raise ValueError(
            f"memory_limit={memory_limit} is below the {needed + space.copied_bytes} bytes that this search "
            f"takes beside X and the graph; raise it, or use {other}"
        )
    return make(space, n_threads)


def check_memory_limit(memory_limit: Any) -> int | None:
    """A number of bytes, or None for no limit."""
    if memory_limit is None:
        return None
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, (int, np.integer)):
        raise TypeError(f"memory_limit must be an integer number of bytes, got {memory_limit!r}")
    if memory_limit < 1:
        raise ValueError(f"memory_limit={memory_limit} must be at least 1 byte; use None for no limit")
    return int(memory_limit)


def _limited_cells(space: Space, n_threads: int, room: int, memory_limit: int, n_neighbors: int) -> Search:
    n_samples, n_features = space.points.shape

    def needed(n_points: int) -> int:
        return bytes_for_cells(n_points, n_features, n_neighbors, space.dtype, n_threads, approximate=False)

    while n_threads > 1 and _least_for_cells(space, n_neighbors, n_threads) > room:
        n_threads //= 2
    if needed(n_samples) <= room:
        return CellSearch(space, n_threads)
    least = _least_for_cells(space, n_neighbors, n_threads)
    _check_room(least, room, memory_limit, CellSearch.name)
    each = _bytes_for_asking(space, n_neighbors)
    chunk_size = _SMALLEST_CHUNK
    # a quarter is kept for the answers, which are merged block by block
    while needed(2 * chunk_size) <= room - max(room // 4, _FEWEST_QUERIES * each):
        chunk_size *= 2
    block_size = (room - needed(chunk_size)) // each
    make = partial(CellSearch, n_threads=n_threads)
    return ChunkedSearch(space, CellSearch.name, make, chunk_size, block_size)


def _least_for_cells(space: Space, n_neighbors: int, n_threads: int) -> int:
    n_features = space.points.shape[1]
    chunk = min(_SMALLEST_CHUNK, space.points.shape[0])
    return _FEWEST_QUERIES * _bytes_for_asking(space, n_neighbors) + bytes_for_cells(
        chunk, n_features, n_neighbors, space.dtype, n_threads, approximate=False
    )


def _bytes_for_asking(space: Space, n_neighbors: int) -> int:
    """Memory for a query of cells in which it is not, until its answer is merged."""
    return bytes_for_merging(n_neighbors, space.dtype) + 24 * space.points.shape[1]


def _limited_brute(space: Space, n_threads: int, room: int, memory_limit: int, n_neighbors: int) -> Search:
    n_samples, merging = space.points.shape[0], bytes_for_merging(n_neighbors, space.dtype)

    def least(n_points: int) -> int:
        merged = 0 if n_points == n_samples else _FEWEST_COMPARED * merging
        points = bytes_for_points(space, n_points, n_threads)
        return points + n_threads * bytes_for_query(space, n_points) + merged + _AROUND

    smallest = min(n_samples, _SMALLEST_COMPARED) if space.divisible else n_samples
    while n_threads > 1 and least(smallest) > room:
        n_threads //= 2
    _check_room(least(smallest), room, memory_limit, BruteSearch.name)
    all_points = bytes_for_points(space, n_samples, n_threads)
    if smallest == n_samples or (all_points <= room // 2 and least(n_samples) <= room):
        return BruteSearch(space, n_threads, room - _AROUND - all_points)
    chunk_size = smallest
    while least(2 * chunk_size) <= room // 2:
        chunk_size *= 2
    left = room - _AROUND - bytes_for_points(space, chunk_size, n_threads)
    block_size = max(_FEWEST_COMPARED, left // 4 // merging)
    make = partial(BruteSearch, n_threads=n_threads, block_bytes=left - block_size * merging)
    return ChunkedSearch(space, BruteSearch.name, make, chunk_size, block_size)


def _check_room(least: int, room: int, memory_limit: int, search: str) -> None:
    if least > room:
        raise ValueError(
            f"memory_limit={memory_limit} is below the {memory_limit - room + least} bytes that "
            f"search={search!r} takes at the least beside X and the graph; raise it"
        )
