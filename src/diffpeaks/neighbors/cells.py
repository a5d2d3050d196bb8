"""Cells: groups of points that lie together, from k-means on a sample, packed for the compiled join."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import PANEL_WIDTH, PackedCells, nearest_centroids
from diffpeaks.graph import offsets
from diffpeaks.neighbors.coordinates import Coordinates, padded
from diffpeaks.neighbors.kernel import kernel_name
from diffpeaks.order import NO_POINT

SAMPLE_PER_CELL = 24
_SAMPLE_PER_GROUP = 256
_ROUNDS = 3


class Frame(NamedTuple):
    """Rows of numbers, and what to subtract from them and multiply them with."""

    rows: NDArray[Any]
    center: NDArray[np.float64]
    scale: float

    def nearest(
        self, centroids: NDArray[np.float32], group: Any, starts: Any, n_threads: int
    ) -> NDArray[np.int32]:
        """The nearest centroid to each row, among those of the row's group."""
        half_squares = np.einsum("ij,ij->i", centroids, centroids) / 2
        nearest = np.empty(len(self.rows), np.int32)
        nearest_centroids(
            kernel_name(),
            *self,
            centroids,
            half_squares,
            group,
            np.asarray(starts, np.int64),
            nearest,
            n_threads,
        )
        return nearest

    def nearest_of_all(self, centroids: NDArray[np.float32], n_threads: int) -> NDArray[np.int32]:
        """The nearest centroid to each row."""
        return self.nearest(centroids, np.zeros(len(self.rows), np.int32), [0, len(centroids)], n_threads)


class CentroidTree:
    """Centroids in two levels: a point finds its group, then its cell in the group.

    The number of cells of a group goes with its number of points, so that no cell becomes a giant.
    """

    def __init__(self, sample: NDArray[np.float32], n_cells: int, n_threads: int) -> None:
        random = np.random.RandomState(0)
        n_groups = max(1, round(np.sqrt(n_cells)))
        some = random.permutation(len(sample))[: _SAMPLE_PER_GROUP * n_groups]
        self.groups = _k_means(sample[some], n_groups, random, n_threads)
        label = _as_they_are(sample).nearest_of_all(self.groups, n_threads)
        order = np.argsort(label, kind="stable")
        ends = offsets(np.bincount(label, minlength=len(self.groups)))
        parts = []
        for group, (begin, end) in enumerate(pairwise(ends)):
            n_inside = max(1, round((end - begin) * n_cells / len(sample)))
            members = sample[order[begin:end]] if end > begin else self.groups[group : group + 1]
            parts.append(_k_means(members, n_inside, random, n_threads))
        self.cells = np.concatenate(parts)
        self.starts = offsets(np.array([len(part) for part in parts]))

    def nearest(self, frame: Frame, n_threads: int) -> NDArray[np.int32]:
        """The cell of each row: the nearest of the nearest group."""
        group = frame.nearest_of_all(self.groups, n_threads)
        return frame.nearest(self.cells, group, self.starts, n_threads)


def _as_they_are(rows: NDArray[np.float32]) -> Frame:
    return Frame(rows, np.zeros(rows.shape[1]), 1.0)


def _k_means(sample: NDArray[np.float32], n_cells: int, random: Any, n_threads: int) -> NDArray[np.float32]:
    """Centroids after a few rounds; one that loses all its points is dropped."""
    centroids = sample[random.permutation(len(sample))[:n_cells]]
    for _ in range(_ROUNDS if len(centroids) > 1 else 1):
        label = _as_they_are(sample).nearest_of_all(centroids, n_threads)
        counts = np.bincount(label, minlength=len(centroids))
        counts = counts[counts > 0]
        sums = np.add.reduceat(sample[np.argsort(label, kind="stable")], offsets(counts)[:-1], axis=0)
        centroids = (sums / counts[:, None]).astype(np.float32)
    return centroids


class CellTable:
    """Points in about `n_cells` cells: which cell is each point's, and the members packed for the join."""

    def __init__(self, coordinates: Coordinates, n_cells: int, n_threads: int) -> None:
        self.coordinates, self._n_threads = coordinates, n_threads
        self._tree = CentroidTree(_sample(coordinates, SAMPLE_PER_CELL * n_cells), n_cells, n_threads)
        self.cell_of = self.cells_of(coordinates.table)
        self.centroids = self._placed(self._tree.cells)
        self.sizes = np.bincount(self.cell_of, minlength=self.n_cells)
        self.packed = self._packed(coordinates.table, coordinates.tails, self.cell_of, self.centroids)

    @property
    def n_cells(self) -> int:
        return len(self.centroids)

    @cached_property
    def centroid_rows(self) -> NDArray[Any]:
        """The centroids as coordinates of points."""
        return self.centroids.astype(self.coordinates.table.dtype)

    def packed_centroids(self, spread_weight: float) -> PackedCells:
        """The centroids as points in cells of their own, the groups, put farther away by their spread."""
        groups = np.repeat(np.arange(len(self._tree.groups), dtype=np.int32), np.diff(self._tree.starts))
        centers = self._placed(self._tree.groups)
        packed = self._packed(self.centroid_rows, Coordinates.tails, groups, centers)
        packed.put_farther(np.float32(spread_weight) * self.packed.spread())
        return packed

    def _placed(self, centroids: NDArray[np.float32]) -> NDArray[np.float64]:
        """Centroids in the place of coordinates."""
        rows = centroids[:, : self.coordinates.n_features] / self.coordinates.scale
        return np.ascontiguousarray(rows + self.coordinates.center)

    def _packed(self, table: Any, tails: Any, cell_of: NDArray[np.int32], centroids: Any) -> PackedCells:
        sizes = np.bincount(cell_of, minlength=len(centroids))
        starts = offsets(-(-sizes // PANEL_WIDTH) * PANEL_WIDTH)
        slot_point = np.full(starts[-1], NO_POINT, np.int32)
        skipped = np.repeat(starts[:-1] - offsets(sizes)[:-1], sizes)
        slot_point[np.arange(len(table)) + skipped] = np.argsort(cell_of, kind="stable")
        n_features = padded(self.coordinates.n_features)
        packed = PackedCells(centroids, self.coordinates.scale, starts, slot_point, n_features)
        packed.pack(table, tails, slot_point, 0, len(centroids), self._n_threads)
        return packed

    def cells_of(self, table: NDArray[Any]) -> NDArray[np.int32]:
        """The cell in which each row of coordinates lies."""
        frame = Frame(table, self.coordinates.center, self.coordinates.scale)
        return self._tree.nearest(frame, self._n_threads)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest of the values, one for each point, in each cell; minus infinity in an empty one."""
        largest = np.full(self.n_cells, -np.inf)
        np.maximum.at(largest, self.cell_of, values)
        return largest


def _sample(coordinates: Coordinates, n_sample: int) -> NDArray[np.float32]:
    """Some rows relative to the centre, in units of the scale, padded with zeros."""
    rows = coordinates.table
    if n_sample < len(rows):
        rows = rows[np.sort(np.random.RandomState(0).choice(len(rows), n_sample, replace=False))]
    sample = np.zeros((len(rows), padded(rows.shape[1])), np.float32)
    sample[:, : rows.shape[1]] = (rows - coordinates.center) * coordinates.scale
    return sample
