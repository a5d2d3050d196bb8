"""Approximate search over cells: at least a stated share of the neighbours, calibrated on the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.calibration import CalibratedJoin, Sampled
from diffpeaks.neighbors.cells.join import NO_CELL, CellJoin
from diffpeaks.neighbors.cells.projection import Workload
from diffpeaks.neighbors.cells.ruled_join import RuledJoin
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.cells.truth import SAMPLE
from diffpeaks.neighbors.contract import Space, Told
from diffpeaks.progress import loop_stage, stage

_COMPARED = 4000  # points and centroids that a point is compared with, about
_WORTH_CALIBRATING = 2.0**33  # multiplications of all pairs: below, calibrating costs more than it saves
_FEWEST_SAMPLES = 16 * SAMPLE


def approximate_cell_size(n_samples: int) -> int:
    """Small cells need fewer comparisons for a recall, but all points are compared with all centroids."""
    return max(64, round(np.sqrt(n_samples) / 6))


def is_worth_calibrating(n_points: int, n_features: int, n_neighbors: int) -> bool:
    """Whether points are so many that a rule may save more than its calibration costs."""
    many = n_points >= _FEWEST_SAMPLES and n_points**2 * n_features >= _WORTH_CALIBRATING
    return many and 2 <= n_neighbors <= n_points // 8


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
        self._calibrated: dict[int, CalibratedJoin | None] = {}  # the last one: memory is planned for one
        self._earlier_rules: dict[int, Rule] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_calibrated": {}}

    def moved(self, space: Space) -> ApproximateCellSearch:
        """Rules are handed on; what they find of the neighbours is measured anew."""
        search = ApproximateCellSearch(space, self.n_threads, self.target)
        search._earlier_rules = {n: known.rule for n, known in self._calibrated.items() if known}
        return search

    def _is_worth_calibrating(self, n_nearest: int) -> bool:
        return is_worth_calibrating(self._duplicates.n_distinct, self.space.points.shape[1], n_nearest)

    def _joined(self, n_neighbors: int) -> CellJoin:
        if not self._is_worth_calibrating(n_neighbors):
            return super()._joined(n_neighbors)
        return self._in_small_cells(Workload(_COMPARED, n_neighbors, shortlisted=True))

    def _in_small_cells(self, workload: Workload) -> CellJoin:
        n_distinct = self._duplicates.n_distinct
        return self._partitioned(round(n_distinct / approximate_cell_size(n_distinct)), workload)

    def _all_nearest(self, n_nearest: int) -> RaggedRows:
        calibrated = self._calibration(n_nearest)
        if calibrated is None:
            return super()._all_nearest(n_nearest)
        with loop_stage("neighbours", len(self.space.points)):
            join = self._cells(n_nearest)
            rows = calibrated.found(join.members())
            _complete(rows, join, n_nearest)
        return rows

    def _calibration(self, n_nearest: int) -> CalibratedJoin | None:
        """The calibration for so many neighbours; None where an exact search is the better one."""
        if not self._is_worth_calibrating(n_nearest):
            return None
        if n_nearest not in self._calibrated:
            # from nothing: what was asked before must not change the answer
            self._calibrated, self._join = {}, None
            calibrated = self._calibrated_join(n_nearest)
            self._calibrated[n_nearest] = calibrated if calibrated.is_cheaper_than_exact() else None
            if self._calibrated[n_nearest] is None:
                # small cells and few directions suit a rule; all points are compared faster in others
                del calibrated
                self._join = None
                self._join = super()._joined(n_nearest)
        return self._calibrated[n_nearest]

    def _calibrated_join(self, n_nearest: int) -> CalibratedJoin:
        """In the coordinates that the search has, or in more of them where these tell too little."""
        join, earlier = self._cells(n_nearest), self._earlier_rules.get(n_nearest)
        with stage("calibration"):
            sample = Sampled.of(join, self._duplicates.counts_at_first, n_nearest)
            calibrated = CalibratedJoin(RuledJoin(join, n_nearest), sample, self.target, earlier)
        while calibrated.wants_more_coordinates():
            workload = Workload(_COMPARED, n_nearest, True, 2 * join.coordinates.n_features)
            self._join = join = calibrated = None  # type: ignore[assignment]  # memory is planned for one
            self._join = join = self._in_small_cells(workload)
            with stage("calibration"):
                placed = sample.placed_in(join)
                calibrated = CalibratedJoin(RuledJoin(join, n_nearest), placed, self.target, earlier)
        return calibrated

    def told(self, n_neighbors: int) -> Told:
        calibrated = self._calibration(min(n_neighbors, self._duplicates.n_distinct))
        if calibrated is None:
            return CellSearch.name, 1.0, 0.0
        return f"{self.name}: {calibrated}", calibrated.recall, calibrated.recall_error


def _complete(rows: RaggedRows, join: CellJoin, n_nearest: int) -> None:
    """Rows for which too few points were visited are searched exactly."""
    members = join.members()
    short = np.flatnonzero((rows.indices[rows.indptr[1:] - 1] < 0) & (members.cell_of != NO_CELL))
    if len(short):
        exact = join.nearest(members.some(short), n_nearest)
        rows.indices.reshape(-1, n_nearest)[short] = exact.indices.reshape(-1, n_nearest)
        rows.distances.reshape(-1, n_nearest)[short] = exact.distances.reshape(-1, n_nearest)
