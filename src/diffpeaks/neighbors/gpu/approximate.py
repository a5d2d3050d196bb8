"""Approximate search on a GPU: at least a stated share of the neighbours, calibrated on the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks.neighbors.cells.approximate import ApproximateCellSearch
from diffpeaks.neighbors.cells.truth import MARGIN, RELAXED, Truth, drawn_points
from diffpeaks.neighbors.contract import Told
from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS
from diffpeaks.neighbors.gpu.devices import FEW_FEATURES, memory_told, on_device, runs_kernels
from diffpeaks.neighbors.gpu.ladder import Found
from diffpeaks.neighbors.gpu.search import GpuSearch
from diffpeaks.neighbors.gpu.space import DeviceSpace
from diffpeaks.neighbors.gpu.visits import CellVisits, VisitRule
from diffpeaks.progress import stage

_SAMPLE = 2048  # queries: a rule is fitted to one half of them and measured on the other
# multiplications of all pairs: below, comparing them takes no longer than cells and calibration
_WORTH_CALIBRATING = 2.0**48
_DEVIATIONS = (0.0, 1.0, 2.0, 3.0)  # that are tried: the more dimensions neighbours fill, the more are best
# In comparisons of a point with all others: with a cell, with a member of a cell that is visited, and that
# without kernels of our own.
_RANKED, _VISITED, _VISITED_PLAINLY = 4, 12, 400


class _Calibrated(NamedTuple):
    visits: CellVisits
    rule: VisitRule
    recall: float
    recall_error: float


class ApproximateGpuSearch(GpuSearch):
    """Finds the stated share of the neighbours of all points, and is exact in all else."""

    def __init__(self, space: DeviceSpace, n_threads: int, recall: float) -> None:
        super().__init__(space, n_threads)
        self.target = recall
        self._calibrated: dict[int, _Calibrated | None] = {}  # the last one: memory is that of one

    def __reduce__(self) -> tuple[Any, ...]:
        return ApproximateCellSearch, (self.space, self.n_threads, self.target)

    def moved(self, space: Any) -> ApproximateGpuSearch:
        return ApproximateGpuSearch(space, self.n_threads, self.target)

    def _all_nearest(self, n_nearest: int) -> Found:
        calibrated = self._calibration(n_nearest)
        if calibrated is None:
            return super()._all_nearest(n_nearest)
        with stage("neighbours", self._duplicates.n_distinct) as done:
            return calibrated.visits.all_found(n_nearest, calibrated.rule, done)

    def told(self, n_neighbors: int) -> Told:
        calibrated = self._calibration(min(n_neighbors, self._duplicates.n_distinct))
        if calibrated is None:
            return self.name, 1.0, 0.0
        n_cells = len(calibrated.visits.cells.counts)
        name = f"approximate: {calibrated.rule.n_cells} of {n_cells} cells, {self.name}"
        return name, calibrated.recall, calibrated.recall_error

    def _calibration(self, n_nearest: int) -> _Calibrated | None:
        """The calibration for so many neighbours; None where an exact search is the better one."""
        n_distinct, n_features = self._duplicates.n_distinct, self.space.points.shape[1]
        many = n_distinct >= 16 * _SAMPLE and float(n_distinct) ** 2 * n_features >= _WORTH_CALIBRATING
        if not many or n_features <= FEW_FEATURES or not 2 <= n_nearest <= n_distinct // 8:
            return None
        if n_nearest not in self._calibrated:
            with memory_told(self.device, self.space.points.nbytes):
                self._calibrated = {n_nearest: self._calibrate(n_nearest)}
        return self._calibrated[n_nearest]

    def _calibrate(self, n_nearest: int) -> _Calibrated | None:
        """The fewest visits that reach the recall for half of a sample, and for the other half as well."""
        with stage("cells"):
            visits = CellVisits(self._points)
        with stage("calibration"):
            fitted, unseen = self._truth(n_nearest).halves()
            which = on_device(unseen.which, self.device)
            fewest = self._cheapest_rule(visits, fitted)
            for share in RELAXED:
                rule = fewest._replace(n_cells=round(fewest.n_cells * (1 + share)))
                if not self._saves(rule.n_cells, len(visits.cells.counts)):
                    return None
                found = visits.found(which, n_nearest, rule).indices.cpu().numpy()
                recall, error = unseen.estimate(found)
                if recall - error >= self.target:
                    return _Calibrated(visits, rule, recall, error)
        return None

    def _truth(self, n_nearest: int) -> Truth:
        duplicates = self._duplicates
        counts = duplicates.counts_at_first[duplicates.representatives]
        which = drawn_points(counts, _SAMPLE)
        queries = self._points.points[on_device(which, self.device)]
        return Truth.of(which, self._points.found(queries, n_nearest).indices.cpu().numpy(), counts)

    def _cheapest_rule(self, visits: CellVisits, truth: Truth) -> VisitRule:
        which, neighbors = on_device(truth.which, self.device), on_device(truth.neighbors, self.device)
        recall = self.target + MARGIN * (1 - self.target)
        rules = []
        for n_deviations in _DEVIATIONS:
            ranks = visits.ranks(which, neighbors, n_deviations).cpu().numpy()
            # which must be enough for a whole row
            n_cells = max(_n_needed(ranks, truth, recall), -(-truth.neighbors.shape[1] // MOST_MEMBERS) + 1)
            rules.append(VisitRule(n_cells, n_deviations))
        return min(rules)

    def _saves(self, n_visited: int, n_cells: int) -> bool:
        """Whether so many visits take at most half of what comparing all points takes."""
        visited = _VISITED if runs_kernels(self.device) else _VISITED_PLAINLY
        compared = _RANKED * n_cells + visited * n_visited * MOST_MEMBERS
        return n_visited <= n_cells and compared <= self._duplicates.n_distinct / 2


def _n_needed(ranks: NDArray[np.int64], truth: Truth, recall: float) -> int:
    """How many cells hold that share of the true neighbours, each of which is in a cell of some rank."""
    n_points = truth.n_points.sum(axis=1) + truth.n_beside
    shares = (truth.n_points / n_points[:, None]).ravel()
    order = np.argsort(ranks, axis=None, kind="stable")
    held = np.mean(truth.n_beside / n_points) + np.cumsum(shares[order]) / len(n_points)
    last = min(int(np.searchsorted(held, recall)), len(order) - 1)
    return int(ranks.ravel()[order[last]]) + 1
