"""Rows of many features compared on Hopper cards.

Features come in parts, and the two groups of warps look at their values in turn.
"""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from diffpeaks.neighbors.gpu.kernels.hopper_tiles import (
    COLUMNS,
    LOADING_REGISTERS,
    OWN_ROWS,
    ROWS,
    least_of_rows,
    load_tile,
    made_barriers,
    next_place,
    put_made,
    rows_of_group,
    share_of_program,
    wait_for_all,
)

_PART = gl.constexpr(64)  # features at a time
_WIDE_TILES = gl.constexpr(2)  # at once


@gluon.jit(do_not_specialize=["n_tiles", "n_parts"])  # one kernel for all of these numbers
def compare_wide(
    query_tiles,
    point_tiles,
    bias,
    least,
    made,
    turned,
    n_queries,
    n_tiles,
    n_parts,
    HAS_BIAS: gl.constexpr,
    MAKES: gl.constexpr,
    STAGES: gl.constexpr,
    REGISTERS: gl.constexpr,
    num_warps: gl.constexpr,
):
    """As `compare.compare`."""
    own = gl.allocate_shared_memory(query_tiles.dtype, [STAGES, ROWS, _PART], query_tiles.layout)
    others = gl.allocate_shared_memory(
        point_tiles.dtype, [STAGES, _WIDE_TILES * COLUMNS, _PART], point_tiles.layout
    )
    barriers = made_barriers(STAGES)
    fence_async_shared()
    compared = (bias, least, made, turned, n_queries, n_tiles)
    gl.warp_specialize(
        [
            (_compare_parts, (0, own, others, barriers, compared, n_parts, HAS_BIAS, MAKES, STAGES)),
            (_compare_parts, (1, own, others, barriers, compared, n_parts, HAS_BIAS, MAKES, STAGES)),
            (_load_parts, (query_tiles, point_tiles, own, others, barriers, n_tiles, n_parts, STAGES)),
        ],
        [4, 1],
        [REGISTERS, LOADING_REGISTERS],
    )


@gluon.jit
def _before(place, STAGES: gl.constexpr):
    return gl.where(place == 0, STAGES - 1, place - 1)


@gluon.jit
def _load_parts(query_tiles, point_tiles, own, others, barriers, n_tiles, n_parts, STAGES: gl.constexpr):
    """As `_load_tiles`, parts of queries and of points together."""
    full, empty = barriers
    place = 0
    phase = 0
    begin, end = share_of_program(n_tiles // _WIDE_TILES)
    for tile in range(begin, end):
        for part in range(n_parts):
            mbarrier.wait(empty.index(place), phase ^ 1)
            is_full = full.index(place)
            mbarrier.expect(is_full, query_tiles.block_type.nbytes + point_tiles.block_type.nbytes)
            load_tile(query_tiles, [gl.program_id(0) * ROWS, part * _PART], is_full, own.index(place))
            at = [tile * _WIDE_TILES * COLUMNS, part * _PART]
            load_tile(point_tiles, at, is_full, others.index(place))
            place, phase = next_place(place, phase, STAGES)


@gluon.jit
def _compare_parts(
    GROUP: gl.constexpr,
    own,
    others,
    barriers,
    compared,
    n_parts,
    HAS_BIAS: gl.constexpr,
    MAKES: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Half of the queries with every pair of tiles, part by part."""
    full, empty = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, _WIDE_TILES * COLUMNS, 16]
    )
    rows = rows_of_group(GROUP, layout)
    limit = least_of_rows(rows, compared[1], compared[4], MAKES)
    place = 0
    phase = 0
    begin, end = share_of_program(compared[5] // _WIDE_TILES)
    for tile in range(begin, end):
        products = gl.zeros([OWN_ROWS, _WIDE_TILES * COLUMNS], gl.float32, layout=layout)
        for part in range(n_parts):
            mbarrier.wait(full.index(place), phase)
            queries = own.index(place).slice(GROUP * OWN_ROWS, OWN_ROWS)
            points = others.index(place).permute((1, 0))
            products = warpgroup_mma(queries, points, products, use_acc=part > 0, is_async=True)
            products = warpgroup_mma_wait(1, deps=[products])
            if part > 0:
                wait_for_all()
                mbarrier.arrive(empty.index(_before(place, STAGES)), count=1)
            place, phase = next_place(place, phase, STAGES)
        products = warpgroup_mma_wait(0, deps=[products])
        wait_for_all()
        mbarrier.arrive(empty.index(_before(place, STAGES)), count=1)
        put_made(products, rows, tile * _WIDE_TILES, limit, compared, HAS_BIAS, MAKES, layout, _WIDE_TILES)
