"""What the kernels for Hopper cards share: places in shared memory, and what is made of values."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

from diffpeaks.neighbors.gpu.kernels.compare import BEST, PAIRS

# by their newer names or their older ones: a tile from global to shared memory, and a wait of all threads
load_tile = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
wait_for_all = gl.barrier if hasattr(gl, "barrier") else gl.thread_barrier
ROWS, COLUMNS = gl.constexpr(128), gl.constexpr(128)  # of a program, and of a tile
OWN_ROWS = gl.constexpr(64)  # of a group of warps
LOADING_REGISTERS = gl.constexpr(24)
_BEST, _PAIRS = gl.constexpr(BEST), gl.constexpr(PAIRS)


@gluon.jit
def made_barriers(STAGES: gl.constexpr):
    """Of each place in shared memory: it was filled, and both groups have done with it."""
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    return full, empty


@gluon.jit
def share_of_program(n_tiles):
    """The tiles of a program: one after another, so that what it writes lies together."""
    which, n_shares = gl.program_id(1), gl.num_programs(1)
    return n_tiles * which // n_shares, n_tiles * (which + 1) // n_shares


@gluon.jit
def next_place(place, phase, STAGES: gl.constexpr):
    """The next place in shared memory, and how often it was filled, even or odd."""
    is_last = place == STAGES - 1
    return gl.where(is_last, 0, place + 1), gl.where(is_last, phase ^ 1, phase)


@gluon.jit
def rows_of_group(GROUP: gl.constexpr, layout: gl.constexpr):
    first_row = gl.program_id(0) * ROWS + GROUP * OWN_ROWS
    return first_row + gl.arange(0, OWN_ROWS, layout=gl.SliceLayout(1, layout))


@gluon.jit
def least_of_rows(rows, least, n_queries, MAKES: gl.constexpr):
    """The least value that is marked for each query."""
    limit = gl.full(rows.shape, 0.0, gl.float32, layout=rows.type.layout)
    if MAKES != _BEST:
        limit = gl.load(least + rows, mask=rows < n_queries, other=float("inf"))
    return limit


@gluon.jit
def put_made(
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
    columns = gl.arange(0, TILES * COLUMNS, layout=gl.SliceLayout(0, layout))
    at = tile * COLUMNS + columns
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
    columns = columns % COLUMNS
    weight = 1 << (2 * (columns // 8) + columns % 2)
    return gl.sum(_by_thread(gl.where(passed, gl.expand_dims(weight, 0), 0), TILES), axis=2)


@gluon.jit
def _by_thread(values, TILES: gl.constexpr):
    """The values of each row by the thread that has them, of which there are four."""
    apart = gl.permute(gl.reshape(values, [OWN_ROWS, TILES, 16, 4, 2]), (0, 1, 3, 2, 4))
    return gl.reshape(apart, [OWN_ROWS, 4 * TILES, 32])


@gluon.jit
def _put_fours(fours, made, rows, tile, n_queries, n_tiles, TILES: gl.constexpr):
    """Four values for each row and tile."""
    rows = gl.convert_layout(rows, gl.SliceLayout(1, fours.type.layout))
    which = gl.arange(0, 4 * TILES, layout=gl.SliceLayout(0, fours.type.layout))
    at = gl.expand_dims(rows.to(gl.int64) * (4 * n_tiles) + 4 * tile, 1) + gl.expand_dims(which, 0)
    gl.store(made + at, fours, mask=gl.expand_dims(rows < n_queries, 1))
