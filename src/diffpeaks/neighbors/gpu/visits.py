"""Each point compared with the members of the cells that are nearest to it, on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS, Cells
from diffpeaks.neighbors.gpu.devices import WORKSPACE, free_bytes, runs_kernels
from diffpeaks.neighbors.gpu.ladder import SPARE, DevicePoints, Found, best_columns
from diffpeaks.neighbors.gpu.table import Columns, Proposed


class VisitRule(NamedTuple):
    """Which cells a point visits: so many, by values so many deviations above the mean one of the members."""

    n_cells: int
    n_deviations: float


class CellVisits:
    """Points in cells, which each of them compares with the members of its own cell and of others."""

    def __init__(self, points: DevicePoints) -> None:
        self._points, self._columns = points, points.compared_columns()
        self.cells = Cells.of(self._columns)
        self._device = points.points.device

    def ranks(self, which: torch.Tensor, points: torch.Tensor, n_deviations: float) -> torch.Tensor:
        """How many cells some of the points visit before those of other points, a row of these for each."""
        values = self._values(which, self.cells.ranking(n_deviations))
        wanted = values.gather(1, self.cells.cell_of[points.long()])
        in_order = (-values.float()).sort(dim=1).values
        return torch.searchsorted(in_order, -wanted.float(), right=True) - 1

    def found(self, which: torch.Tensor, n_nearest: int, rule: VisitRule) -> Found:
        """The nearest of what some of the points find where they visit.

        Rows for which these cells hold too few points end with none, at an infinite distance.
        """
        return self._found(which, n_nearest, rule.n_cells, self.cells.ranking(rule.n_deviations))

    def _found(self, which: torch.Tensor, n_nearest: int, n_visited: int, ranking: Columns) -> Found:
        rows, visited = self._points.points[which], best_columns(self._values(which, ranking), n_visited)[1]
        values = self._joined(which, visited).view(len(which), -1)
        best, columns = best_columns(values, min(n_nearest + SPARE, values.shape[1]))
        cells = visited.gather(1, columns // MOST_MEMBERS)
        lists = self.cells.members[cells, columns % MOST_MEMBERS]
        lists = torch.where(best == -torch.inf, len(self._points.points), lists).int().sort(dim=1).values
        nothing_beyond = torch.full((len(which),), torch.inf, dtype=torch.float64, device=self._device)
        proposed = Proposed(lists, self._points.squares(rows, lists), nothing_beyond)
        return self._points.nearest_of(proposed, n_nearest)

    def all_found(self, n_nearest: int, rule: VisitRule, done: Callable[[int], Any]) -> Found:
        """The same for all points; those that found too few are compared with all others."""
        ranking = self.cells.ranking(rule.n_deviations)
        found = self._points.nothing(len(self._points.points), n_nearest)
        # points of one cell visit much the same cells
        for which in self.cells.cell_of.sort(stable=True).indices.split(self._n_at_once(rule.n_cells)):
            found.put(which, self._found(which, n_nearest, rule.n_cells, ranking))
            done(len(which))
        short = found.distances[:, -1].isinf().nonzero()[:, 0]
        if len(short):
            found.put(short, self._points.found(self._points.points[short], n_nearest))
        return found

    def _values(self, which: torch.Tensor, ranking: Columns) -> torch.Tensor:
        """Of points and cells; none is nearer than a point's own."""
        values = ranking.values(self._columns.rows[which])
        return values.scatter_(1, self.cells.cell_of[which][:, None], torch.inf)

    def _joined(self, which: torch.Tensor, visited: torch.Tensor) -> torch.Tensor:
        """Values of points and members of cells that they visit, minus infinity where a cell has no more."""
        if runs_kernels(self._device):
            from diffpeaks.neighbors.gpu.kernels.joins import joined  # which needs Triton

            return joined(self._columns, self.cells, which, visited)
        members = self.cells.members[visited]
        products = (self._columns.rows[members] @ self._columns.rows[which][:, None, :, None])[..., 0]
        return torch.where(self.cells.is_member[visited], products + self._columns.bias[members], -torch.inf)

    def _n_at_once(self, n_visited: int) -> int:
        """So many queries as the device has room for."""
        n_values = n_visited * MOST_MEMBERS
        each = 16 * n_values + 6 * len(self.cells.means.bias) + 64 * n_visited
        if not runs_kernels(self._device):
            each += n_values * self._columns.rows.shape[1] * self._columns.rows.itemsize
        return max(1, max(WORKSPACE, free_bytes(self._device) // 4) // each)
