"""Each point compared with the members of the cells in which its neighbours may be, on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS, Cells
from diffpeaks.neighbors.gpu.devices import WORKSPACE, free_bytes, runs_kernels
from diffpeaks.neighbors.gpu.ladder import SPARE, DevicePoints, Found, best_columns
from diffpeaks.neighbors.gpu.table import Columns, Proposed

_TIMES_WANTED = 10  # as many points as are wanted, or some more, are in the cells that are visited first
_FEWEST_FIRST = 24  # of these cells
_MEMBERS_HELD = 32  # of a cell, about
_ROOM = 4  # times as many in a list as are wanted
_MOST_AT_ONCE = 1 << 17  # queries


class VisitRule(NamedTuple):
    """Which cells a point visits after the first ones.

    The value of a cell is so many deviations above the mean one of its members. It may be so far below the
    value of the last neighbour that the first cells hold.
    """

    below: float
    n_deviations: float


class Known(NamedTuple):
    """What the first cells hold that queries visit."""

    cells: torch.Tensor  # the number of no cell where there are fewer
    points: torch.Tensor  # the nearest by products, in no order; the number of no point where there are fewer
    last: torch.Tensor  # the value of the last neighbour that is wanted, minus infinity where there is none


class CellVisits:
    """Points in cells: each is compared with the members of a few first, then of those that may matter."""

    def __init__(self, points: DevicePoints, n_nearest: int) -> None:
        self._points, self._columns, self._n_nearest = points, points.compared_columns(), n_nearest
        self._errors = points.value_errors()
        self.cells = Cells.of(self._columns)
        self._device = points.points.device
        n_first = max(_FEWEST_FIRST, -(-_TIMES_WANTED * n_nearest // _MEMBERS_HELD))
        self._n_first = min(n_first, len(self.cells.counts))

    def gaps(self, which: torch.Tensor, points: torch.Tensor, n_deviations: float) -> torch.Tensor:
        """By how much the values of the cells of other points are above the last known neighbour's.

        Infinite where some of the points find others in any case.
        """
        known = self._known(which, n_deviations)
        cells, last = self.cells.cell_of[points.long()], known.last[:, None]
        found = self.cells.ranking(n_deviations).values(self._columns.rows[which]).gather(1, cells) - last
        is_first = (known.cells[:, None, :] == cells[:, :, None]).any(dim=2)
        return torch.where(is_first | (last == -torch.inf), torch.inf, found)

    def n_visited(self, which: torch.Tensor, rule: VisitRule) -> float:
        """How many cells some of the points visit, on average."""
        known = self._known(which, rule.n_deviations)
        n_visited = self._is_visited(which, rule, known).sum() + (known.cells < len(self.cells.counts)).sum()
        return float(n_visited) / len(which)

    def found(self, which: torch.Tensor, rule: VisitRule) -> Found:
        """The nearest of what some of the points find where they visit."""
        return self._completed(self._found(which, rule), which)

    def all_found(self, rule: VisitRule, done: Callable[[int], Any]) -> Found:
        """The same for all points."""
        found = self._points.nothing(len(self._points.points), self._n_nearest)
        # points of one cell visit much the same cells
        order = self.cells.cell_of.sort(stable=True).indices
        for which in order.split(self._n_at_once()):
            found.put(which, self._found(which, rule))
            done(len(which))
        return self._completed(found, torch.arange(len(order), device=self._device))

    def _completed(self, found: Found, which: torch.Tensor) -> Found:
        """Rows that end with none are compared with all points."""
        short = found.distances[:, -1].isinf().nonzero()[:, 0]
        if len(short):
            found.put(short, self._points.found(self._points.points[which[short]], self._n_nearest))
        return found

    def _found(self, which: torch.Tensor, rule: VisitRule) -> Found:
        """What some points find.

        Rows end with none, at an infinite distance, if the cells hold too few points, or so many that may be
        among the nearest that a list has no room for them.
        """
        known = self._known(which, rule.n_deviations)
        reached = (known.last - 2 * self._errors[which]).float()
        reached = torch.where(known.last == -torch.inf, torch.inf, reached)  # nothing is listed
        list_all = self._listed_by_kernel if runs_kernels(self._device) else self._listed_plainly
        lists, counts = list_all(which, known, reached, rule)
        lists[counts > lists.shape[1]] = len(self._points.points)
        rows = self._points.points[which]
        nothing_beyond = torch.full((len(which),), torch.inf, dtype=torch.float64, device=self._device)
        proposed = Proposed(lists, self._points.squares(rows, lists, counts), nothing_beyond, in_order=False)
        return self._points.nearest_of(proposed, self._n_nearest)

    def _known(self, which: torch.Tensor, n_deviations: float) -> Known:
        cells = self._first_cells(self._columns.rows[which], self.cells.ranking(n_deviations))
        values = self._joined(which, cells).view(len(which), -1)
        best, columns = best_columns(values, min(self._n_nearest + SPARE, values.shape[1]))
        n_wanted = min(self._n_nearest, best.shape[1])
        last = best.topk(n_wanted, dim=1, sorted=True).values[:, -1]
        if n_wanted < self._n_nearest:
            last = torch.full_like(last, -torch.inf)
        holders = cells.gather(1, columns // MOST_MEMBERS).clamp(max=len(self.cells.counts) - 1)
        points = self.cells.members[holders, columns % MOST_MEMBERS]
        points = torch.where(best == -torch.inf, len(self._points.points), points).int()
        return Known(cells, points, last)

    def _first_cells(self, rows: torch.Tensor, ranking: Columns) -> torch.Tensor:
        """The cells of the largest values, about as many as should be, and no cells after them."""
        if runs_kernels(self._device):
            from diffpeaks.neighbors.gpu.best import best_marked  # which needs Triton

            return best_marked(rows, ranking, self._n_first, len(self.cells.counts)).long()
        return best_columns(ranking.values(rows), self._n_first)[1]

    def _is_visited(self, which: torch.Tensor, rule: VisitRule, known: Known) -> torch.Tensor:
        """Which cells some of the points visit after the first ones."""
        values = self.cells.ranking(rule.n_deviations).values(self._columns.rows[which])
        visited = values >= self._least(known, rule)[:, None]
        return visited.scatter_(1, known.cells, False)[:, : len(self.cells.counts)]

    @staticmethod
    def _least(known: Known, rule: VisitRule) -> torch.Tensor:
        """The value of cells that are visited: of none where the first ones hold too few points."""
        return torch.where(known.last == -torch.inf, torch.inf, known.last - rule.below)

    def _joined(self, which: torch.Tensor, visited: torch.Tensor) -> torch.Tensor:
        """Values of points and members of cells that they visit, minus infinity where a cell has no more."""
        if runs_kernels(self._device):
            from diffpeaks.neighbors.gpu.kernels.joins import joined  # which needs Triton

            return joined(self._columns, self.cells, which, visited)
        members = self.cells.members[visited]
        products = (self._columns.rows[members] @ self._columns.rows[which][:, None, :, None])[..., 0]
        return torch.where(self.cells.is_member[visited], products + self._columns.bias[members], -torch.inf)

    def _listed_by_kernel(
        self, which: torch.Tensor, known: Known, reached: torch.Tensor, rule: VisitRule
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Lists of what is known and of what reaches a value in other visited cells, and their lengths."""
        from diffpeaks.neighbors.gpu.kernels.joins import list_members, visits_by_cell  # which need Triton

        shape = len(which), _ROOM * (self._n_nearest + SPARE)
        lists = torch.full(shape, len(self._points.points), dtype=torch.int32, device=self._device)
        n_known = known.points.shape[1]
        lists[:, :n_known] = known.points
        counts = torch.full_like(lists[:, 0], n_known)
        rows, ranking = self._columns.rows[which], self.cells.ranking(rule.n_deviations)
        visits = visits_by_cell(rows, ranking, self._least(known, rule), known.cells)
        list_members(self._columns, self.cells, which, visits, reached, lists, counts)
        return lists, counts

    def _listed_plainly(
        self, which: torch.Tensor, known: Known, reached: torch.Tensor, rule: VisitRule
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The same, with room for all."""
        owners, visited = self._is_visited(which, rule, known).nonzero(as_tuple=True)
        values = self._joined(which[owners], visited[:, None])[:, 0]
        at, place = (values >= reached[owners, None]).nonzero(as_tuple=True)
        counts = torch.bincount(owners[at], minlength=len(which))
        first = (counts.cumsum(dim=0) - counts)[owners[at]]
        n_known = known.points.shape[1]
        shape = len(which), n_known + int(counts.max())
        lists = torch.full(shape, len(self._points.points), dtype=torch.int32, device=self._device)
        lists[:, :n_known] = known.points
        column = n_known + torch.arange(len(at), device=self._device) - first
        lists[owners[at], column] = self.cells.members[visited[at], place].int()
        return lists, counts + n_known

    def _n_at_once(self) -> int:
        """So many queries as the device has room for."""
        n_columns = len(self.cells.means.bias)
        each = 32 * self._n_first * MOST_MEMBERS + n_columns // 2 + 32 * _ROOM * (self._n_nearest + SPARE)
        if not runs_kernels(self._device):
            # all cells may be visited, and copies of their members are compared
            each += n_columns * MOST_MEMBERS * self._columns.rows.shape[1] * self._columns.rows.itemsize
        room = max(WORKSPACE, free_bytes(self._device) // 4)
        return max(1, min(_MOST_AT_ONCE, room // each))
