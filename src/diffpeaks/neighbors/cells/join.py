"""Points packed in cells, and their join with queries: products exclude, distances decide."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import (
    FEATURE_BLOCK,
    PANEL_WIDTH,
    PackedCells,
    Probes,
    QueriesDouble,
    QueriesDoubleAlong,
    QueriesFloat,
)
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.contract import Measure, Space

BLOCK_QUERIES = 256
NO_CELL = -1  # of a point that lies where another one does, which stands for it
NO_TAILS = np.empty(0, np.float32)
SQUARES = Measure(2.0, squared=True)
_TOO_FAR = 1e12  # times the farthest point: there bounds in float come to nothing
_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# by the dtypes of points and coordinates
NATIVE_QUERIES = {
    (_FLOAT, _FLOAT): QueriesFloat,
    (_DOUBLE, _DOUBLE): QueriesDouble,
    (_DOUBLE, _FLOAT): QueriesDoubleAlong,
}


class Coordinates:
    """Rows in which a join bounds distances: the points as they are.

    `table` holds a row for each point. Distances between rows exceed those between points by no more
    than twice `error`; what the rows leave out of a point has at most the length of its tail. Both
    are in units of 1 / scale. No point is farther than `largest` from the centre.
    """

    error = 0.0
    tails = NO_TAILS

    def __init__(self, table: Any, center: NDArray[np.float64], largest: float) -> None:
        self.table, self.center, self.largest = table, center, largest
        self.n_features: int = table.shape[1]
        self.scale = scale_of(largest)

    @staticmethod
    def of_points(points: Any) -> Coordinates:
        center = points.mean(axis=0, dtype=np.float64)
        low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
        return Coordinates(points, center, float(np.linalg.norm(np.maximum(high - center, center - low))))

    @property
    def origin(self) -> NDArray[np.float64]:
        """The centre among the points."""
        return self.center

    def of_queries(self, queries: Any) -> tuple[NDArray[Any], NDArray[np.float32], float]:
        """The rows and tails of other points, and the error of both sides."""
        return np.ascontiguousarray(queries), self.tails, self.error

    def too_far(self, queries: Any) -> NDArray[np.bool_]:
        """Which queries are so far out that no bound can be computed."""
        return np.abs(queries - self.origin).max(axis=1) > _TOO_FAR * self.largest


def scale_of(largest: float) -> float:
    """A power of two that brings lengths to at most one."""
    return float(2.0 ** -np.ceil(np.log2(largest))) if largest > 0 else 1.0


class Cells(Protocol):
    """Which points lie together."""

    cell_of: NDArray[np.int32]  # of each point
    centroids: NDArray[np.float64]  # of each cell, in coordinates

    def cells_of(self, table: NDArray[Any]) -> NDArray[np.int32]:
        """The cell in which each row of coordinates lies."""


class OneCell:
    """All points in one cell, around their centre."""

    def __init__(self, coordinates: Coordinates) -> None:
        self.cell_of = np.zeros(len(coordinates.table), np.int32)
        self.centroids = coordinates.center[None, :]

    def cells_of(self, table: NDArray[Any]) -> NDArray[np.int32]:
        return np.zeros(len(table), np.int32)


class PlacedQueries(NamedTuple):
    """Queries with their coordinates and the cells in which they lie."""

    rows: NDArray[Any]
    table: NDArray[Any]
    tails: NDArray[np.float32]
    error: float  # of the coordinates, beside the points'
    cell_of: NDArray[np.int32]  # NO_CELL for those that are not asked

    def some(self, which: NDArray[Any] | slice) -> PlacedQueries:
        tails = self.tails[which] if len(self.tails) else self.tails
        return PlacedQueries(self.rows[which], self.table[which], tails, self.error, self.cell_of[which])


class Blocks(NamedTuple):
    """Queries that lie together: `order[starts[b]:starts[b + 1]]` are those of block b, around a cell."""

    starts: NDArray[np.int64]
    cells: NDArray[np.int32]
    order: NDArray[np.int32]


class CellJoin:
    """The points of a space, packed in cells. Those that are `repeats` of others are no members."""

    def __init__(
        self,
        space: Space,
        coordinates: Coordinates,
        cells: Cells,
        n_threads: int,
        repeats: NDArray[np.bool_] | None = None,
    ) -> None:
        self.space, self.coordinates, self.cells, self.n_threads = space, coordinates, cells, n_threads
        self._measure: Any = space.measure
        self.member_cell_of = cells.cell_of
        if repeats is not None:
            self.member_cell_of = np.where(repeats, np.int32(NO_CELL), cells.cell_of)
        self.packed = packed_cells(
            coordinates.table,
            coordinates.tails,
            self.member_cell_of,
            cells.centroids,
            coordinates.scale,
            n_threads,
        )

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Members of each cell."""
        members = self.member_cell_of[self.member_cell_of != NO_CELL]
        return np.bincount(members, minlength=len(self.cells.centroids))

    @property
    def shortlists(self) -> bool:
        """Whether coordinates are less than the points, so that a shortlist of them must be measured."""
        return self.coordinates.table is not self.space.points

    def queries(self, rows: Any) -> PlacedQueries:
        """Rows of the space as queries."""
        own = self.coordinates
        if rows is self.space.points:
            return PlacedQueries(rows, own.table, own.tails, own.error, self.cells.cell_of)
        table, tails, error = own.of_queries(rows)
        return PlacedQueries(np.ascontiguousarray(rows), table, tails, error, self.cells.cells_of(table))

    def members(self) -> PlacedQueries:
        """All points as queries, of which repeats are not asked: their rows stay empty."""
        return self.queries(self.space.points)._replace(cell_of=self.member_cell_of)

    def nearest_members(self, n_neighbors: int) -> RaggedRows:
        """The nearest points of all members; the rows of repeats stay empty."""
        return self.nearest(self.members(), n_neighbors)

    def nearest(self, queries: PlacedQueries, n_neighbors: int) -> RaggedRows:
        """The nearest points of all."""
        return self.nearest_among(queries, even_blocks(queries.cell_of), n_neighbors, Probes())

    def nearest_among(
        self, queries: PlacedQueries, blocks: Blocks, n_neighbors: int, probes: Probes
    ) -> RaggedRows:
        """The nearest points in the cells that are probed; missing ones are NO_POINT at infinity."""
        rows = _room(len(queries.rows), n_neighbors, self.space.dtype)
        asked, points = self._asked(queries, blocks), self.space.points
        self.packed.nearest(asked, points, probes, self._measure, *rows, self.n_threads)
        return as_rows(*rows)

    def nearest_listed(
        self, queries: PlacedQueries, blocks: Blocks, n_neighbors: int, n_listed: int, probes: Probes
    ) -> RaggedRows:
        """The nearest of those points in the probed cells whose coordinates are nearest."""
        if not self.shortlists:
            return self.nearest_among(queries, blocks, n_neighbors, probes)
        rows = _room(len(queries.rows), n_neighbors, self.space.dtype)
        self.packed.nearest_listed(
            self._asked(queries, blocks),
            self.space.points,
            self.coordinates.table,
            n_listed,
            probes,
            self._measure,
            *rows,
            self.n_threads,
        )
        return as_rows(*rows)

    def nearest_in_coordinates(
        self, queries: PlacedQueries, blocks: Blocks, n_listed: int, probes: Probes
    ) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The points in the probed cells whose coordinates are nearest, and squared distances of these."""
        rows = _room(len(queries.rows), n_listed, queries.table.dtype)
        coordinates = PlacedQueries(queries.table, queries.table, NO_TAILS, 0.0, queries.cell_of)
        asked, table = self._asked(coordinates, blocks), self.coordinates.table
        self.packed.nearest(asked, table, probes, SQUARES, *rows, self.n_threads)
        return rows

    def visited(
        self, queries: PlacedQueries, blocks: Blocks, probes: Probes
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """For each block the cells that its queries visit, and for each query its last score.

        A reach asks for limits. The last score is that of the last cell within reach.
        """
        found = np.zeros((len(blocks.cells), len(self.cells.centroids)), bool)
        last_scores = np.empty(len(queries.rows))
        self.packed.mark_visited(self._asked(queries, blocks), probes, found, last_scores, self.n_threads)
        return found, last_scores

    def within(self, queries: PlacedQueries, reach: NDArray[np.float64]) -> RaggedRows:
        """All points that are no farther than their own reach."""
        asked = self._asked(queries, even_blocks(queries.cell_of))
        cell_reach = np.zeros(len(self.cells.centroids))
        np.maximum.at(cell_reach, self.cells.cell_of, reach)
        found = self.packed.within(asked, self.space.points, reach, cell_reach, self._measure, self.n_threads)
        return RaggedRows(*found)

    def _asked(self, queries: PlacedQueries, blocks: Blocks) -> Any:
        kind = NATIVE_QUERIES[queries.rows.dtype, queries.table.dtype]
        origins = self.cells.centroids[blocks.cells]
        return kind(*queries[:4], blocks.starts, origins, blocks.order)


def one_cell(space: Space, n_threads: int, repeats: NDArray[np.bool_] | None) -> CellJoin:
    """A join of points that are too few for several cells."""
    coordinates = Coordinates.of_points(space.points)
    return CellJoin(space, coordinates, OneCell(coordinates), n_threads, repeats)


def packed_cells(
    table: Any, tails: Any, cell_of: NDArray[np.int32], centroids: Any, scale: float, n_threads: int
) -> PackedCells:
    """Rows of coordinates in their cells, padded to whole panels; those that have no cell are left out."""
    order = members_by_cell(cell_of)
    sizes = np.bincount(cell_of[order], minlength=len(centroids))
    ends, room = np.cumsum(sizes), -(-sizes // PANEL_WIDTH) * PANEL_WIDTH
    starts = np.append(0, np.cumsum(room))
    slot_point = np.full(starts[-1], NO_POINT, np.int32)
    skipped = np.repeat(starts[:-1] - (ends - sizes), sizes)
    slot_point[np.arange(len(order)) + skipped] = order
    packed = PackedCells(centroids, scale, starts, slot_point, padded(table.shape[1]))
    packed.pack(table, tails, slot_point, n_threads)
    return packed


def padded(n_features: int) -> int:
    return -(-n_features // FEATURE_BLOCK) * FEATURE_BLOCK


def members_by_cell(cell_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Rows in the order of their cells, without those that have none."""
    order = np.argsort(cell_of, kind="stable").astype(np.int32)
    return order[np.count_nonzero(cell_of == NO_CELL) :]


def _room(n_rows: int, n_neighbors: int, dtype: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    return np.empty((n_rows, n_neighbors), np.int32), np.empty((n_rows, n_neighbors), dtype)


def as_rows(indices: NDArray[np.int32], distances: NDArray[Any]) -> RaggedRows:
    """A table with a row for each query."""
    indptr = np.arange(len(indices) + 1, dtype=np.int64) * indices.shape[1]
    return RaggedRows(indptr, indices.ravel(), distances.ravel())


def even_blocks(cell_of: NDArray[np.int32]) -> Blocks:
    """Blocks of one size, in the order of the cells."""
    order = members_by_cell(cell_of)
    starts = np.append(np.arange(0, len(order), BLOCK_QUERIES), len(order)).astype(np.int64)
    middle = order[(starts[:-1] + starts[1:]) // 2]
    return Blocks(starts, cell_of[middle], order)
