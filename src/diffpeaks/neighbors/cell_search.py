"""Searches over cells for Euclidean distance and its relatives in high dimension: exact and approximate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_graph_size
from diffpeaks._native import sort_rows
from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.calibration import SAMPLE, CalibratedJoin
from diffpeaks.neighbors.cells import NO_CELL, SAMPLE_PER_CELL, members_by_cell
from diffpeaks.neighbors.contract import ExactSearch, Neighbors, Space, at_most, scattered, with_rows
from diffpeaks.neighbors.coordinates import FEWEST_FEATURES, Workload, padded
from diffpeaks.neighbors.join import BLOCK_QUERIES, CellJoin, checked_measure
from diffpeaks.progress import loop_stage, stage

_CELL_SIZE = 512
_BALL_BLOCKS = 4  # for each thread at a time
_APPROXIMATE_COMPARED = 4000  # points and centroids that a point is compared with, about
_FEWEST_SAMPLES = 8 * SAMPLE  # below, calibrating costs more than it saves


def _approximate_cell_size(n_samples: int) -> int:
    """Small cells need fewer comparisons for a recall, but all points are compared with all centroids."""
    return max(64, round(np.sqrt(n_samples) / 6))


def bytes_for_cells(
    n_samples: int, n_features: int, n_neighbors: int, dtype: Any, n_threads: int, approximate: bool
) -> int:
    """Memory that a search over cells takes beside points and graph, at most."""
    width, size = padded(n_features), np.dtype(dtype).itemsize
    n_cells = n_samples // (_approximate_cell_size(n_samples) if approximate else _CELL_SIZE) + 1
    members = n_samples * (2 * width + 56)  # in bf16, or fewer directions in float and in bf16; and places
    sample = 2 * size * min(n_samples, SAMPLE_PER_CELL * n_cells) * width
    if n_features >= FEWEST_FEATURES:  # a sample is projected, its pairs are compared
        sample = max(sample, (1024 * 24 + 272 * 40) * width + (12 << 20))
    centroids = n_cells * width * 16
    if approximate:
        members += n_cells * (512 * 4 + 32 * SAMPLE)  # cells beside each, and cells by distance of a sample
        members += min(n_samples, 1 << 16) << 10  # queries that are deferred, with the cells that they visit
    n_workers = min(n_threads, n_samples // BLOCK_QUERIES + 1)
    workers = n_workers * _bytes_for_worker(n_features, n_neighbors, size, approximate)
    return max(members + workers, sample) + centroids + (8 << 20)


def _bytes_for_worker(n_features: int, n_neighbors: int, size: int, approximate: bool) -> int:
    """Memory of a thread: the queries of a block, what they have found, and what may be nearer."""

    def block(n_queries: int, n_pending: int, n_found: int) -> int:
        # a list has room for a run of members, and grows twofold where its length is not known beforehand
        pending, found = 8 * (n_pending + 272), 4 * size * n_found
        return n_queries * (pending + found + 8 * padded(n_features))

    projected = n_features >= FEWEST_FEATURES  # possibly: bounds leave more open, and lists are longer
    exact = block(BLOCK_QUERIES, 16 * n_neighbors + 64 if projected else 2 * n_neighbors + 32, n_neighbors)
    if not approximate:
        return exact
    n_listed = 3 * (5 if projected else 1) * n_neighbors  # the longest shortlist, relaxed
    deferred = block(2048, 2 * n_listed + 32, n_listed)
    reached = 3 * 512  # cells, relaxed
    return max(exact, deferred) + block(BLOCK_QUERIES, 2 * reached + 32, 2 * reached)


class CellSearch(ExactSearch):
    """Exact, over cells of points: holds the contract for dense Euclidean and cosine spaces."""

    name = "cells"

    def __init__(self, space: Space, n_threads: int) -> None:
        checked_measure(space)
        self.space, self.n_threads = space, n_threads
        self._locations = space.locations()
        self._join: CellJoin | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_join": None}

    def _cells(self, n_neighbors: int) -> CellJoin:
        if self._join is None:
            workload = Workload(self._locations.n_locations, n_neighbors, shortlisted=False)
            self._join = self._joined(_CELL_SIZE, workload)
        return self._join

    @stage("cells")
    def _joined(self, cell_size: int, workload: Workload) -> CellJoin:
        return CellJoin(self.space, cell_size, workload, self.n_threads, self._locations.repeats)

    def nearest(self, queries: Any, n_neighbors: int) -> Neighbors:
        if queries is not self.space.points:
            return self._of_new(queries, self._nearest_by_cells, BruteSearch.nearest, n_neighbors)
        rows = self._all_nearest(min(n_neighbors, self._locations.n_locations))
        self._locations.fill_repeats(rows)
        return self._locations.nearest_points(rows, n_neighbors)

    def _of_new(
        self,
        queries: Any,
        by_cells: Callable[[Any, Any], Neighbors],
        by_brute: Callable[[BruteSearch, Any, Any], Neighbors],
        how_much: Any,
    ) -> Neighbors:
        """Queries far beyond all points are compared with each of them, because bounds tell nothing there."""
        far = np.flatnonzero(self._cells(1).table.coordinates.too_far(queries))
        if not len(far):
            return by_cells(queries, how_much)
        tame = queries.copy()
        tame[far] = self.space.points[0]
        compared = by_brute(BruteSearch(self.space, self.n_threads), queries[far], how_much)
        return with_rows(by_cells(tame, how_much), far, compared)

    def _nearest_by_cells(self, queries: Any, n_neighbors: int) -> Neighbors:
        n_nearest = min(n_neighbors, self._locations.n_locations)
        join = self._cells(n_nearest)
        asked = join.queries(queries)
        with loop_stage("neighbours", len(queries)):
            rows = join.nearest(asked, n_nearest)
        return self._locations.nearest_points(rows, n_neighbors)

    def _all_nearest(self, n_nearest: int) -> Neighbors:
        """Nearest members of all members; a row that belongs to none is empty."""
        join = self._cells(n_nearest)
        with loop_stage("neighbours", self._locations.n_samples):
            return join.nearest(join.members(), n_nearest)

    def within(self, queries: Any, radius: float) -> Neighbors:
        return self.reaching(queries, np.full(self.space.points.shape[0], float(radius)))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> Neighbors:
        reach = reach.astype(np.float64)
        if queries is not self.space.points:
            return self._of_new(queries, self._reaching_by_cells, BruteSearch.reaching, reach)
        return self._reaching_by_cells(queries, reach)

    def _reaching_by_cells(self, queries: Any, reach: NDArray[np.float64]) -> Neighbors:
        """Some blocks of queries at a time, because nobody knows how much they will find."""
        join, largest = self._cells(1), self._locations.largest_at_first(reach)
        asked = join.queries(queries)
        order = members_by_cell(asked.cell_of)
        step = _BALL_BLOCKS * BLOCK_QUERIES * self.n_threads
        answers, n_entries = [], 0
        with stage("neighbours", len(order)) as done:
            for which in (order[first : first + step] for first in range(0, len(order), step)):
                with done.part(len(which)):
                    rows = self._locations.points_at_first(join.within(asked.some(which), largest))
                if not self._locations.all_distinct:
                    sort_rows(rows.indptr, rows.indices, rows.distances, self.n_threads)
                answers.append((which, at_most(rows, reach[rows.indices])))
                n_entries += len(answers[-1][1].indices)
                check_graph_size(len(queries), n_entries)
        return scattered(answers, len(queries), self.space.dtype)


@dataclass(frozen=True)
class ApproximateSearch:
    """Nearest neighbours of which a stated share is found.

    What the search visits is calibrated on a sample of the points; the recall that the search reaches
    there stands in `NeighborGraph.recall`. Balls, and the neighbours of new samples, are exact.

    Parameters
    ----------
    recall : float
        The share of true neighbours to be found, at least, above 0 and below 1.
    """

    recall: float = 0.98

    def __post_init__(self) -> None:
        if isinstance(self.recall, bool) or not isinstance(self.recall, (int, float, np.floating)):
            raise TypeError(f"recall must be a number above 0 and below 1, got {self.recall!r}")
        if not 0 < self.recall < 1:
            raise ValueError(f"recall={self.recall} must lie above 0 and below 1; for all use search='exact'")

    def __call__(self, space: Space, n_threads: int) -> ApproximateCellSearch:
        return ApproximateCellSearch(space, n_threads, self.recall)


class ApproximateCellSearch(CellSearch):
    """Finds the stated share of the neighbours of all points, and is exact in all else."""

    name = "approximate"

    def __init__(self, space: Space, n_threads: int, recall: float) -> None:
        super().__init__(space, n_threads)
        self.target = recall
        self._calibrated: dict[int, CalibratedJoin] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_calibrated": {}}

    def _cells(self, n_neighbors: int) -> CellJoin:
        if self._join is None and self._locations.n_locations >= _FEWEST_SAMPLES:
            cell_size = _approximate_cell_size(self._locations.n_locations)
            workload = Workload(_APPROXIMATE_COMPARED, n_neighbors, shortlisted=True)
            self._join = self._joined(cell_size, workload)
        return super()._cells(n_neighbors)

    def _all_nearest(self, n_nearest: int) -> Neighbors:
        calibrated = self._calibration(n_nearest)
        if calibrated is None:
            return super()._all_nearest(n_nearest)
        join = self._cells(n_nearest)
        with loop_stage("neighbours", self._locations.n_samples):
            rows = calibrated.found(join.members())
            self._complete(rows, n_nearest)
        return rows

    def _complete(self, rows: Neighbors, n_nearest: int) -> None:
        """Rows for which too few points were visited are searched exactly."""
        join = self._cells(n_nearest)
        members = join.members()
        short = np.flatnonzero((rows.indices[rows.indptr[1:] - 1] < 0) & (members.cell_of != NO_CELL))
        if len(short):
            exact = join.nearest(members.some(short), n_nearest)
            rows.indices.reshape(-1, n_nearest)[short] = exact.indices.reshape(-1, n_nearest)
            rows.distances.reshape(-1, n_nearest)[short] = exact.distances.reshape(-1, n_nearest)

    def _calibration(self, n_nearest: int) -> CalibratedJoin | None:
        """The calibration for so many neighbours; None where an exact search is the better one."""
        n_locations = self._locations.n_locations
        if n_locations < _FEWEST_SAMPLES or n_nearest < 2 or n_nearest > n_locations // 8:
            return None
        if n_nearest not in self._calibrated:
            join, counts = self._cells(n_nearest), self._locations.counts_at_first
            with stage("calibration"):
                self._calibrated[n_nearest] = CalibratedJoin(join, counts, self.target, n_nearest)
        calibrated = self._calibrated[n_nearest]
        worthwhile = calibrated.reached and calibrated.rule.cost < n_locations / 2
        return calibrated if worthwhile else None

    def recall(self, n_neighbors: int) -> tuple[float, float]:
        calibrated = self._calibration(min(n_neighbors, self._locations.n_locations))
        return (1.0, 0.0) if calibrated is None else (calibrated.recall, calibrated.recall_error)
