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
# Tried: the more dimensions neighbours fill, the more are best.
_DEVIATIONS = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0)
# In comparisons of a point with all others: with a cell, with a member of a cell that is visited, and that
# without kernels of our own.
_RANKED, _VISITED, _VISITED_PLAINLY = 8, 8, 400


class _Calibrated(NamedTuple):
    visits: CellVisits
    rule: VisitRule
    n_visited: float  # cells, by a point, on average
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
            return calibrated.visits.all_found(calibrated.rule, done)

    def told(self, n_neighbors: int) -> Told:
        calibrated = self._calibration(min(n_neighbors, self._duplicates.n_distinct))
        if calibrated is None:
            return self.name, 1.0, 0.0
        n_cells = len(calibrated.visits.cells.counts)
        name = f"approximate: {round(calibrated.n_visited)} of {n_cells} cells, {self.name}"
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
            visits = CellVisits(self._points, n_nearest)
        with stage("calibration"):
            fitted, unseen = self._truth(n_nearest).halves()
            which = on_device(unseen.which, self.device)
            for share in RELAXED:
                missed = (1 - self.target) * (1 - MARGIN) / (1 + share)
                n_visited, rule = self._cheapest_rule(visits, fitted, 1 - missed)
                if not self._saves(n_visited, len(visits.cells.counts)):
                    return None
                recall, error = unseen.estimate(visits.found(which, rule).indices.cpu().numpy())
                if recall - error >= self.target:
                    return _Calibrated(visits, rule, n_visited, recall, error)
        return None

    def _truth(self, n_nearest: int) -> Truth:
        duplicates = self._duplicates
        counts = duplicates.counts_at_first[duplicates.representatives]
        which = drawn_points(counts, _SAMPLE)
        queries = self._points.points[on_device(which, self.device)]
        return Truth.of(which, self._points.found(queries, n_nearest).indices.cpu().numpy(), counts)

    def _cheapest_rule(self, visits: CellVisits, truth: Truth, recall: float) -> tuple[float, VisitRule]:
        """The rule of the fewest visits that reaches a recall, and how many cells a point visits then."""
        which, neighbors = on_device(truth.which, self.device), on_device(truth.neighbors, self.device)
        rules = []
        for n_deviations in _DEVIATIONS:
            gaps = visits.gaps(which, neighbors, n_deviations).cpu().numpy()
            rule = VisitRule(-_least_gap(gaps, truth, recall), n_deviations)
            rules.append((visits.n_visited(which, rule), rule))
        return min(rules)

    def _saves(self, n_visited: float, n_cells: int) -> bool:
        """Whether so many visits take at most half of what comparing all points takes."""
        visited = _VISITED if runs_kernels(self.device) else _VISITED_PLAINLY
        compared = _RANKED * n_cells + visited * n_visited * MOST_MEMBERS
        return n_visited <= n_cells and compared <= self._duplicates.n_distinct / 2


def _least_gap(gaps: NDArray[Any], truth: Truth, recall: float) -> float:
    """The largest gap such that cells of this one or larger ones hold a share of the true neighbours."""
    n_points = truth.n_points.sum(axis=1) + truth.n_beside
    shares = (truth.n_points / n_points[:, None]).ravel()
    order = np.argsort(-gaps, axis=None, kind="stable")
    held = np.mean(truth.n_beside / n_points) + np.cumsum(shares[order]) / len(n_points)
    last = min(int(np.searchsorted(held, recall)), len(order) - 1)
    return float(gaps.ravel()[order[last]])
