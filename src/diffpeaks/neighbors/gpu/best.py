"""The best columns of rows by their values, found in kernels of our own that store few of these."""

from __future__ import annotations

import torch

from diffpeaks.neighbors.gpu.comparing import Comparing
from diffpeaks.neighbors.gpu.kernels.compare import COLUMNS
from diffpeaks.neighbors.gpu.marks import collect, values_of_ranks
from diffpeaks.neighbors.gpu.table import Columns

_BEST_BYTES = 1 << 30  # of the best of groups of columns, and of copies of columns, at once


def best_marked(rows: torch.Tensor, columns: Columns, n_best: int, n_columns: int) -> torch.Tensor:
    """The first of the columns with the largest values of each row: at least so many, and twice that at most.

    Where they are fewer than that, the number of columns stands behind them.
    """
    comparing, found = Comparing(rows.device, has_bias=True), []
    for some in rows.split(max(1, 8 * _BEST_BYTES // len(columns.bias))):
        # the best of groups: as many columns are at least as good as the last of so many of them
        least = values_of_ranks(comparing.best(some, columns), n_best - 1, n_best - 1)[:, 1].contiguous()
        lists = torch.full((len(some), 2 * n_best), n_columns, dtype=torch.int32, device=rows.device)
        collect(comparing.marked(some, columns, least), lists, torch.zeros_like(lists[:, 0]), n_columns)
        found.append(lists)
    return torch.cat(found)


def best_column(rows: torch.Tensor, columns: Columns) -> torch.Tensor:
    """The column with the largest value of each row."""
    comparing, found = Comparing(rows.device, has_bias=True), []
    members = torch.arange(COLUMNS, device=rows.device).view(-1, 4, 2).transpose(0, 1).reshape(4, -1)
    each = max(len(columns.bias) // 8, members.shape[1] * rows.shape[1] * rows.itemsize)
    for some in rows.split(max(1, _BEST_BYTES // each)):
        group = comparing.best(some, columns).argmax(dim=1)
        members_of = COLUMNS * (group // 4)[:, None] + members[group % 4]
        products = (columns.rows[members_of] @ some[:, :, None])[..., 0].float()
        at = (products + columns.bias[members_of].float()).argmax(dim=1, keepdim=True)
        found.append(members_of.gather(1, at)[:, 0])
    return torch.cat(found)
