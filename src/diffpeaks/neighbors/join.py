"""The points of a space in cells, and their join with queries: products exclude, distances decide."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import Probes
from diffpeaks.neighbors.cells import QUERIES, SQUARES, CellTable, members_by_cell
from diffpeaks.neighbors.contract import Measure, Neighbors, Space, can_join
from diffpeaks.neighbors.coordinates import NO_TAILS, Workload, coordinates_for
from diffpeaks.neighbors.kernel import kernel_name

BLOCK_QUERIES = 256


class Queries(NamedTuple):
    """Queries with their coordinates and the cells in which they lie."""

    rows: NDArray[Any]
    table: NDArray[Any]
    tails: NDArray[np.float32]
    error: float  # of the coordinates, beside the points'
    cell_of: NDArray[np.int32]  # NO_CELL for those that are not asked

    def some(self, which: NDArray[Any]) -> Queries:
        tails = self.tails[which] if len(self.tails) else self.tails
        return Queries(self.rows[which], self.table[which], tails, self.error, self.cell_of[which])


class Blocks(NamedTuple):
    """Queries that lie together: `order[starts[b]:starts[b + 1]]` are those of block b, around a cell."""

    starts: NDArray[np.int64]
    cells: NDArray[np.int32]
    order: NDArray[np.int32]


def checked_measure(space: Space) -> Measure:
    """The measure of a space whose points can be joined."""
    if space.measure is None or not can_join(space):
        raise ValueError(
            "a search over cells needs dense points and a Euclidean, cosine or inner product metric; "
            "use search='exact'"
        )
    return space.measure


class CellJoin:
    """The points of a space in cells of about `cell_size`, but for `repeats` of others."""

    def __init__(
        self,
        space: Space,
        cell_size: int,
        workload: Workload,
        n_threads: int,
        repeats: NDArray[np.bool_] | None = None,
    ) -> None:
        self.space, self.n_threads = space, n_threads
        self._measure = checked_measure(space)
        coordinates = coordinates_for(space.points, workload, n_threads)
        n_distinct = len(space.points) - (0 if repeats is None else np.count_nonzero(repeats))
        n_cells = max(1, round(n_distinct / cell_size))
        self.table = CellTable(coordinates, n_cells, n_threads, repeats)

    def queries(self, rows: Any) -> Queries:
        """Rows of the space as queries."""
        own = self.table.coordinates
        if rows is self.space.points:
            return Queries(rows, own.table, own.tails, own.error, self.table.cell_of)
        table, tails, error = own.of(rows)
        return Queries(np.ascontiguousarray(rows), table, tails, error, self.table.cells_of(table))

    def members(self) -> Queries:
        """All points as queries, of which repeats are not asked: their rows stay empty."""
        return self.queries(self.space.points)._replace(cell_of=self.table.member_cell_of)

    def nearest(self, queries: Queries, n_neighbors: int) -> Neighbors:
        """The nearest points of all."""
        return self.nearest_among(queries, even_blocks(queries.cell_of), n_neighbors, Probes())

    def nearest_among(self, queries: Queries, blocks: Blocks, n_neighbors: int, probes: Probes) -> Neighbors:
        """The nearest points in the cells that are probed; missing ones are NO_POINT at infinity."""
        rows = _room(len(queries.rows), n_neighbors, self.space.dtype)
        asked, points = self._asked(queries, blocks), self.space.points
        self.table.packed.nearest(kernel_name(), asked, points, probes, self._measure, *rows, self.n_threads)
        return _neighbors(*rows)

    def nearest_listed(
        self, queries: Queries, blocks: Blocks, n_neighbors: int, n_listed: int, probes: Probes
    ) -> Neighbors:
        """The nearest of those points in the probed cells whose coordinates are nearest."""
        if not self.shortlists:
            return self.nearest_among(queries, blocks, n_neighbors, probes)
        rows = _room(len(queries.rows), n_neighbors, self.space.dtype)
        self.table.packed.nearest_listed(
            kernel_name(),
            self._asked(queries, blocks),
            self.space.points,
            self.table.coordinates.table,
            n_listed,
            probes,
            self._measure,
            *rows,
            self.n_threads,
        )
        return _neighbors(*rows)

    def nearest_in_coordinates(
        self, queries: Queries, blocks: Blocks, n_listed: int, probes: Probes
    ) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The points in the probed cells whose coordinates are nearest, and squared distances of these."""
        rows = _room(len(queries.rows), n_listed, queries.table.dtype)
        coordinates = Queries(queries.table, queries.table, NO_TAILS, 0.0, queries.cell_of)
        asked, table = self._asked(coordinates, blocks), self.table.coordinates.table
        self.table.packed.nearest(kernel_name(), asked, table, probes, SQUARES, *rows, self.n_threads)
        return rows

    @property
    def shortlists(self) -> bool:
        """Whether coordinates are less than the points, so that a shortlist of them must be measured."""
        return self.table.coordinates.table is not self.space.points

    def within(self, queries: Queries, reach: NDArray[np.float64]) -> Neighbors:
        """All points that are no farther than their own reach."""
        asked = self._asked(queries, even_blocks(queries.cell_of))
        cell_reach = np.maximum(self.table.largest(reach), 0)
        found = self.table.packed.within(
            kernel_name(), asked, self.space.points, reach, cell_reach, self._measure, self.n_threads
        )
        return Neighbors(*found)

    def _asked(self, queries: Queries, blocks: Blocks) -> Any:
        kind = QUERIES[queries.rows.dtype, queries.table.dtype]
        origins = self.table.centroids[blocks.cells]
        return kind(*queries[:4], blocks.starts, origins, blocks.order)


def _room(n_rows: int, n_neighbors: int, dtype: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    return np.empty((n_rows, n_neighbors), np.int32), np.empty((n_rows, n_neighbors), dtype)


def _neighbors(indices: NDArray[np.int32], distances: NDArray[Any]) -> Neighbors:
    indptr = np.arange(len(indices) + 1, dtype=np.int64) * indices.shape[1]
    return Neighbors(indptr, indices.ravel(), distances.ravel())


def even_blocks(cell_of: NDArray[np.int32]) -> Blocks:
    """Blocks of one size, in the order of the cells."""
    order = members_by_cell(cell_of)
    starts = np.append(np.arange(0, len(order), BLOCK_QUERIES), len(order)).astype(np.int64)
    middle = order[(starts[:-1] + starts[1:]) // 2]
    return Blocks(starts, cell_of[middle], order)


def cell_blocks(cell_of: NDArray[np.int32]) -> Blocks:
    """A block for the queries in each cell, or several if they are many."""
    order = members_by_cell(cell_of)
    ordered = cell_of[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(np.append(first, len(order)))
    n_parts = -(-lengths // BLOCK_QUERIES)
    part = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    starts = np.repeat(first, n_parts) + part * BLOCK_QUERIES
    return Blocks(np.append(starts, len(order)).astype(np.int64), ordered[starts], order)
