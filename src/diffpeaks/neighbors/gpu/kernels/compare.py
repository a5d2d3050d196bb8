"""Products of queries and points, in Triton: which points may be near, and how near the nearest are.

Marks are bits, four words for a query and a tile of 128 points. Bit b of word w stands for point
8 (b / 2) + 2 w + b % 2 of the tile, because these are the products that one thread has.
"""

from __future__ import annotations

import triton
import triton.language as tl

COLUMNS = 128  # of a tile
MARKS, PAIRS, BEST = 0, 1, 2  # what is made of values
_COLUMNS, _PAIRS, _BEST = tl.constexpr(COLUMNS), tl.constexpr(PAIRS), tl.constexpr(BEST)


@triton.jit
def by_thread(values, ROWS: tl.constexpr, TILES: tl.constexpr):
    """The values of each row by the thread that has them, of which there are four."""
    apart = tl.permute(tl.reshape(values, [ROWS, TILES, 16, 4, 2]), (0, 1, 3, 2, 4))
    return tl.reshape(apart, [ROWS, 4 * TILES, 32])


@triton.jit
def words_of(passed, ROWS: tl.constexpr, TILES: tl.constexpr):
    """Marks of tiles as words whose bits are all in one thread."""
    column = tl.arange(0, TILES * _COLUMNS) % _COLUMNS
    bits = tl.where(passed, (1 << (2 * (column // 8) + column % 2))[None, :], 0)
    return tl.sum(by_thread(bits, ROWS, TILES), axis=2)


@triton.jit
def compare(
    query_tiles,
    point_tiles,
    bias,
    least,
    made,
    turned,
    n_queries,
    n_tiles,
    n_parts,
    HAS_BIAS: tl.constexpr,
    MAKES: tl.constexpr,
    ROWS: tl.constexpr,
    TILES: tl.constexpr,
    PART: tl.constexpr,
):
    """Values of queries and points, their product and the point's bias, and what is made of them.

    Marks tell which of them reach the `least` of the query. Of pairs, which are of queries that are the first
    points, `turned` ones tell which product and bias of the query reach the least of the point. The best are
    the largest values that each thread has of a query and a tile.

    A program compares some queries with some tiles. Features come in `n_parts` parts.
    """
    first_row = tl.program_id(0) * ROWS
    rows = first_row + tl.arange(0, ROWS)
    column = tl.arange(0, TILES * _COLUMNS)
    inside = rows < n_queries
    to = rows[:, None].to(tl.int64) * (4 * n_tiles) + tl.arange(0, 4 * TILES)[None, :]
    which, n_shares = tl.program_id(1), tl.num_programs(1)
    tile = n_tiles // TILES * which // n_shares * TILES
    end = n_tiles // TILES * (which + 1) // n_shares * TILES
    products = tl.zeros([ROWS, TILES * _COLUMNS], tl.float32)
    part = 0
    for _ in tl.range(0, (end - tile) // TILES * n_parts, num_stages=3):
        queries = query_tiles.load([first_row, part * PART])
        points = point_tiles.load([tile * _COLUMNS, part * PART])
        products = tl.dot(queries, points.T, products)
        part += 1
        if part == n_parts:
            values = products
            if HAS_BIAS:
                values += tl.load(bias + tile * _COLUMNS + column)[None, :]
            if MAKES == _BEST:
                fours = tl.max(by_thread(values, ROWS, TILES), axis=2)
            else:
                limit = tl.load(least + rows, mask=inside, other=float("inf"))
                fours = words_of(values >= limit[:, None], ROWS, TILES)
            tl.store(made + to + 4 * tile, fours, mask=inside[:, None])
            if MAKES == _PAIRS:
                values = products
                if HAS_BIAS:
                    values += tl.load(bias + rows, mask=inside, other=0.0)[:, None]
                theirs = tl.load(least + tile * _COLUMNS + column)
                fours = words_of(values >= theirs[None, :], ROWS, TILES)
                tl.store(turned + to + 4 * tile, fours, mask=inside[:, None])
            products = tl.zeros([ROWS, TILES * _COLUMNS], tl.float32)
            part = 0
            tile += TILES
