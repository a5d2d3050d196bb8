"""Which points may be near, marked in kernels of our own; few values are ever stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import triton
from scipy.special import pdtrik
from triton.tools.tensor_descriptor import TensorDescriptor

from diffpeaks.neighbors.gpu import kernels
from diffpeaks.neighbors.gpu.table import (
    Coordinates,
    DifferenceTable,
    Listed,
    ProductTable,
    Proposed,
    Queries,
)

try:
    from diffpeaks.neighbors.gpu import hopper

    _HAS_HOPPER = True
except ImportError:  # of a part of Triton that is still an experiment
    _HAS_HOPPER = False

_EVERY = 16  # column is looked at first, to see how large the values of neighbours are
_GROUP = 16  # of these columns, of which the best is looked at
_RISK = 0.006  # of queries for which too few points are marked
_ROWS, _PART = 128, 64
_FEW_ROWS, _GROUP_ROWS = 32, 16  # of few features
_CHUNK, _PAIRS = 512, 32
_PAIR_BYTES = 1 << 30  # of marks of pairs, at once
_SUM_ROUNDING = 2.0**-22  # of a value in float, and of what it is compared with
_FARTHER = 1 + 1e-6  # times a squared distance, than which another may be rounded to the same


def sample_rank(n_nearest: int) -> int:
    """The smallest rank in the sample such that hardly ever fewer than `n_nearest` of all are marked.

    Of these, about a Poisson number are in the sample, and the rank must be above it.
    """
    return math.ceil(pdtrik(1 - _RISK, n_nearest / _EVERY)) + 1


class Marks:
    """Points that are marked for queries, by values, the larger the nearer, that reach a least one."""

    def __init__(self, points: torch.Tensor, n_columns: int) -> None:
        self._points, self._n_columns = points, n_columns
        self._n_tiles = n_columns // kernels.COLUMNS
        self._n_groups = n_columns // _EVERY // _GROUP
        self._card = torch.cuda.get_device_properties(points.device)

    @staticmethod
    def room(n_nearest: int) -> int:
        """For the marked points of nearly all queries."""
        mean = _EVERY * sample_rank(n_nearest)
        return int(triton.next_power_of_2(round(mean + 4 * math.sqrt(_EVERY * mean))))

    def bytes_per_query(self, n_nearest: int) -> int:
        n_columns = self._n_columns
        return n_columns // 8 + 3 * n_columns // _EVERY + 40 * self.room(n_nearest)

    def suits(self, n_nearest: int) -> bool:
        """Whether there are points enough for a sample to tell what is near."""
        return self._n_groups >= 4 * sample_rank(n_nearest)

    def proposed(self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None) -> Proposed:
        """About so many points or more, or where it is known and finite, all within that squared distance."""
        listed = queries.listed
        if listed is None:
            marks = self._words(len(queries.rows), self._n_tiles)
            beyond = self._marked(queries, n_wanted, farthest, marks)
            listed = self._nothing_listed(beyond, n_wanted)
            self._collect(marks, listed, 0)
        lists, counts, beyond = listed
        beyond = torch.where(counts > lists.shape[1], 0.0, beyond)  # some were left out
        return Proposed(lists, self._squares(queries.rows, lists, counts), beyond)

    def listed(self, n_wanted: int, most_bytes: int, done: Callable[[int], Any]) -> Listed | None:
        """What is marked for all points, if that can be known at once in lists of so many bytes."""
        return None

    def _words(self, n_rows: int, n_tiles: int) -> torch.Tensor:
        return torch.empty((n_rows, 4 * n_tiles), dtype=torch.int32, device=self._points.device)

    def _nothing_listed(self, beyond: torch.Tensor, n_wanted: int) -> Listed:
        shape, device = (len(beyond), self.room(n_wanted)), self._points.device
        lists = torch.full(shape, len(self._points), dtype=torch.int32, device=device)
        return Listed(lists, torch.zeros(len(beyond), dtype=torch.int32, device=device), beyond)

    def _collect(self, marks: torch.Tensor, listed: Listed, first: int, turned: bool = False) -> None:
        """Add the points of marks, which begin with point `first`, to the lists."""
        given = marks, listed.lists, listed.counts, len(self._points), marks.shape[1], first
        how = {"ROOM": listed.lists.shape[1], "CHUNK": _CHUNK, "TURNED": turned, "num_warps": 1}
        kernels.collect[(len(marks),)](*given, **how)

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None, marks: torch.Tensor
    ) -> torch.Tensor:
        """Make the marks; points without one are no nearer than the squared distances that are returned."""
        raise NotImplementedError

    def _squares(self, queries: torch.Tensor, lists: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Squared distances to the points of the lists."""
        sums = torch.full(lists.shape, torch.inf, dtype=torch.float64, device=queries.device)
        (n_points, n_features), room = self._points.shape, lists.shape[1]
        kernels.sum_squares[(len(queries),)](
            *(queries, self._points, lists, counts, sums, n_points, n_features),
            ROOM=room,
            PAIRS=_PAIRS,
            enable_fp_fusion=False,  # the compiled core fuses none either
        )
        return sums

    def _grid(self, n_blocks: int, n_at_once: int) -> tuple[int, int]:
        n_at_once *= self._card.multi_processor_count
        return n_blocks, _n_shares(n_blocks, n_at_once, self._n_tiles)


class ProductMarks(Marks):
    """By one product of half floats."""

    def __init__(self, table: ProductTable, points: torch.Tensor) -> None:
        super().__init__(points, len(table.columns.bias))
        self._table, self._sample = table, table.columns.every(_EVERY)
        self._bias = table.columns.bias.float()
        few_enough = _HAS_HOPPER and table.columns.rows.shape[1] <= hopper.MOST_FEATURES
        self._suits_hopper = few_enough and self._card.major == 9

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None, marks: torch.Tensor
    ) -> torch.Tensor:
        asked = self._table.coordinates_of(queries)
        least = self._least(asked, n_wanted, farthest)
        self._mark(asked.rows, least, marks)
        return self._table.squares_beyond(asked, least, rounding=_SUM_ROUNDING)

    def listed(self, n_wanted: int, most_bytes: int, done: Callable[[int], Any]) -> Listed | None:
        """Each pair is compared once, which marks either of them for the other.

        The kernel for Hopper cards compares both ways in less time.
        """
        if self._suits_hopper:
            return None
        n_points, n_columns = len(self._points), self._n_columns
        n_rows = _ROWS * max(1, min(_PAIR_BYTES // (n_columns // 4), n_points // 16) // _ROWS)
        if 4 * self.room(n_wanted) * n_points > most_bytes:
            return None
        least = torch.full((n_columns,), torch.inf, device=self._points.device)
        beyond = torch.empty(n_points, dtype=torch.float64, device=self._points.device)
        for which in (slice(first, first + n_rows) for first in range(0, n_points, n_rows)):
            asked = self._table.coordinates_of(Queries(self._points[which], which))
            least[:n_points][which] = reached = self._reached_by(asked, n_wanted)
            beyond[which] = self._table.squares_beyond(asked, reached, rounding=_SUM_ROUNDING)
        listed = self._nothing_listed(beyond, n_wanted)
        for first in range(0, n_points, n_rows):
            self._list_pairs(first, min(first + n_rows, n_columns), least, listed)
            done(min(n_rows, n_points - first))
        return listed

    def _list_pairs(self, first: int, last: int, least: torch.Tensor, listed: Listed) -> None:
        """Of the points from `first` to `last` with these and with all that follow."""
        n_own, first_tile = (last - first) // _ROWS, first // _ROWS
        marks = self._words(last - first, self._n_tiles - first_tile)
        turned = self._words(self._n_columns - last, n_own)
        common = self._table.common_bias
        tiles = TensorDescriptor.from_tensor(self._table.columns.rows, [_ROWS, _PART])
        n_parts = triton.cdiv(self._table.columns.rows.shape[1], _PART)
        given = self._bias, least - (common or 0.0), marks, turned, first_tile, n_own, self._n_tiles, n_parts
        kernels.mark_pairs[self._grid(n_own, 2)](tiles, *given, common is None, PART=_PART, num_warps=4)
        n_points = len(self._points)
        self._collect(marks[: n_points - first], listed.of(slice(first, last)), first)
        if last < n_points:
            self._collect(turned[: n_points - last], listed.of(slice(last, None)), first, turned=True)

    def _least(self, asked: Coordinates, n_wanted: int, farthest: torch.Tensor | None) -> torch.Tensor:
        """A value that enough points reach."""
        if farthest is None:
            return self._reached_by(asked, n_wanted)
        within = self._table.least_value(asked, farthest * _FARTHER, _SUM_ROUNDING).float()
        least = within.nextafter(torch.full_like(within, -torch.inf))  # what is not marked must be beyond
        unknown = farthest == torch.inf
        return torch.where(unknown, self._reached_by(asked, n_wanted), least) if unknown.any() else least

    def _reached_by(self, asked: Coordinates, n_wanted: int) -> torch.Tensor:
        """A value that about enough points reach, by the best of some groups of the sample.

        It is below that of the last point that is wanted by what both may be off.
        """
        sample = self._sample.values(asked)
        best = sample.view(len(sample), _GROUP, -1).amax(dim=1)
        ranked = best.topk(min(sample_rank(n_wanted), best.shape[1]), dim=1).values.double()
        last = ranked[:, min(n_wanted // _EVERY, ranked.shape[1] - 1)]
        clear = last - 2 * self._table.error(asked, _SUM_ROUNDING)
        return torch.minimum(ranked[:, -1], clear).float()

    def _mark(self, rows: torch.Tensor, least: torch.Tensor, marks: torch.Tensor) -> None:
        grid = self._grid(triton.cdiv(len(rows), _ROWS), 1 if self._suits_hopper else 2)
        common, points = self._table.common_bias, self._table.columns.rows
        to_compare = self._bias, least - (common or 0.0), marks, len(rows), self._n_tiles
        if self._suits_hopper:
            hopper.launch(grid, rows, points, to_compare, common is None)
            return
        tiles = (TensorDescriptor.from_tensor(side, [_ROWS, _PART]) for side in (rows, points))
        n_parts = triton.cdiv(rows.shape[1], _PART)
        kernels.mark[grid](*tiles, *to_compare, n_parts, common is None, ROWS=_ROWS, PART=_PART, num_warps=4)


class DifferenceMarks(Marks):
    """By the squared differences of few features, in double."""

    def __init__(self, table: DifferenceTable, points: torch.Tensor) -> None:
        super().__init__(points, table.columns.shape[1])
        self._table = table

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None, marks: torch.Tensor
    ) -> torch.Tensor:
        rows = queries.rows.double()
        most = self._most(rows, n_wanted, farthest)
        grid = self._grid(triton.cdiv(len(rows), _FEW_ROWS), 8)
        given = rows, self._table.columns, most, marks, len(rows), self._n_tiles
        kernels.mark_differences[grid](*given, FEATURES=rows.shape[1], ROWS=_FEW_ROWS)
        return self._table.slope * most

    def _most(self, rows: torch.Tensor, n_wanted: int, farthest: torch.Tensor | None) -> torch.Tensor:
        """A squared distance within which enough points are."""
        if farthest is None:
            return self._reached_by(rows, n_wanted)
        within, unknown = farthest * _FARTHER / self._table.slope, farthest == torch.inf
        return torch.where(unknown, self._reached_by(rows, n_wanted), within) if unknown.any() else within

    def _reached_by(self, rows: torch.Tensor, n_wanted: int) -> torch.Tensor:
        """A squared distance within which about enough points are, by the best of some groups of a sample."""
        best = torch.empty((len(rows), self._n_groups), dtype=torch.float64, device=rows.device)
        grid = triton.cdiv(len(rows), _GROUP_ROWS), triton.cdiv(self._n_groups, kernels.COLUMNS)
        given = rows, self._table.columns, best, len(rows), self._n_columns, self._n_groups
        kernels.best_of_groups[grid](
            *given, FEATURES=rows.shape[1], ROWS=_GROUP_ROWS, GROUP=_GROUP, EVERY=_EVERY, num_warps=8
        )
        rank = min(sample_rank(n_wanted), self._n_groups)
        return best.topk(rank, dim=1, largest=False).values.amax(dim=1)


def _n_shares(n_blocks: int, n_at_once: int, n_tiles: int) -> int:
    """Of tiles, so that programs for all blocks of queries, some at once, are busy to the end."""
    idle = {shares: -(n_blocks * shares) % n_at_once / (n_blocks * shares) for shares in range(1, 17)}
    return min(n_tiles, min(idle, key=lambda shares: (round(idle[shares], 2), shares)))
