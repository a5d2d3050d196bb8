"""A search over the points in chunks, one after the other, so that what it holds of them stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import sort_rows
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.contract import ExactSearch, Search, Space
from diffpeaks.progress import stage

Tables = tuple[NDArray[np.int32], NDArray[Any]]  # indices and distances, a row for each query


def bytes_for_merging(n_neighbors: int, dtype: Any) -> int:
    """Memory that the answer for one query takes until it is merged into the result, at most."""
    return 6 * n_neighbors * (4 + np.dtype(dtype).itemsize) + 128


class ChunkedSearch(ExactSearch):
    """Exact where the search of a chunk is: what is nearest of all is nearest in its chunk.

    `make` makes the search of a chunk, and `block_size` queries are asked at a time.
    """

    def __init__(
        self, space: Space, name: str, make: Callable[[Space], Search], chunk_size: int, block_size: int
    ) -> None:
        self.space, self.name, self._make = space, name, make
        self._chunk_size, self._block_size = chunk_size, block_size

    def moved(self, space: Space) -> ChunkedSearch:
        return ChunkedSearch(space, self.name, self._make, self._chunk_size, self._block_size)

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows:
        n_queries, n_points = queries.shape[0], self.space.points.shape[0]
        if n_neighbors > n_points:
            raise ValueError(
                f"n_neighbors={n_neighbors} is above the number of points, {n_points}; use fewer neighbours"
            )
        indices = np.empty((n_queries, n_neighbors), np.int32)
        distances = np.empty((n_queries, n_neighbors), self.space.dtype)

        def ask(search: Search, chunk: slice, block: slice, asked: Any) -> None:
            self._add_nearest(search, chunk, asked, (indices[block], distances[block]))

        self._ask_all(queries, n_neighbors, ask)
        indptr = np.arange(n_queries + 1, dtype=np.int64) * n_neighbors
        return RaggedRows(indptr, indices.ravel(), distances.ravel())

    def _add_nearest(self, search: Search, chunk: slice, asked: Any, held: Tables) -> None:
        """Put what a chunk holds of the nearest among those of the chunks before it."""
        n_neighbors = held[0].shape[1]
        n_new, n_held = min(n_neighbors, chunk.stop - chunk.start), min(n_neighbors, chunk.start)
        rows = search.nearest(asked, n_new)
        found = rows.indices.reshape(-1, n_new) + np.int32(chunk.start)
        _merge(held, n_held, (found, rows.distances.reshape(-1, n_new)))

    def within(self, queries: Any, radius: float) -> RaggedRows:
        return self._stacked(queries, lambda search, chunk, rows: search.within(rows, radius))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        return self._stacked(queries, lambda search, chunk, rows: search.reaching(rows, reach[chunk]))

    def _stacked(self, queries: Any, answer: Callable[[Search, slice, Any], RaggedRows]) -> RaggedRows:
        """What all chunks answer, as one: rows of any length."""
        answers: dict[int, list[RaggedRows]] = {}

        def ask(search: Search, chunk: slice, block: slice, asked: Any) -> None:
            rows = answer(search, chunk, asked)
            rows = rows._replace(indices=rows.indices + np.int32(chunk.start))
            answers.setdefault(block.start, []).append(rows)

        self._ask_all(queries, 0, ask)
        lengths = [sum(np.diff(rows.indptr) for rows in found) for found in answers.values()]
        indptr = offsets(np.concatenate(lengths))
        indices, distances = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], self.space.dtype)
        for block in self._blocks(queries.shape[0], 0):
            part = slice(indptr[block.start], indptr[block.stop])
            own = indptr[block.start : block.stop + 1] - part.start
            # given up one by one, so that the result and its parts are never held as a whole
            _join_rows(answers.pop(block.start), own, indices[part], distances[part])
        return RaggedRows(indptr, indices, distances)

    def _ask_all(self, queries: Any, n_listed: int, ask: Callable[[Search, slice, slice, Any], None]) -> None:
        """Ask the search of each chunk about each block of queries, for so many points of each."""
        n_queries, n_points = queries.shape[0], self.space.points.shape[0]
        # BLAS once, because it takes longer than to ask a small chunk
        with ONE_BLAS_THREAD, stage("neighbours", n_queries) as done:
            for chunk in slices(n_points, self._chunk_size):
                search = self._make(self.space.restricted(chunk))
                for block, asked in self._sent(queries, self._blocks(n_queries, n_listed)):
                    ask(search, chunk, block, asked)
                    n_compared = chunk.start * n_queries + (chunk.stop - chunk.start) * block.stop
                    done.reach(n_compared // n_points)
                del search  # there is no room for two

    def _blocks(self, n_queries: int, n_listed: int) -> Iterator[slice]:
        """Which queries are asked at a time."""
        return slices(n_queries, self._block_size)

    def _sent(self, queries: Any, blocks: Iterator[slice]) -> Iterator[tuple[slice, Any]]:
        """Each block of queries as the search of a chunk takes it."""
        return ((block, queries[block]) for block in blocks)


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Consecutive rows, so many at a time; one slice of nothing where there are none."""
    for first in range(0, max(n_rows, 1), size):
        yield slice(first, min(first + size, n_rows))


def _merge(held: Tables, n_held: int, found: Tables) -> None:
    """Put what was found among the first `n_held` of each row, in the order (distance, index)."""
    indices, distances = (
        np.concatenate([old[:, :n_held], new], axis=1) for old, new in zip(held, found, strict=True)
    )
    n_rows, width = indices.shape
    sort_rows(np.arange(n_rows + 1, dtype=np.int64) * width, indices.ravel(), distances.ravel(), 1)
    n_kept = min(width, held[0].shape[1])
    held[0][:, :n_kept], held[1][:, :n_kept] = indices[:, :n_kept], distances[:, :n_kept]


def _join_rows(
    answers: list[RaggedRows], indptr: NDArray[np.int64], indices: NDArray[np.int32], distances: NDArray[Any]
) -> None:
    """Fill rows with what all answers hold of them, in the order (distance, index)."""
    owners = np.concatenate([np.repeat(np.arange(len(indptr) - 1), np.diff(rows.indptr)) for rows in answers])
    order = np.argsort(owners, kind="stable")
    indices[:] = np.concatenate([rows.indices for rows in answers])[order]
    distances[:] = np.concatenate([rows.distances for rows in answers])[order]
    sort_rows(indptr, indices, distances, 1)
