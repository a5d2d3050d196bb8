"""The comparing kernels for Hopper cards: one warp loads tiles, two groups of warps multiply them.

Up to `MOST_IN_REGISTERS` features, queries stay in registers, and values of one tile are looked at while the
next one is multiplied. Beyond, features come in parts, and the groups look at their values in turn.
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

from diffpeaks.neighbors.gpu.kernels import BEST, PAIRS

MOST_IN_REGISTERS = 256
STAGES, WIDE_STAGES = 3, 4  # tiles, or parts of tiles, in shared memory
REGISTERS = 232  # of a thread that compares
# by their newer names or their older ones: a tile from global to shared memory, and a wait of all threads
_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
_wait_for_all = gl.barrier if hasattr(gl, "barrier") else gl.thread_barrier
_ROWS, _COLUMNS, _PART = gl.constexpr(128), gl.constexpr(128), gl.constexpr(64)
_OWN_ROWS = gl.constexpr(64)  # of a group of warps
_WIDE_TILES = gl.constexpr(2)  # at once
_LOADING_REGISTERS = gl.constexpr(24)
_BEST, _PAIRS = gl.constexpr(BEST), gl.constexpr(PAIRS)


def launch(grid, queries, points, compared, has_bias, makes):
    """Compares the rows of `queries` with those of `points`."""
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    if queries.shape[1] <= MOST_IN_REGISTERS:
        features = max(64, triton.next_power_of_2(queries.shape[1]))
        tiles = (TensorDescriptor.from_tensor(side, [128, features], layout) for side in (queries, points))
        _compare_narrow[grid](*tiles, *compared, has_bias, makes, features, STAGES, REGISTERS, num_warps=4)
        return
    sides = ((queries, 128), (points, 256))
    tiles = (TensorDescriptor.from_tensor(side, [n_rows, 64], layout) for side, n_rows in sides)
    n_parts = triton.cdiv(queries.shape[1], 64)
    _compare_wide[grid](*tiles, *compared, n_parts, has_bias, makes, WIDE_STAGES, REGISTERS, num_warps=4)


@gluon.jit
def _compare_narrow(
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
    """As `kernels.compare`, with all features in one part."""
    tiles = gl.allocate_shared_memory(point_tiles.dtype, [STAGES, _COLUMNS, FEATURES], point_tiles.layout)
    full, empty = _barriers(STAGES)
    begun = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(begun.index(0), count=1)
    mbarrier.init(begun.index(1), count=2)
    fence_async_shared()
    # the queries come first, through the place of the first tile
    mbarrier.expect(begun.index(0), query_tiles.block_type.nbytes)
    _load(query_tiles, [gl.program_id(0) * _ROWS, 0], begun.index(0), tiles.index(0))
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
        [REGISTERS, _LOADING_REGISTERS],
    )


@gluon.jit
def _compare_wide(
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
    """As `kernels.compare`."""
    own = gl.allocate_shared_memory(query_tiles.dtype, [STAGES, _ROWS, _PART], query_tiles.layout)
    others = gl.allocate_shared_memory(
        point_tiles.dtype, [STAGES, _WIDE_TILES * _COLUMNS, _PART], point_tiles.layout
    )
    barriers = _barriers(STAGES)
    fence_async_shared()
    compared = (bias, least, made, turned, n_queries, n_tiles)
    gl.warp_specialize(
        [
            (_compare_parts, (0, own, others, barriers, compared, n_parts, HAS_BIAS, MAKES, STAGES)),
            (_compare_parts, (1, own, others, barriers, compared, n_parts, HAS_BIAS, MAKES, STAGES)),
            (_load_parts, (query_tiles, point_tiles, own, others, barriers, n_tiles, n_parts, STAGES)),
        ],
        [4, 1],
        [REGISTERS, _LOADING_REGISTERS],
    )


@gluon.jit
def _barriers(STAGES: gl.constexpr):
    """Of each place in shared memory: it was filled, and both groups have done with it."""
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    return full, empty


@gluon.jit
def _share(n_tiles):
    """The tiles of a program: one after another, so that what it writes lies together."""
    which, n_shares = gl.program_id(1), gl.num_programs(1)
    return n_tiles * which // n_shares, n_tiles * (which + 1) // n_shares


@gluon.jit
def _next(place, phase, STAGES: gl.constexpr):
    """The next place in shared memory, and how often it was filled, even or odd."""
    is_last = place == STAGES - 1
    return gl.where(is_last, 0, place + 1), gl.where(is_last, phase ^ 1, phase)


@gluon.jit
def _before(place, STAGES: gl.constexpr):
    return gl.where(place == 0, STAGES - 1, place - 1)


@gluon.jit
def _load_tiles(point_tiles, tiles, barriers, n_tiles, STAGES: gl.constexpr):
    """Tile by tile into the next place that both groups have done with."""
    full, empty, read = barriers
    mbarrier.wait(read, 0)
    place = 0
    phase = 0
    begin, end = _share(n_tiles)
    for tile in range(begin, end):
        mbarrier.wait(empty.index(place), phase ^ 1)
        mbarrier.expect(full.index(place), point_tiles.block_type.nbytes)
        _load(point_tiles, [tile * _COLUMNS, 0], full.index(place), tiles.index(place))
        place, phase = _next(place, phase, STAGES)


@gluon.jit
def _load_parts(query_tiles, point_tiles, own, others, barriers, n_tiles, n_parts, STAGES: gl.constexpr):
    """As `_load_tiles`, parts of queries and of points together."""
    full, empty = barriers
    place = 0
    phase = 0
    begin, end = _share(n_tiles // _WIDE_TILES)
    for tile in range(begin, end):
        for part in range(n_parts):
            mbarrier.wait(empty.index(place), phase ^ 1)
            is_full = full.index(place)
            mbarrier.expect(is_full, query_tiles.block_type.nbytes + point_tiles.block_type.nbytes)
            _load(query_tiles, [gl.program_id(0) * _ROWS, part * _PART], is_full, own.index(place))
            at = [tile * _WIDE_TILES * _COLUMNS, part * _PART]
            _load(point_tiles, at, is_full, others.index(place))
            place, phase = _next(place, phase, STAGES)


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
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, _COLUMNS, 16]
    )
    rows = _rows_of(GROUP, layout)
    own = tiles.index(0).slice(GROUP * _OWN_ROWS, _OWN_ROWS)
    queries = own.load(gl.DotOperandLayout(operand_index=0, parent=layout, k_width=2))
    _wait_for_all()
    fence_async_shared()
    mbarrier.arrive(read, count=1)
    limit = _limit(rows, compared[1], compared[4], MAKES)
    nothing = gl.zeros([_OWN_ROWS, _COLUMNS], gl.float32, layout=layout)
    mbarrier.wait(full.index(0), 0)
    first = warpgroup_mma(queries, tiles.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    products = warpgroup_mma_wait(0, deps=[first])
    place = 0
    phase = 0
    begin, end = _share(compared[5])
    for tile in range(begin, end - 1):
        done = place
        place, phase = _next(place, phase, STAGES)
        mbarrier.wait(full.index(place), phase)
        after = tiles.index(place).permute((1, 0))
        running = warpgroup_mma(queries, after, nothing, use_acc=False, is_async=True)
        _wait_for_all()
        mbarrier.arrive(empty.index(done), count=1)
        _put(products, rows, tile, limit, compared, HAS_BIAS, MAKES, layout, 1)
        products = warpgroup_mma_wait(0, deps=[running])
    _put(products, rows, end - 1, limit, compared, HAS_BIAS, MAKES, layout, 1)


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
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, _WIDE_TILES * _COLUMNS, 16]
    )
    rows = _rows_of(GROUP, layout)
    limit = _limit(rows, compared[1], compared[4], MAKES)
    place = 0
    phase = 0
    begin, end = _share(compared[5] // _WIDE_TILES)
    for tile in range(begin, end):
        products = gl.zeros([_OWN_ROWS, _WIDE_TILES * _COLUMNS], gl.float32, layout=layout)
        for part in range(n_parts):
            mbarrier.wait(full.index(place), phase)
            queries = own.index(place).slice(GROUP * _OWN_ROWS, _OWN_ROWS)
            points = others.index(place).permute((1, 0))
            products = warpgroup_mma(queries, points, products, use_acc=part > 0, is_async=True)
            products = warpgroup_mma_wait(1, deps=[products])
            if part > 0:
                _wait_for_all()
                mbarrier.arrive(empty.index(_before(place, STAGES)), count=1)
            place, phase = _next(place, phase, STAGES)
        products = warpgroup_mma_wait(0, deps=[products])
        _wait_for_all()
        mbarrier.arrive(empty.index(_before(place, STAGES)), count=1)
        _put(products, rows, tile * _WIDE_TILES, limit, compared, HAS_BIAS, MAKES, layout, _WIDE_TILES)


@gluon.jit
def _rows_of(GROUP: gl.constexpr, layout: gl.constexpr):
    first_row = gl.program_id(0) * _ROWS + GROUP * _OWN_ROWS
    return first_row + gl.arange(0, _OWN_ROWS, layout=gl.SliceLayout(1, layout))


@gluon.jit
def _limit(rows, least, n_queries, MAKES: gl.constexpr):
    """The least value that is marked for each query."""
    limit = gl.full(rows.shape, 0.0, gl.float32, layout=rows.type.layout)
    if MAKES != _BEST:
        limit = gl.load(least + rows, mask=rows < n_queries, other=float("inf"))
    return limit


@gluon.jit
def _put(
    products,
    rows,
    tile,
    limit,
    compared,
    HAS_BIAS: gl.constexpr,
    MAKES: gl.constexpr,
    layout: gl.constexpr,
    TILES: gl.constexpr,
):
    """What is made of the products with some tiles."""
    bias, least, made, turned, n_queries, n_tiles = compared
    columns = gl.arange(0, TILES * _COLUMNS, layout=gl.SliceLayout(0, layout))
    at = tile * _COLUMNS + columns
    values = products
    if HAS_BIAS:
        values = products + gl.expand_dims(gl.load(bias + at), 0)
    if MAKES == _BEST:
        _put_fours(gl.max(_by_thread(values, TILES), axis=2), made, rows, tile, n_queries, n_tiles, TILES)
    else:
        marks = _words_of(values >= gl.expand_dims(limit, 1), columns, TILES)
        _put_fours(marks, made, rows, tile, n_queries, n_tiles, TILES)
    if MAKES == _PAIRS:
        values = products
        if HAS_BIAS:
            biases = gl.load(bias + rows, mask=rows < n_queries, other=0.0)
            values = products + gl.expand_dims(biases, 1)
        marks = _words_of(values >= gl.expand_dims(gl.load(least + at), 0), columns, TILES)
        _put_fours(marks, turned, rows, tile, n_queries, n_tiles, TILES)


@gluon.jit
def _words_of(passed, columns, TILES: gl.constexpr):
    """Marks in words whose bits are all in one thread."""
    columns = columns % _COLUMNS
    weight = 1 << (2 * (columns // 8) + columns % 2)
    return gl.sum(_by_thread(gl.where(passed, gl.expand_dims(weight, 0), 0), TILES), axis=2)


@gluon.jit
def _by_thread(values, TILES: gl.constexpr):
    """The values of each row by the thread that has them, of which there are four."""
    apart = gl.permute(gl.reshape(values, [_OWN_ROWS, TILES, 16, 4, 2]), (0, 1, 3, 2, 4))
    return gl.reshape(apart, [_OWN_ROWS, 4 * TILES, 32])


@gluon.jit
def _put_fours(fours, made, rows, tile, n_queries, n_tiles, TILES: gl.constexpr):
    """Four values for each row and tile."""
    rows = gl.convert_layout(rows, gl.SliceLayout(1, fours.type.layout))
    which = gl.arange(0, 4 * TILES, layout=gl.SliceLayout(0, fours.type.layout))
    at = gl.expand_dims(rows.to(gl.int64) * (4 * n_tiles) + 4 * tile, 1) + gl.expand_dims(which, 0)
    gl.store(made + at, fours, mask=gl.expand_dims(rows < n_queries, 1))
