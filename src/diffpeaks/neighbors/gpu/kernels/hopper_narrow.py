"""Rows of few features compared on Hopper cards.

Queries stay in registers, and values of one tile are looked at while the next one is multiplied.
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


@gluon.jit(do_not_specialize=["n_tiles"])  # one kernel for all numbers of tiles
def compare_narrow(
    query_tiles,
    point_tiles,
    bias,
    least,
    made,
    turned,
    n_queries,
    n_tiles,
    HAS_BIAS: gl.constexpr,
    MAKES: gl.constexpr,
    FEATURES: gl.constexpr,
    STAGES: gl.constexpr,
    REGISTERS: gl.constexpr,
    num_warps: gl.constexpr,
):
    """As `compare.compare`, with all features in one part."""
    tiles = gl.allocate_shared_memory(point_tiles.dtype, [STAGES, COLUMNS, FEATURES], point_tiles.layout)
    full, empty = made_barriers(STAGES)
    begun = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(begun.index(0), count=1)
    mbarrier.init(begun.index(1), count=2)
    fence_async_shared()
    # the queries come first, through the place of the first tile
    mbarrier.expect(begun.index(0), query_tiles.block_type.nbytes)
    load_tile(query_tiles, [gl.program_id(0) * ROWS, 0], begun.index(0), tiles.index(0))
    mbarrier.wait(begun.index(0), 0)
    barriers = (full, empty, begun.index(1))
    compared = (bias, least, made, turned, n_queries, n_tiles)
    gl.warp_specialize(
        [
            (_compare_tiles, (0, tiles, barriers, compared, HAS_BIAS, MAKES, STAGES)),
            (_compare_tiles, (1, tiles, barriers, compared, HAS_BIAS, MAKES, STAGES)),
            (_load_tiles, (point_tiles, tiles, barriers, n_tiles, STAGES)),
        ],
        [4, 1],
        [REGISTERS, LOADING_REGISTERS],
    )


@gluon.jit
def _load_tiles(point_tiles, tiles, barriers, n_tiles, STAGES: gl.constexpr):
    """Tile by tile into the next place that both groups have done with."""
    full, empty, read = barriers
    mbarrier.wait(read, 0)
    place = 0
    phase = 0
    begin, end = share_of_program(n_tiles)
    for tile in range(begin, end):
        mbarrier.wait(empty.index(place), phase ^ 1)
        mbarrier.expect(full.index(place), point_tiles.block_type.nbytes)
        load_tile(point_tiles, [tile * COLUMNS, 0], full.index(place), tiles.index(place))
        place, phase = next_place(place, phase, STAGES)


@gluon.jit
def _compare_tiles(
    GROUP: gl.constexpr,
    tiles,
    barriers,
    compared,
    HAS_BIAS: gl.constexpr,
    MAKES: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Half of the queries with every tile that is loaded; the next product runs while values are read."""
    full, empty, read = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, COLUMNS, 16]
    )
    rows = rows_of_group(GROUP, layout)
    own = tiles.index(0).slice(GROUP * OWN_ROWS, OWN_ROWS)
    queries = own.load(gl.DotOperandLayout(operand_index=0, parent=layout, k_width=2))
    wait_for_all()
    fence_async_shared()
    mbarrier.arrive(read, count=1)
    limit = least_of_rows(rows, compared[1], compared[4], MAKES)
    nothing = gl.zeros([OWN_ROWS, COLUMNS], gl.float32, layout=layout)
    mbarrier.wait(full.index(0), 0)
    first = warpgroup_mma(queries, tiles.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    products = warpgroup_mma_wait(0, deps=[first])
    place = 0
    phase = 0
    begin, end = share_of_program(compared[5])
    for tile in range(begin, end - 1):
        done = place
        place, phase = next_place(place, phase, STAGES)
        mbarrier.wait(full.index(place), phase)
        after = tiles.index(place).permute((1, 0))
        running = warpgroup_mma(queries, after, nothing, use_acc=False, is_async=True)
        wait_for_all()
        mbarrier.arrive(empty.index(done), count=1)
        put_made(products, rows, tile, limit, compared, HAS_BIAS, MAKES, layout, 1)
        products = warpgroup_mma_wait(0, deps=[running])
    put_made(products, rows, end - 1, limit, compared, HAS_BIAS, MAKES, layout, 1)
