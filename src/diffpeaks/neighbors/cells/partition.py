"""Points that lie together in cells, by k-means on a sample."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._native import PackedCells, Probes
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors.cells.join import (
    NATIVE_QUERIES,
    NO_CELL,
    NO_TAILS,
    SQUARES,
    Coordinates,
    packed_cells,
)

SAMPLE_PER_CELL = 16
_ROUNDS = 2
_BLOCK_ROWS = 256


class CentroidSearch:
    """Finds the nearest of some centroids: they are points, and all in one cell."""

    def __init__(self, centroids: NDArray[Any], scale: float, n_threads: int) -> None:
        self.centroids, self._scale, self.n_threads = centroids, scale, n_threads
        self._middle = centroids.mean(axis=0, dtype=np.float64, keepdims=True)
        self._cell_of = np.zeros(len(centroids), np.int32)
        self.packed = self.pack()

    def among(self, which: NDArray[np.int64]) -> CentroidSearch:
        """The same search among some of the centroids, by the numbers that they have among all."""
        search = copy.copy(self)
        search._cell_of = np.full(len(self.centroids), NO_CELL, np.int32)
        search._cell_of[which] = 0
        search.packed = search.pack()
        return search

    def pack(self) -> PackedCells:
        """The centroids as members of one cell."""
        return packed_cells(
            self.centroids, NO_TAILS, self._cell_of, self._middle, self._scale, self.n_threads
        )

    def nearest(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        """The nearest centroid to each row, ties to the lower."""
        rows, order = np.ascontiguousarray(rows), np.arange(len(rows), dtype=np.int32)
        starts = np.append(np.arange(0, len(rows), _BLOCK_ROWS), len(rows)).astype(np.int64)
        origins = np.repeat(self._middle, len(starts) - 1, axis=0)
        queries = NATIVE_QUERIES[rows.dtype, rows.dtype](rows, rows, NO_TAILS, 0.0, starts, origins, order)
        found, distances = np.empty((len(rows), 1), np.int32), np.empty((len(rows), 1), rows.dtype)
        self.packed.nearest(queries, self.centroids, Probes(), SQUARES, found, distances, self.n_threads)
        return found[:, 0]


def k_means(sample: NDArray[Any], n_cells: int, scale: float, n_threads: int) -> NDArray[Any]:
    """Centroids after a few rounds; one that loses all its points is dropped."""
    random = np.random.RandomState(0)
    centroids = sample[np.sort(random.permutation(len(sample))[:n_cells])]
    for _ in range(_ROUNDS):
        label = CentroidSearch(centroids, scale, n_threads).nearest(sample)
        centroids = _means(sample, label)
    return centroids


def _means(rows: NDArray[Any], label: NDArray[np.int32]) -> NDArray[Any]:
    """The mean of the rows of each label that any row has."""
    counts = np.bincount(label)
    counts = counts[counts > 0]
    shares = np.repeat(1 / counts, counts).astype(rows.dtype)
    members = np.argsort(label, kind="stable")
    means: NDArray[Any] = sp.csr_array((shares, members, offsets(counts)), (len(counts), len(rows))) @ rows
    return means


def _ordered(centroids: NDArray[Any], scale: float, n_threads: int) -> NDArray[Any]:
    """Centroids that lie together one after the other: what one block of queries loads, the next one uses."""
    anchors = centroids[:: max(1, round(np.sqrt(len(centroids))))]
    nearest = CentroidSearch(np.ascontiguousarray(anchors), scale, n_threads).nearest(centroids)
    return centroids[np.argsort(nearest, kind="stable")]


class Partition:
    """Points in cells around centroids: which cell is each point's."""

    def __init__(self, search: CentroidSearch, cell_of: NDArray[np.int32]) -> None:
        self._search, self.cell_of = search, cell_of
        self.centroids = search.centroids.astype(np.float64)

    @property
    def centroid_rows(self) -> NDArray[Any]:
        """The centroids as coordinates of points."""
        return self._search.centroids

    def packed_centroids(self, farther: NDArray[np.float32] | None = None) -> PackedCells:
        """The centroids as points in one cell, put farther away by these squares."""
        if farther is None:
            return self._search.packed
        packed = self._search.pack()
        packed.put_farther(farther)
        return packed

    def cells_of(self, table: NDArray[Any]) -> NDArray[np.int32]:
        return self._search.nearest(table)


def partition(
    coordinates: Coordinates, n_cells: int, n_threads: int, repeats: NDArray[np.bool_] | None = None
) -> Partition:
    """Points in about so many cells; for which those count that are no `repeats` of others."""
    sample = _sample(coordinates.table, repeats, SAMPLE_PER_CELL * n_cells)
    search = centroids_of(sample, n_cells, coordinates.scale, n_threads)
    return Partition(search, search.nearest(coordinates.table))


def centroids_of(sample: NDArray[Any], n_cells: int, scale: float, n_threads: int) -> CentroidSearch:
    """The centroids of about so many cells of a sample, those that lie together one after the other."""
    centroids = _ordered(k_means(sample, n_cells, scale, n_threads), scale, n_threads)
    return CentroidSearch(centroids, scale, n_threads)


def _sample(table: NDArray[Any], repeats: NDArray[np.bool_] | None, n_sample: int) -> NDArray[Any]:
    """Some rows that are no repeats."""
    n_distinct = len(table) if repeats is None else len(table) - np.count_nonzero(repeats)
    if n_sample >= n_distinct:
        return table if repeats is None else table[~repeats]
    chosen = np.sort(np.random.RandomState(0).choice(n_distinct, n_sample, replace=False))
    return table[chosen if repeats is None else np.flatnonzero(~repeats)[chosen]]
