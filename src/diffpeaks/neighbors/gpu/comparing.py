"""Rows compared with columns of a table, by the kernel of our own that suits the card."""

from __future__ import annotations

from typing import Any

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from diffpeaks.neighbors.gpu.kernels import compare
from diffpeaks.neighbors.gpu.table import Columns

try:
    from diffpeaks.neighbors.gpu.kernels import hopper

    _HAS_HOPPER = True
except ImportError:  # of a part of Triton that is still an experiment
    _HAS_HOPPER = False

_ROWS, _PART = 128, 64
_TILES = 2  # of columns, with which these rows are compared at once
BLOCK = _TILES * compare.COLUMNS  # columns come in multiples of it


class Comparing:
    """By products of half floats; values have a bias, unless all columns have the same."""

    def __init__(self, device: torch.device, has_bias: bool) -> None:
        self._has_bias, self._card = has_bias, torch.cuda.get_device_properties(device)
        self._suits_hopper = _HAS_HOPPER and self._card.major == 9

    def best(self, rows: torch.Tensor, columns: Columns) -> torch.Tensor:
        """The largest value of each row in groups of columns."""
        best = fours(rows, columns, torch.float32)
        self._compare(rows, columns, best, best, best, compare.BEST)
        return best

    def marked(self, rows: torch.Tensor, columns: Columns, least: torch.Tensor) -> torch.Tensor:
        """Which values reach the least of their row."""
        marks = fours(rows, columns)
        self._compare(rows, columns, least, marks, marks, compare.MARKS)
        return marks

    def marked_pairs(
        self, rows: torch.Tensor, columns: Columns, least: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The same of rows that are the first columns, and which reach the least of their column."""
        marks, turned = fours(rows, columns), fours(rows, columns)
        self._compare(rows, columns, least, marks, turned, compare.PAIRS)
        return marks, turned

    def _compare(
        self,
        rows: torch.Tensor,
        columns: Columns,
        least: torch.Tensor,
        made: torch.Tensor,
        turned: torch.Tensor,
        makes: int,
    ) -> None:
        n_tiles = len(columns.bias) // compare.COLUMNS
        compared = columns.bias, least, made, turned, len(rows), n_tiles
        n_blocks = triton.cdiv(len(rows), _ROWS)
        if self._suits_hopper:
            at_once = 1 if rows.shape[1] <= hopper.MOST_IN_REGISTERS else _TILES
            grid = grid_of(self._card, n_blocks, n_tiles // at_once)
            hopper.launch(grid, rows, columns.rows, compared, self._has_bias, makes)
            return
        sides = ((rows, _ROWS), (columns.rows, BLOCK))
        tiles = (TensorDescriptor.from_tensor(side, [n_rows, _PART]) for side, n_rows in sides)
        compare.compare[grid_of(self._card, n_blocks, n_tiles // _TILES)](
            *(*tiles, *compared, triton.cdiv(rows.shape[1], _PART), self._has_bias, makes),
            ROWS=_ROWS,
            TILES=_TILES,
            PART=_PART,
            num_warps=8,
        )


def fours(rows: torch.Tensor, columns: Columns, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    """Room for what is made of rows and columns: four words or values for each row and tile."""
    n_tiles = len(columns.bias) // compare.COLUMNS
    return torch.empty((len(rows), 4 * n_tiles), dtype=dtype, device=rows.device)


def grid_of(card: Any, n_blocks: int, n_tiles: int, n_at_once: int = 1) -> tuple[int, int]:
    """Programs for blocks of rows and shares of tiles, so many at once on each processor of a card."""
    n_at_once *= card.multi_processor_count
    idle = {shares: -(n_blocks * shares) % n_at_once / (n_blocks * shares) for shares in range(1, 17)}
    # busy to the end, in as few shares as that takes
    return n_blocks, min(n_tiles, min(idle, key=lambda shares: (round(idle[shares], 2), shares)))
