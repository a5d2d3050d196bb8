"""Which points may be near, marked in kernels of our own; few values are ever stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import triton
from scipy.special import pdtrik

from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu.comparing import BLOCK, Comparing, grid_of
from diffpeaks.neighbors.gpu.kernels import candidates, differences
from diffpeaks.neighbors.gpu.kernels import nearest as kernels_of_rows
from diffpeaks.neighbors.gpu.kernels.compare import COLUMNS
from diffpeaks.neighbors.gpu.table import (
    ROUNDING,
    Columns,
    Coordinates,
    DifferenceTable,
    Listed,
    ProductTable,
    Proposed,
    Queries,
)

_EVERY = 16  # column is looked at first, to see how large the values of neighbours are
_GROUP = 16  # of these columns, of which the best is looked at; products have twice as many
_RISK = 0.006  # of queries for which too few points are marked
_FEW_ROWS, _GROUP_ROWS = 32, 16  # of few features
_TILES_COLLECTED, _PAIRS = 64, 32
_PAIR_BYTES = 1 << 30  # of marks of pairs, at once
_SAMPLE_BYTES = 1 << 28  # of the best of the sample, at once
_MOST_RANKED = 1 << 14  # values of a row, in a kernel
_FARTHER = 1 + 1e-6  # times a squared distance, than which another may be rounded to the same


def sample_rank(n_nearest: int) -> int:
    """The smallest rank in the sample such that hardly ever fewer than `n_nearest` of all are marked.

    Of these, about a Poisson number are in the sample, and the rank must be above it.
    """
    return math.ceil(pdtrik(1 - _RISK, n_nearest / _EVERY)) + 1


class Marks:
    """Points that are marked for queries, by values, the larger the nearer, that reach a least one."""

    def __init__(self, points: torch.Tensor, n_columns: int, n_groups: int) -> None:
        self._points, self._n_columns, self._n_groups = points, n_columns, n_groups

    @staticmethod
    def room(n_nearest: int) -> int:
        """For the marked points of nearly all queries."""
        mean = _EVERY * sample_rank(n_nearest)
        return 32 * math.ceil((mean + 4 * math.sqrt(_EVERY * mean)) / 32)

    def bytes_per_query(self, n_nearest: int) -> int:
        return self._n_columns // 8 + 4 * self._n_groups + 40 * self.room(n_nearest)

    def suits(self, n_nearest: int) -> bool:
        """Whether there are points enough for a sample to tell what is near."""
        return self._n_groups >= 4 * sample_rank(n_nearest)

    def proposed(self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None) -> Proposed:
        """About so many points or more, or where it is known and finite, all within that squared distance."""
        listed = queries.listed
        if listed is None:
            marks, beyond = self._marked(queries, n_wanted, farthest)
            listed = self._nothing_listed(beyond, n_wanted)
            collect(marks, listed.lists, listed.counts, len(self._points))
        lists, counts, beyond = listed
        beyond = torch.where(counts > lists.shape[1], 0.0, beyond)  # some were left out
        squares = squares_of_lists(queries.rows, self._points, lists, counts)
        return Proposed(lists, squares, beyond, in_order=False)

    def listed(self, n_wanted: int, most_bytes: int, done: Callable[[int], Any]) -> Listed | None:
        """What is marked for all points, if that can be known at once in lists of so many bytes."""
        return None

    def _nothing_listed(self, beyond: torch.Tensor, n_wanted: int) -> Listed:
        shape, device = (len(beyond), self.room(n_wanted)), self._points.device
        lists = torch.full(shape, len(self._points), dtype=torch.int32, device=device)
        return Listed(lists, torch.zeros(len(beyond), dtype=torch.int32, device=device), beyond)

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Marks, and for each query a squared distance than which no point without one is nearer."""
        raise NotImplementedError


def collect(
    marks: torch.Tensor,
    lists: torch.Tensor,
    counts: torch.Tensor,
    n_points: int,
    first: int = 0,
    turned: bool = False,
) -> None:
    """Add what is marked to the lists of rows; turned, to those of points that are no rows.

    Rows and points begin with the number `first`.
    """
    first_tile = triton.cdiv(len(marks), COLUMNS) if turned else 0
    given = lists, counts, n_points, marks.shape[1] // 4, first_tile, first, first
    how = {"ROOM": lists.shape[1], "TILES": _TILES_COLLECTED, "TURNED": turned, "num_warps": 1}
    candidates.collect[(len(marks),)](marks, *given, **how)


def squares_of_lists(
    queries: torch.Tensor, points: torch.Tensor, lists: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Squared distances to the points of the lists; infinite for none."""
    sums = torch.full(lists.shape, torch.inf, dtype=torch.float64, device=queries.device)
    (n_points, n_features), room = points.shape, lists.shape[1]
    candidates.sum_squares[(len(queries),)](
        *(queries, points, lists, counts, sums, n_points, n_features),
        ROOM=room,
        PAIRS=_PAIRS,
        num_warps=8,
        enable_fp_fusion=False,  # the compiled core fuses none either
    )
    return sums


def nearest_listed(
    lists: torch.Tensor, squares: torch.Tensor, measure: Measure, n_nearest: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The nearest points of each list, their distances in floats, and the last squared distance."""
    n_rows, room = lists.shape
    nearest = torch.empty((n_rows, n_nearest), dtype=torch.int32, device=lists.device)
    distances = torch.empty_like(nearest, dtype=torch.float32)
    last = torch.empty(n_rows, dtype=torch.float64, device=lists.device)
    constants = torch.full((2,), measure.zero, dtype=torch.float64, device=lists.device)
    constants[:1].fill_(measure.factor)  # in two steps, neither of which waits for the device
    given = squares, lists, constants, nearest, distances, last, n_nearest
    size = max(triton.next_power_of_2(room), triton.next_power_of_2(n_nearest))
    how = {"ROOM": room, "SIZE": size, "SQUARED": measure.squared, "num_warps": _n_warps(size, 512)}
    kernels_of_rows.nearest_listed[(n_rows,)](*given, **how, enable_fp_fusion=False)
    return nearest, distances, last


def values_of_ranks(values: torch.Tensor, first: int, last: int) -> torch.Tensor:
    """Of each row the values of two ranks, counted from the largest one, whose rank is 0."""
    while values.shape[1] > _MOST_RANKED:  # the larger ones of pairs: a value that is beaten is passed over
        half = values.shape[1] // 2
        values = torch.maximum(values[:, :half], values[:, half : 2 * half])
    found = torch.empty((len(values), 2), dtype=values.dtype, device=values.device)
    size = triton.next_power_of_2(values.shape[1])
    given = values.contiguous(), found, values.shape[1], first, last
    kernels_of_rows.values_of_ranks[(len(values),)](*given, SIZE=size, num_warps=_n_warps(size, 2048))
    return found


def _n_warps(size: int, each: int) -> int:
    """For a row of that size, if a warp takes so many values: threads of a warp need not wait for others."""
    return max(1, min(8, size // each))


class ProductMarks(Marks):
    """By one product of half floats."""

    def __init__(self, table: ProductTable, points: torch.Tensor) -> None:
        sample = _dealt(table.columns, len(points))
        super().__init__(points, len(table.columns.bias), len(sample.bias) // (2 * _GROUP))
        self._table, self._sample = table, sample
        self._comparing = Comparing(points.device, table.common_bias is None)

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        asked = self._table.coordinates_of(queries)
        least = self._least(asked, n_wanted, farthest)
        marks = self._comparing.marked(asked.rows, self._table.columns, self._without_bias(least))
        return marks, self._table.squares_beyond(asked, least, rounding=ROUNDING)

    def listed(self, n_wanted: int, most_bytes: int, done: Callable[[int], Any]) -> Listed | None:
        """Each pair is compared once, which marks either of them for the other."""
        n_points, n_columns = len(self._points), self._n_columns
        n_rows = BLOCK * max(1, min(_PAIR_BYTES // (n_columns // 4), n_points // 16) // BLOCK)
        if 4 * self.room(n_wanted) * n_points > most_bytes:
            return None
        asked = self._table.coordinates_of(Queries(self._points, slice(None)))
        reached = self._reached_by(asked, n_wanted)
        beyond = self._table.squares_beyond(asked, reached, rounding=ROUNDING)
        least = torch.full((n_columns,), torch.inf, device=reached.device)
        least[:n_points] = self._without_bias(reached)
        listed = self._nothing_listed(beyond, n_wanted)
        for first in range(0, n_points, n_rows):
            n_listed = min(n_rows, n_points - first)
            self._list_pairs(first, n_listed, least, listed)
            done(n_listed)
        return listed

    def _list_pairs(self, first: int, n_rows: int, least: torch.Tensor, listed: Listed) -> None:
        """Of so many points with these and with all that follow."""
        columns = self._table.columns.beginning(first)
        marks, turned = self._comparing.marked_pairs(columns.rows[:n_rows], columns, least[first:])
        where = listed.lists, listed.counts, len(self._points), first
        collect(marks, *where)
        collect(turned, *where, turned=True)

    def _least(self, asked: Coordinates, n_wanted: int, farthest: torch.Tensor | None) -> torch.Tensor:
        """A value that enough points reach."""
        if farthest is None:
            return self._reached_by(asked, n_wanted)
        within = self._table.least_value(asked, farthest * _FARTHER, ROUNDING).float()
        least = within.nextafter(torch.full_like(within, -torch.inf))  # what is not marked must be beyond
        unknown = farthest == torch.inf
        return torch.where(unknown, self._reached_by(asked, n_wanted), least) if unknown.any() else least

    def _reached_by(self, asked: Coordinates, n_wanted: int) -> torch.Tensor:
        """A value that about enough points reach, by the best of some groups of the sample.

        It is below that of the last point that is wanted by what both may be off.
        """
        rank = min(sample_rank(n_wanted), self._n_groups)
        blocks = asked.rows.split(max(1, _SAMPLE_BYTES // (4 * self._n_groups)))
        first = min(n_wanted // _EVERY, rank - 1)
        best = (self._comparing.best(rows, self._sample) for rows in blocks)
        ranked = torch.cat([values_of_ranks(some, first, rank - 1) for some in best]).double()
        ranked += self._table.common_bias or 0.0
        clear = ranked[:, 0] - 2 * self._table.error(asked, ROUNDING)
        return torch.minimum(ranked[:, 1], clear).float()

    def _without_bias(self, values: torch.Tensor) -> torch.Tensor:
        """Values as products have them, if all columns have the same bias."""
        return values - (self._table.common_bias or 0.0)


class DifferenceMarks(Marks):
    """By the squared differences of few features, in double."""

    def __init__(self, table: DifferenceTable, points: torch.Tensor) -> None:
        n_columns = table.columns.shape[1]
        super().__init__(points, n_columns, n_columns // _EVERY // _GROUP)
        self._table, self._n_tiles = table, n_columns // COLUMNS
        self._card = torch.cuda.get_device_properties(points.device)

    def _marked(
        self, queries: Queries, n_wanted: int, farthest: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = queries.rows.double()
        most = self._most(rows, n_wanted, farthest)
        marks = torch.empty((len(rows), 4 * self._n_tiles), dtype=torch.int32, device=rows.device)
        grid = grid_of(self._card, triton.cdiv(len(rows), _FEW_ROWS), self._n_tiles, 8)
        given = rows, self._table.columns, most, marks, len(rows), self._n_tiles
        differences.mark_differences[grid](*given, FEATURES=rows.shape[1], ROWS=_FEW_ROWS)
        return marks, self._table.slope * most

    def _most(self, rows: torch.Tensor, n_wanted: int, farthest: torch.Tensor | None) -> torch.Tensor:
        """A squared distance within which enough points are."""
        if farthest is None:
            return self._reached_by(rows, n_wanted)
        within, unknown = farthest * _FARTHER / self._table.slope, farthest == torch.inf
        return torch.where(unknown, self._reached_by(rows, n_wanted), within) if unknown.any() else within

    def _reached_by(self, rows: torch.Tensor, n_wanted: int) -> torch.Tensor:
        """A squared distance within which about enough points are, by the best of some groups of a sample."""
        best = torch.empty((len(rows), self._n_groups), dtype=torch.float64, device=rows.device)
        grid = triton.cdiv(len(rows), _GROUP_ROWS), triton.cdiv(self._n_groups, COLUMNS)
        given = rows, self._table.columns, best, len(rows), self._n_columns, self._n_groups
        differences.best_of_groups[grid](
            *given, FEATURES=rows.shape[1], ROWS=_GROUP_ROWS, GROUP=_GROUP, EVERY=_EVERY, num_warps=8
        )
        rank = min(sample_rank(n_wanted), self._n_groups)
        return best.topk(rank, dim=1, largest=False).values.amax(dim=1)


def _dealt(columns: Columns, n_points: int) -> Columns:
    """Every so many-th of the points; those of a tile are spread over all, as neighbours may not be."""
    rows, bias = (values[:n_points:_EVERY] for values in columns)
    n_dealt = len(rows) // BLOCK * BLOCK
    order = torch.arange(n_dealt, device=rows.device).view(COLUMNS, n_dealt // COLUMNS).T.reshape(-1)
    return Columns(rows[order], bias[order])
