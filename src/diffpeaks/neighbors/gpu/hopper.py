"""The marking kernel for Hopper cards: one warp loads tiles of points, two groups of warps compare with them.

The queries stay in registers, and the marks of one tile are made while the next one is multiplied.
"""

from __future__ import annotations

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

ROWS = 128  # queries of a program
MOST_FEATURES = 256  # that registers hold of a query
STAGES = 3  # tiles of points in shared memory
REGISTERS = 232  # of a thread that compares
# by their newer names or their older ones: a tile from global to shared memory, and a wait of all threads
_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
_wait_for_all = gl.barrier if hasattr(gl, "barrier") else gl.thread_barrier
_ROWS, _COLUMNS = gl.constexpr(ROWS), gl.constexpr(128)
_OWN_ROWS = gl.constexpr(64)  # of a group of warps
_LOADING_REGISTERS = gl.constexpr(24)


def launch(grid, queries, points, to_compare, has_bias):
    """Compares the rows of `queries` with those of `points`."""
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    features = max(64, triton.next_power_of_2(queries.shape[1]))
    tiles = (TensorDescriptor.from_tensor(side, [ROWS, features], layout) for side in (queries, points))
    _mark[grid](*tiles, *to_compare, has_bias, features, STAGES, REGISTERS, num_warps=4)


@gluon.jit
def _mark(
    query_tiles,
    point_tiles,
    bias,
    least,
    marks,
    n_queries,
    n_tiles,
    HAS_BIAS: gl.constexpr,
    FEATURES: gl.constexpr,
    STAGES: gl.constexpr,
    REGISTERS: gl.constexpr,
    num_warps: gl.constexpr,
):
    """As `kernels.mark`, with all features in one part."""
    tiles = gl.allocate_shared_memory(point_tiles.dtype, [STAGES, _COLUMNS, FEATURES], point_tiles.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    begun = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    mbarrier.init(begun.index(0), count=1)
    mbarrier.init(begun.index(1), count=2)
    fence_async_shared()
    # the queries come first, through the place of the first tile
    mbarrier.expect(begun.index(0), query_tiles.block_type.nbytes)
    _load(query_tiles, [gl.program_id(0) * _ROWS, 0], begun.index(0), tiles.index(0))
    mbarrier.wait(begun.index(0), 0)
    read = begun.index(1)
    barriers = (full, empty, read)
    compared = (bias, least, marks, n_queries, n_tiles)
    gl.warp_specialize(
        [
            (_compare, (0, tiles, barriers, compared, HAS_BIAS, STAGES)),
            (_compare, (1, tiles, barriers, compared, HAS_BIAS, STAGES)),
            (_load_tiles, (point_tiles, tiles, barriers, n_tiles, STAGES)),
        ],
        [4, 1],
        [REGISTERS, _LOADING_REGISTERS],
    )


@gluon.jit
def _load_tiles(point_tiles, tiles, barriers, n_tiles, STAGES: gl.constexpr):
    """Every so many-th tile into the next place that both groups have done with."""
    full, empty, read = barriers
    mbarrier.wait(read, 0)
    place = 0
    phase = 0
    for tile in range(gl.program_id(1), n_tiles, gl.num_programs(1)):
        mbarrier.wait(empty.index(place), phase ^ 1)
        mbarrier.expect(full.index(place), point_tiles.block_type.nbytes)
        _load(point_tiles, [tile * _COLUMNS, 0], full.index(place), tiles.index(place))
        phase = gl.where(place == STAGES - 1, phase ^ 1, phase)
        place = gl.where(place == STAGES - 1, 0, place + 1)


@gluon.jit
def _compare(GROUP: gl.constexpr, tiles, barriers, compared, HAS_BIAS: gl.constexpr, STAGES: gl.constexpr):
    """Half of the queries with every tile that is loaded; the next product runs while marks are made."""
    full, empty, read = barriers
    bias, least, marks, n_queries, n_tiles = compared
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, _COLUMNS, 16]
    )
    first_row = gl.program_id(0) * _ROWS + GROUP * _OWN_ROWS
    rows = first_row + gl.arange(0, _OWN_ROWS, layout=gl.SliceLayout(1, layout))
    own = tiles.index(0).slice(GROUP * _OWN_ROWS, _OWN_ROWS)
    queries = own.load(gl.DotOperandLayout(operand_index=0, parent=layout, k_width=2))
    _wait_for_all()
    fence_async_shared()
    mbarrier.arrive(read, count=1)
    limit = gl.load(least + rows, mask=rows < n_queries, other=float("inf"))
    nothing = gl.zeros([_OWN_ROWS, _COLUMNS], gl.float32, layout=layout)
    mbarrier.wait(full.index(0), 0)
    first = warpgroup_mma(queries, tiles.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    products = warpgroup_mma_wait(0, deps=[first])
    place = 0
    phase = 0
    step = gl.num_programs(1)
    for tile in range(gl.program_id(1), n_tiles - step, step):
        done = place
        phase = gl.where(place == STAGES - 1, phase ^ 1, phase)
        place = gl.where(place == STAGES - 1, 0, place + 1)
        mbarrier.wait(full.index(place), phase)
        after = tiles.index(place).permute((1, 0))
        running = warpgroup_mma(queries, after, nothing, use_acc=False, is_async=True)
        _wait_for_all()
        mbarrier.arrive(empty.index(done), count=1)
        _put(products, limit, bias, marks, rows, tile, n_queries, n_tiles, HAS_BIAS, layout)
        products = warpgroup_mma_wait(0, deps=[running])
    last = gl.program_id(1) + (n_tiles - 1 - gl.program_id(1)) // step * step
    _put(products, limit, bias, marks, rows, last, n_queries, n_tiles, HAS_BIAS, layout)


@gluon.jit
def _put(
    products, limit, bias, marks, rows, tile, n_queries, n_tiles, HAS_BIAS: gl.constexpr, layout: gl.constexpr
):
    """The marks of a tile, in words whose bits are all in one thread."""
    column = gl.arange(0, _COLUMNS, layout=gl.SliceLayout(0, layout))
    values = products
    if HAS_BIAS:
        values = products + gl.expand_dims(gl.load(bias + tile * _COLUMNS + column), 0)
    weight = 1 << (2 * (column // 8) + column % 2)
    bits = gl.where(values >= gl.expand_dims(limit, 1), gl.expand_dims(weight, 0), 0)
    apart = gl.permute(gl.reshape(bits, [_OWN_ROWS, 16, 4, 2]), (0, 2, 1, 3))
    words = gl.sum(gl.reshape(apart, [_OWN_ROWS, 4, 32]), axis=2)
    rows = gl.convert_layout(rows, gl.SliceLayout(1, words.type.layout))
    word = gl.arange(0, 4, layout=gl.SliceLayout(0, words.type.layout))
    at = gl.expand_dims(rows.to(gl.int64) * (4 * n_tiles) + 4 * tile, 1) + gl.expand_dims(word, 0)
    gl.store(marks + at, words, mask=gl.expand_dims(rows < n_queries, 1))
