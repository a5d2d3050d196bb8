"""The comparing kernels for Hopper cards: one warp loads tiles, two groups of warps multiply them."""

from __future__ import annotations

import triton
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from diffpeaks.neighbors.gpu.kernels.hopper_narrow import compare_narrow
from diffpeaks.neighbors.gpu.kernels.hopper_wide import compare_wide

MOST_IN_REGISTERS = 256  # features of a query
_STAGES, _WIDE_STAGES = 3, 4  # tiles, or parts of tiles, in shared memory
_REGISTERS = 232  # of a thread that compares


def launch(grid, queries, points, compared, has_bias, makes):
    """Compares the rows of `queries` with those of `points`."""
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    if queries.shape[1] <= MOST_IN_REGISTERS:
        features = max(64, triton.next_power_of_2(queries.shape[1]))
        tiles = (TensorDescriptor.from_tensor(side, [128, features], layout) for side in (queries, points))
        compare_narrow[grid](*tiles, *compared, has_bias, makes, features, _STAGES, _REGISTERS, num_warps=4)
        return
    sides = ((queries, 128), (points, 256))
    tiles = (TensorDescriptor.from_tensor(side, [n_rows, 64], layout) for side, n_rows in sides)
    n_parts = triton.cdiv(queries.shape[1], 64)
    compare_wide[grid](*tiles, *compared, n_parts, has_bias, makes, _WIDE_STAGES, _REGISTERS, num_warps=4)
