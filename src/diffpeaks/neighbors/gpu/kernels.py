"""Kernels for a GPU in Triton: which points may be near, lists of them, and their distances.

Marks are bits, four words for a query and a tile of 128 points. Bit b of word w stands for point
8 (b / 2) + 2 w + b % 2 of the tile, because these are the products that one thread has.
"""

from __future__ import annotations

import triton
import triton.language as tl

COLUMNS = 128  # of a tile
_COLUMNS = tl.constexpr(COLUMNS)


@triton.jit
def _words_of(passed, ROWS: tl.constexpr):
    """Marks of a tile as words whose bits are all in one thread."""
    column = tl.arange(0, _COLUMNS)
    bits = tl.where(passed, (1 << (2 * (column // 8) + column % 2))[None, :], 0)
    apart = tl.permute(tl.reshape(bits, [ROWS, 16, 4, 2]), (0, 2, 1, 3))
    return tl.sum(tl.reshape(apart, [ROWS, 4, 32]), axis=2)


@triton.jit
def mark(
    query_tiles,
    point_tiles,
    bias,
    least,
    marks,
    n_queries,
    n_tiles,
    n_parts,
    HAS_BIAS: tl.constexpr,
    ROWS: tl.constexpr,
    PART: tl.constexpr,
):
    """A bit for each query and point: whether their product and the point's bias reach the query's `least`.

    A program compares some queries with every so many-th tile. Features come in `n_parts` parts.
    """
    first_row = tl.program_id(0) * ROWS
    rows = first_row + tl.arange(0, ROWS)
    inside = rows < n_queries
    limit = tl.load(least + rows, mask=inside, other=float("inf"))
    to = marks + rows[:, None].to(tl.int64) * (4 * n_tiles) + tl.arange(0, 4)[None, :]
    products = tl.zeros([ROWS, _COLUMNS], tl.float32)
    part = 0
    tile = tl.program_id(1)
    n_own = tl.cdiv(n_tiles - tl.program_id(1), tl.num_programs(1))
    for _ in tl.range(0, n_own * n_parts, num_stages=3):
        queries = query_tiles.load([first_row, part * PART])
        points = point_tiles.load([tile * _COLUMNS, part * PART])
        products = tl.dot(queries, points.T, products)
        part += 1
        if part == n_parts:
            values = products
            if HAS_BIAS:
                values += tl.load(bias + tile * _COLUMNS + tl.arange(0, _COLUMNS))[None, :]
            words = _words_of(values >= limit[:, None], ROWS)
            tl.store(to + 4 * tile, words, mask=inside[:, None])
            products = tl.zeros([ROWS, _COLUMNS], tl.float32)
            part = 0
            tile += tl.num_programs(1)


@triton.jit
def collect(marks, lists, counts, n_points, n_words, ROOM: tl.constexpr, TILES: tl.constexpr):
    """The marked points of a query in order, as many as there is room for, and how many there are."""
    row = tl.program_id(0).to(tl.int64)
    n_found = 0
    for first in range(0, n_words, 4 * TILES):
        place = first + 4 * tl.arange(0, TILES)[:, None] + tl.arange(0, 4)[None, :]
        word = tl.load(marks + row * n_words + place, mask=place < n_words, other=0)
        if tl.max(tl.reshape((word != 0).to(tl.int32), [4 * TILES]), axis=0) > 0:
            word = tl.reshape(_in_order(word, TILES), [4 * TILES])
            column = 32 * (first + tl.arange(0, 4 * TILES))
            n_bits = _n_bits(word)
            at = n_found + tl.cumsum(n_bits, axis=0) - n_bits
            n_found += tl.sum(n_bits, axis=0)
            while tl.max((word != 0).to(tl.int32), axis=0) > 0:
                point = column + _n_bits((word & -word) - 1)
                tl.store(lists + row * ROOM + at, point, mask=(word != 0) & (at < ROOM) & (point < n_points))
                at += 1
                word = word & (word - 1)
    tl.store(counts + row, n_found)


@triton.jit
def _in_order(words, TILES: tl.constexpr):
    """Words of tiles whose bits are in the order of points: 32 of them in each word."""
    quarter = tl.arange(0, 4)[None, None, :]
    bits = (words[:, :, None] >> (8 * quarter)) & 0xFF  # of each word, those for a quarter of the points
    pairs = (bits & 3) | ((bits & 12) << 6) | ((bits & 48) << 12) | ((bits & 192) << 18)
    return tl.sum(pairs << (2 * tl.arange(0, 4)[None, :, None]), axis=1)


@triton.jit
def _n_bits(word):
    """How many bits of each are set."""
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return (word * 0x01010101) >> 24


@triton.jit
def sum_squares(
    queries, points, lists, counts, sums, n_points, n_features, ROOM: tl.constexpr, PAIRS: tl.constexpr
):
    """Squared distances of a query to the points of its list, summed in the order of the compiled core."""
    row = tl.program_id(0).to(tl.int64)
    n_listed = tl.minimum(tl.load(counts + row), ROOM)
    lane = tl.arange(0, 16)
    in_lanes = n_features - n_features % 16
    for first in range(0, n_listed, PAIRS):
        place = first + tl.arange(0, PAIRS)
        point = tl.load(lists + row * ROOM + place, mask=place < n_listed, other=n_points)
        listed = point < n_points
        point = point.to(tl.int64) * n_features
        lanes = tl.zeros([PAIRS, 16], tl.float64)
        for feature in range(0, in_lanes, 16):
            x = tl.load(queries + row * n_features + feature + lane).to(tl.float64)
            y = tl.load(points + point[:, None] + feature + lane[None, :], mask=listed[:, None], other=0.0)
            difference = x[None, :] - y.to(tl.float64)
            lanes += difference * difference
        total = _in_halves(lanes, PAIRS)
        for feature in range(in_lanes, n_features):
            x = tl.load(queries + row * n_features + feature).to(tl.float64)
            y = tl.load(points + point + feature, mask=listed, other=0.0)
            difference = x - y.to(tl.float64)
            total += difference * difference
        tl.store(sums + row * ROOM + place, total, mask=listed)


@triton.jit
def _in_halves(lanes, PAIRS: tl.constexpr):
    """Sixteen lanes become one: the first half and the second are added, and so on."""
    lanes = tl.sum(tl.reshape(lanes, [PAIRS, 2, 8]), axis=1)
    lanes = tl.sum(tl.reshape(lanes, [PAIRS, 2, 4]), axis=1)
    lanes = tl.sum(tl.reshape(lanes, [PAIRS, 2, 2]), axis=1)
    return tl.sum(lanes, axis=1)
