"""Queries compared with the members of the cells that they visit, by a kernel of our own in Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS, Cells
from diffpeaks.neighbors.gpu.table import Columns

_VISITS, _PART = 64, 64  # of a program, and features at a time
_MEMBERS = tl.constexpr(MOST_MEMBERS)


def joined(points: Columns, cells: Cells, queries: torch.Tensor, visited: torch.Tensor) -> torch.Tensor:
    """Values of queries, which are some of the points, and all members of their visited cells.

    Visits of one cell are made together, so that its members are loaded once for many of them.
    """
    flat, n_cells = visited.flatten(), len(cells.counts)
    order = flat.sort(stable=True).indices
    n_visits = torch.bincount(flat, minlength=n_cells)
    n_programs = -(-n_visits // _VISITS)
    cell = torch.arange(n_cells, device=flat.device).repeat_interleave(n_programs)
    number = torch.arange(len(cell), device=flat.device) - (n_programs.cumsum(dim=0) - n_programs)[cell]
    ends = n_visits.cumsum(dim=0)
    first = (ends - n_visits)[cell] + _VISITS * number
    shape = *visited.shape, MOST_MEMBERS
    values = torch.empty(shape, dtype=torch.float32, device=flat.device)
    given = *points, cells.members, cells.counts, queries, order, cell, first, ends[cell], values
    _join[(len(cell),)](
        *given, visited.shape[1], points.rows.shape[1], VISITS=_VISITS, PART=_PART, num_warps=8
    )
    return values


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
    n_visited,
    n_features,
    VISITS: tl.constexpr,
    PART: tl.constexpr,
):
    """Products of some queries with the members of one cell; a visit is a query and a place in its row."""
    cell = tl.load(cells + tl.program_id(0))
    place = tl.load(firsts + tl.program_id(0)) + tl.arange(0, VISITS)
    inside = place < tl.load(ends + tl.program_id(0))
    visit = tl.load(visits + place, mask=inside, other=0)
    query = tl.load(queries + visit // n_visited)
    column = tl.arange(0, _MEMBERS)
    is_member = column < tl.load(counts + cell)
    point = tl.load(members + cell * _MEMBERS + column)
    products = tl.zeros([VISITS, _MEMBERS], tl.float32)
    for part in range(0, n_features, PART):
        feature = part + tl.arange(0, PART)
        on = feature < n_features
        x = tl.load(rows + query[:, None] * n_features + feature[None, :], mask=on[None, :], other=0.0)
        y = tl.load(rows + point[:, None] * n_features + feature[None, :], mask=on[None, :], other=0.0)
        products = tl.dot(x, y.T, products)
    found = products + tl.load(bias + point).to(tl.float32)[None, :]
    found = tl.where(is_member[None, :], found, float("-inf"))
    tl.store(values + visit[:, None] * _MEMBERS + column[None, :], found, mask=inside[:, None])
