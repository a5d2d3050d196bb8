"""Cells of points that lie together on a device, by k-means on a sample of them."""

from __future__ import annotations

from typing import NamedTuple

import torch

from diffpeaks.neighbors.gpu.devices import runs_kernels
from diffpeaks.neighbors.gpu.table import Columns

MOST_MEMBERS = 64  # of a cell: as many are compared at once
_MEMBERS = 48  # for each centre: few, so that a query is compared with few points beside its neighbours
_SAMPLED = 16  # points for each centre
_ROUNDS = 3  # with two, points visit more cells
_ALIGNED = 512  # columns: products are slow otherwise
_FIXED = 2.0**20  # steps of a coordinate: sums of whole numbers are the same in any order
_BLOCK_ROWS, _BLOCK_BYTES = 1 << 17, 1 << 30


class Cells(NamedTuple):
    """Which points lie together."""

    members: torch.Tensor  # of each cell, as points; places without one hold any point
    is_member: torch.Tensor  # which places hold one
    counts: torch.Tensor  # how many there are
    cell_of: torch.Tensor  # of each point
    means: Columns  # of the members: the value of a query there is its mean value with them
    deviations: torch.Tensor  # of the values of a query with the members, about

    @classmethod
    def of(cls, points: Columns) -> Cells:
        """Of points as products compare them."""
        centers = _centers(points.rows, max(1, len(points.rows) // _MEMBERS))
        members, counts, cell_of = _members(_nearest(points.rows, centers))
        is_member = torch.arange(MOST_MEMBERS, device=counts.device) < counts[:, None]
        means = _means(points.rows, cell_of, len(counts))

        def mean(values: torch.Tensor) -> torch.Tensor:
            return torch.where(is_member, values.double()[members], 0.0).sum(dim=1) / counts

        squares = torch.cat([block.double().square().sum(dim=1) for block in points.rows.split(_BLOCK_ROWS)])
        spread = (mean(squares) - means.square().sum(dim=1)).clamp(min=0).sqrt()
        # that of the values of a query of typical length, if members are spread alike in all directions
        deviations = spread * (squares.mean() / points.rows.shape[1]).sqrt()
        columns = _padded(means.to(points.rows.dtype), mean(points.bias))
        return cls(members, is_member, counts, cell_of, columns, deviations)

    def ranking(self, n_deviations: float) -> Columns:
        """In which a query's value with a cell is by so many deviations above the mean one."""
        above = torch.nn.functional.pad(n_deviations * self.deviations, (0, -len(self.counts) % _ALIGNED))
        return Columns(self.means.rows, (self.means.bias.double() + above).to(self.means.bias.dtype))


def _centers(rows: torch.Tensor, n_centers: int) -> torch.Tensor:
    """Of k-means on some of the rows, which begins at some of these."""
    generator = torch.Generator(rows.device).manual_seed(0)
    order = torch.randperm(len(rows), generator=generator, device=rows.device)
    sample = rows[order[: _SAMPLED * n_centers]]
    centers = sample[:n_centers]
    for _ in range(_ROUNDS):
        cell_of = _nearest(sample, centers)
        is_empty = torch.bincount(cell_of, minlength=n_centers) == 0
        means = _means(sample, cell_of, n_centers).to(rows.dtype)
        centers = torch.where(is_empty[:, None], centers, means)
    return centers


def _nearest(rows: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """The centre that is nearest to each row."""
    columns = _padded(centers, -centers.double().square().sum(dim=1) / 2)
    if runs_kernels(rows.device):
        from diffpeaks.neighbors.gpu.best import best_column  # which needs Triton

        return best_column(rows, columns)
    blocks = rows.split(max(1, _BLOCK_BYTES // (rows.itemsize * len(columns.bias))))
    return torch.cat([columns.values(block).argmax(dim=1) for block in blocks])


def _means(rows: torch.Tensor, cell_of: torch.Tensor, n_cells: int) -> torch.Tensor:
    """Of the rows of each cell; zero of none."""
    n_features = rows.shape[1]
    sums = torch.zeros((n_cells, n_features), dtype=torch.int64, device=rows.device)
    for block, cells in zip(rows.split(_BLOCK_ROWS), cell_of.split(_BLOCK_ROWS), strict=True):
        sums.index_add_(0, cells, (block.double() * _FIXED).long())
    counts = torch.bincount(cell_of, minlength=n_cells).clamp(min=1)
    return sums.double() / (_FIXED * counts[:, None])


def _members(nearest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Points by their centre; those of a centre with too many are dealt to several cells, evenly."""
    order = nearest.sort(stable=True).indices
    _, center_of, n_points = nearest.unique(return_inverse=True, return_counts=True)
    n_cells = -(-n_points // MOST_MEMBERS)
    size = -(-n_points // n_cells)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device)
    rank -= (n_points.cumsum(dim=0) - n_points)[center_of]
    cell_of = (n_cells.cumsum(dim=0) - n_cells)[center_of] + rank // size[center_of]
    counts = torch.bincount(cell_of)
    members = torch.zeros((len(counts), MOST_MEMBERS), dtype=torch.int64, device=order.device)
    members[cell_of, rank % size[center_of]] = torch.arange(len(order), device=order.device)
    return members, counts, cell_of


def _padded(rows: torch.Tensor, bias: torch.Tensor) -> Columns:
    """Columns beyond the rows are farther than all others."""
    n_more = -len(rows) % _ALIGNED
    bias = torch.nn.functional.pad(bias, (0, n_more), value=-torch.inf)
    return Columns(torch.nn.functional.pad(rows, (0, 0, 0, n_more)), bias.to(rows.dtype))
