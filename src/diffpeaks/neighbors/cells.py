"""Cells: groups of points that lie together, from k-means on a sample, packed for the compiled join."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import (
    PANEL_WIDTH,
    PackedCells,
    Probes,
    QueriesDouble,
    QueriesDoubleAlong,
    QueriesFloat,
)
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.coordinates import NO_TAILS, Coordinates, padded
from diffpeaks.neighbors.kernel import kernel_name

SAMPLE_PER_CELL = 16
_ROUNDS = 2
NO_CELL = -1  # of a point that lies where another one does, which stands for it
_BLOCK_ROWS = 256
SQUARES = Measure(2.0, squared=True)
_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# by the dtypes of points and coordinates
QUERIES = {
    (_FLOAT, _FLOAT): QueriesFloat,
    (_DOUBLE, _DOUBLE): QueriesDouble,
    (_DOUBLE, _FLOAT): QueriesDoubleAlong,
}


class CentroidSearch:
    """Finds the nearest of some centroids: they are points, and all in one cell."""

    def __init__(self, centroids: NDArray[Any], scale: float, n_threads: int) -> None:
        self.centroids, self._scale, self._n_threads = centroids, scale, n_threads
        self._middle = centroids.mean(axis=0, dtype=np.float64, keepdims=True)
        self.packed = self.pack()

    def pack(self) -> PackedCells:
        """The centroids as members of one cell."""
        everything = np.zeros(len(self.centroids), np.int32)
        return packed_cells(self.centroids, NO_TAILS, everything, self._middle, self._scale, self._n_threads)

    def nearest(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        """The nearest centroid to each row, ties to the lower."""
        order = np.arange(len(rows), dtype=np.int32)
        starts = np.append(np.arange(0, len(rows), _BLOCK_ROWS), len(rows)).astype(np.int64)
        origins = np.repeat(self._middle, len(starts) - 1, axis=0)
        queries = QUERIES[rows.dtype, rows.dtype](rows, rows, NO_TAILS, 0.0, starts, origins, order)
        found, distances = np.empty((len(rows), 1), np.int32), np.empty((len(rows), 1), rows.dtype)
        self.packed.nearest(
            kernel_name(), queries, self.centroids, Probes(), SQUARES, found, distances, self._n_threads
        )
        return found[:, 0]


def k_means(sample: NDArray[Any], n_cells: int, scale: float, n_threads: int) -> NDArray[Any]:
    """Centroids after a few rounds; one that loses all its points is dropped."""
    random = np.random.RandomState(0)
    centroids = sample[np.sort(random.permutation(len(sample))[:n_cells])]
    for _ in range(_ROUNDS):
        label = CentroidSearch(centroids, scale, n_threads).nearest(sample)
        counts = np.bincount(label)
        counts = counts[counts > 0]
        ordered = sample[np.argsort(label, kind="stable")]
        sums = np.add.reduceat(ordered, offsets(counts)[:-1], axis=0, dtype=np.float64)
        centroids = (sums / counts[:, None]).astype(sample.dtype)
    return centroids


def _ordered(centroids: NDArray[Any], scale: float, n_threads: int) -> NDArray[Any]:
    """Centroids that lie together one after the other: what one block of queries loads, the next one uses."""
    anchors = centroids[:: max(1, round(np.sqrt(len(centroids))))]
    nearest = CentroidSearch(np.ascontiguousarray(anchors), scale, n_threads).nearest(centroids)
    return centroids[np.argsort(nearest, kind="stable")]


def members_by_cell(cell_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Rows in the order of their cells, without those that have none."""
    order = np.argsort(cell_of, kind="stable").astype(np.int32)
    return order[np.count_nonzero(cell_of == NO_CELL) :]


def packed_cells(
    table: Any, tails: Any, cell_of: NDArray[np.int32], centroids: Any, scale: float, n_threads: int
) -> PackedCells:
    """Rows of coordinates in their cells, padded to whole panels; those that have no cell are left out."""
    order = members_by_cell(cell_of)
    sizes = np.bincount(cell_of[order], minlength=len(centroids))
    starts = offsets(-(-sizes // PANEL_WIDTH) * PANEL_WIDTH)
    slot_point = np.full(starts[-1], NO_POINT, np.int32)
    skipped = np.repeat(starts[:-1] - offsets(sizes)[:-1], sizes)
    slot_point[np.arange(len(order)) + skipped] = order
    packed = PackedCells(centroids, scale, starts, slot_point, padded(table.shape[1]))
    packed.pack(table, tails, slot_point, n_threads)
    return packed


class CellTable:
    """Points in about `n_cells` cells: which cell is each point's, and the members packed for the join.

    Points that are `repeats` of others are no members.
    """

    def __init__(
        self,
        coordinates: Coordinates,
        n_cells: int,
        n_threads: int,
        repeats: NDArray[np.bool_] | None = None,
    ) -> None:
        self.coordinates, self._n_threads = coordinates, n_threads
        sample = _sample(coordinates.table, repeats, SAMPLE_PER_CELL * n_cells)
        rows = _ordered(k_means(sample, n_cells, coordinates.scale, n_threads), coordinates.scale, n_threads)
        self._search = CentroidSearch(rows, coordinates.scale, n_threads)
        self.cell_of = self.cells_of(coordinates.table)
        self.centroids = rows.astype(np.float64)
        self.member_cell_of = self.cell_of
        if repeats is not None:
            self.member_cell_of = np.where(repeats, np.int32(NO_CELL), self.cell_of)
        self.sizes = np.bincount(self.cell_of[self.member_cell_of != NO_CELL], minlength=self.n_cells)
        self.packed = packed_cells(
            coordinates.table,
            coordinates.tails,
            self.member_cell_of,
            self.centroids,
            coordinates.scale,
            n_threads,
        )

    @property
    def n_cells(self) -> int:
        return len(self.centroids)

    @property
    def centroid_rows(self) -> NDArray[Any]:
        """The centroids as coordinates of points."""
        return self._search.centroids

    def packed_centroids(self, spread_weight: float) -> PackedCells:
        """The centroids as points in one cell, put farther away by their spread."""
        if spread_weight == 0:
            return self._search.packed
        packed = self._search.pack()
        packed.put_farther(np.float32(spread_weight) * self.packed.spread())
        return packed

    def cells_of(self, table: NDArray[Any]) -> NDArray[np.int32]:
        """The cell in which each row of coordinates lies."""
        return self._search.nearest(np.ascontiguousarray(table))

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest of the values, one for each point, in each cell; minus infinity in an empty one."""
        largest = np.full(self.n_cells, -np.inf)
        np.maximum.at(largest, self.cell_of, values)
        return largest


def _sample(table: NDArray[Any], repeats: NDArray[np.bool_] | None, n_sample: int) -> NDArray[Any]:
    """Some rows that are no repeats."""
    n_distinct = len(table) if repeats is None else len(table) - np.count_nonzero(repeats)
    if n_sample >= n_distinct:
        return table if repeats is None else table[~repeats]
    chosen = np.sort(np.random.RandomState(0).choice(n_distinct, n_sample, replace=False))
    return table[chosen if repeats is None else np.flatnonzero(~repeats)[chosen]]
