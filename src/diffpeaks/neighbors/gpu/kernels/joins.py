"""Queries compared with the members of the cells that they visit, by kernels of our own in Triton."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS, Cells
from diffpeaks.neighbors.gpu.comparing import Comparing
from diffpeaks.neighbors.gpu.kernels.candidates import lowest_bit, lowest_mark, n_bits, n_left
from diffpeaks.neighbors.gpu.table import Columns

_VISITS, _PART = 128, 64  # of a program, and features at a time
_TILES_COLLECTED = 64
_MEMBERS = tl.constexpr(MOST_MEMBERS)


class Visits(NamedTuple):
    """Visits of queries, cell by cell."""

    order: torch.Tensor  # the visits, as whoever made them numbers them, those of one cell together
    ends: torch.Tensor  # where those of each cell end

    def programs(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The cell of each program, its first visit, and where the visits of the cell end."""
        begins = torch.nn.functional.pad(self.ends[:-1], (1, 0))
        n_programs = -(-(self.ends - begins) // _VISITS)
        cell = torch.arange(len(self.ends), device=self.ends.device).repeat_interleave(n_programs)
        number = torch.arange(len(cell), device=cell.device) - (n_programs.cumsum(dim=0) - n_programs)[cell]
        return cell, begins[cell] + _VISITS * number, self.ends[cell]


def joined(points: Columns, cells: Cells, queries: torch.Tensor, visited: torch.Tensor) -> torch.Tensor:
    """Values of queries, which are some of the points, and all members of their visited cells.

    Visits of one cell are made together, so that its members are loaded once for many of them. Numbers beyond
    the cells are of none, which has values of minus infinity.
    """
    flat, n_cells = visited.flatten(), len(cells.counts)
    ends = torch.bincount(flat, minlength=n_cells)[:n_cells].cumsum(dim=0)
    visits = Visits(flat.sort(stable=True).indices, ends)
    shape = *visited.shape, MOST_MEMBERS
    values = torch.full(shape, -torch.inf, dtype=torch.float32, device=flat.device)
    nothing = torch.empty(1, dtype=torch.int32, device=flat.device)
    _launch(points, cells, queries, visits, values, (nothing, nothing), visited.shape[1], keeps=True)
    return values


def list_members(
    points: Columns,
    cells: Cells,
    queries: torch.Tensor,
    visits: Visits,
    reached: torch.Tensor,
    lists: torch.Tensor,
    counts: torch.Tensor,
) -> None:
    """Adds members that reach the value of a query to its list, while there is room, and to its count."""
    _launch(points, cells, queries, visits, reached, (lists, counts), 1, keeps=False)


def _launch(
    points: Columns,
    cells: Cells,
    queries: torch.Tensor,
    visits: Visits,
    values: torch.Tensor,
    listed: tuple[torch.Tensor, torch.Tensor],
    n_visited: int,
    keeps: bool,
) -> None:
    cell, first, end = visits.programs()
    given = *points, cells.members, cells.counts, queries, visits.order, cell, first, end, values, *listed
    sizes = n_visited, points.rows.shape[1], listed[0].shape[-1]
    if len(cell):
        _join[(len(cell),)](*given, *sizes, KEEPS=keeps, VISITS=_VISITS, PART=_PART, num_warps=4)


def visits_by_cell(
    rows: torch.Tensor, ranking: Columns, least: torch.Tensor, passed_over: torch.Tensor
) -> Visits:
    """Visits of rows to cells whose values reach the least one, but for some cells of each row."""
    marks = Comparing(rows.device, has_bias=True).marked(rows, ranking, least.float())
    n_cells, n_tiles = len(ranking.bias), marks.shape[1] // 4
    counts = torch.zeros(n_cells, dtype=torch.int32, device=rows.device)
    starts = torch.zeros(n_cells, dtype=torch.int64, device=rows.device)
    size = triton.next_power_of_2(passed_over.shape[1])
    sizes = n_tiles, passed_over.shape[1]
    how = {"PASSED_OVER": size, "TILES": _TILES_COLLECTED, "num_warps": 1}
    _list_visits[(len(rows),)](marks, passed_over, counts, starts, counts, *sizes, FILL=False, **how)
    ends = counts.cumsum(dim=0)
    starts, order = ends - counts, torch.empty(int(ends[-1]), dtype=torch.int32, device=rows.device)
    counts.zero_()
    _list_visits[(len(rows),)](marks, passed_over, counts, starts, order, *sizes, FILL=True, **how)
    return Visits(order, ends)


@triton.jit
def _list_visits(
    marks,
    passed_over,
    counts,
    starts,
    visits,
    n_tiles,
    n_passed_over,
    PASSED_OVER: tl.constexpr,
    TILES: tl.constexpr,
    FILL: tl.constexpr,
):
    """Counts the rows that mark a cell or, with FILL, lists them from where those of the cell start."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, PASSED_OVER)
    not_these = tl.load(passed_over + row * n_passed_over + place, mask=place < n_passed_over, other=-1)
    for first in range(0, n_tiles, TILES):
        tile = first + tl.arange(0, TILES)
        at = marks + 4 * (row * n_tiles + tile)
        inside = tile < n_tiles
        word_0 = tl.load(at, mask=inside, other=0)
        word_1 = tl.load(at + 1, mask=inside, other=0)
        word_2 = tl.load(at + 2, mask=inside, other=0)
        word_3 = tl.load(at + 3, mask=inside, other=0)
        while n_left(word_0, word_1, word_2, word_3) > 0:
            is_marked = (word_0 | word_1 | word_2 | word_3) != 0
            column, word_0, word_1, word_2, word_3 = lowest_mark(tile, word_0, word_1, word_2, word_3)
            left_out = tl.max((column[:, None] == not_these[None, :]).to(tl.int32), axis=1) > 0
            counted = is_marked & (left_out == 0)
            rank = tl.atomic_add(counts + column, 1, mask=counted)
            if FILL:
                to = tl.load(starts + column, mask=counted, other=0) + rank
                tl.store(visits + to, row.to(tl.int32), mask=counted)


@triton.jit
def _join(
    rows,
    bias,
    members,
    counts,
    queries,
    visits,
    cells,
    firsts,
    ends,
    values,
    lists,
    n_listed,
    n_visited,
    n_features,
    n_places,
    KEEPS: tl.constexpr,
    VISITS: tl.constexpr,
    PART: tl.constexpr,
):
    """Products of some queries with the members of one cell; a visit is a query and a place in its row.

    All values are kept or, without that, the members listed whose value is at least that of the query.
    """
    cell = tl.load(cells + tl.program_id(0))
    place = tl.load(firsts + tl.program_id(0)) + tl.arange(0, VISITS)
    inside = place < tl.load(ends + tl.program_id(0))
    visit = tl.load(visits + place, mask=inside, other=0).to(tl.int64)
    query = visit // n_visited
    row = tl.load(queries + query)
    column = tl.arange(0, _MEMBERS)
    is_member = column < tl.load(counts + cell)
    point = tl.load(members + cell * _MEMBERS + column)
    products = tl.zeros([VISITS, _MEMBERS], tl.float32)
    for part in range(0, n_features, PART):
        feature = part + tl.arange(0, PART)
        on = feature < n_features
        x = tl.load(rows + row[:, None] * n_features + feature[None, :], mask=on[None, :], other=0.0)
        y = tl.load(rows + point[:, None] * n_features + feature[None, :], mask=on[None, :], other=0.0)
        products = tl.dot(x, y.T, products)
    found = products + tl.load(bias + point).to(tl.float32)[None, :]
    found = tl.where(is_member[None, :], found, float("-inf"))
    if KEEPS:
        tl.store(values + visit[:, None] * _MEMBERS + column[None, :], found, mask=inside[:, None])
    else:
        reached = tl.load(values + query, mask=inside, other=float("inf"))
        listed = inside[:, None] & is_member[None, :] & (found >= reached[:, None])
        bits = tl.where(listed, (1 << (column % 32))[None, :], 0)
        word, later = tl.split(tl.sum(tl.reshape(bits, [VISITS, 2, 32]), axis=2))
        n_new = n_bits(word) + n_bits(later)
        rank = tl.atomic_add(n_listed + query, n_new, mask=n_new > 0)
        while tl.max(((word | later) != 0).to(tl.int32), axis=0) > 0:
            is_first = word != 0
            current = tl.where(is_first, word, later)
            which = lowest_bit(current) + tl.where(is_first, 0, 32)
            put = (current != 0) & (rank < n_places)
            member = tl.load(members + cell * _MEMBERS + which, mask=put, other=0).to(tl.int32)
            tl.store(lists + query * n_places + rank, member, mask=put)
            rank += (current != 0).to(tl.int32)
            rest = current & (current - 1)
            word = tl.where(is_first, rest, word)
            later = tl.where(is_first, later, rest)
