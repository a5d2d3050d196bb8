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
def mark_pairs(
    tiles,
    bias,
    least,
    marks,
    turned,
    first_tile,
    n_own,
    n_tiles,
    n_parts,
    HAS_BIAS: tl.constexpr,
    PART: tl.constexpr,
):
    """As `mark`, of some tiles of points with these and all that follow.

    What follows them is also marked the other way round. There, bit b of word w stands for point
    64 (b / 16) + 16 w + b % 16 of a tile, because a warp has the products of these.
    """
    own = tl.program_id(0)
    row = tl.arange(0, _COLUMNS)
    first_row = (first_tile + own) * _COLUMNS
    limit = tl.load(least + first_row + row)
    to = marks + (own * _COLUMNS + row)[:, None].to(tl.int64) * (4 * (n_tiles - first_tile))
    to += tl.arange(0, 4)[None, :]
    weight = 1 << (16 * (row // 64) + row % 16)
    products = tl.zeros([_COLUMNS, _COLUMNS], tl.float32)
    part = 0
    tile = first_tile + tl.program_id(1)
    for _ in tl.range(0, tl.cdiv(n_tiles - tile, tl.num_programs(1)) * n_parts, num_stages=3):
        queries = tiles.load([first_row, part * PART])
        points = tiles.load([tile * _COLUMNS, part * PART])
        products = tl.dot(queries, points.T, products)
        part += 1
        if part == n_parts:
            values = products
            if HAS_BIAS:
                values += tl.load(bias + tile * _COLUMNS + row)[None, :]
            tl.store(to + 4 * (tile - first_tile), _words_of(values >= limit[:, None], _COLUMNS))
            if tile >= first_tile + n_own:
                values = products
                if HAS_BIAS:
                    values += tl.load(bias + first_row + row)[:, None]
                theirs = tl.load(least + tile * _COLUMNS + row)
                bits = tl.where(values >= theirs[None, :], weight[:, None], 0)
                words = tl.sum(tl.sum(tl.reshape(bits, [2, 4, 16, _COLUMNS]), axis=2), axis=0)
                column = ((tile - first_tile - n_own) * _COLUMNS + row)[None, :].to(tl.int64)
                tl.store(turned + column * (4 * n_own) + 4 * own + tl.arange(0, 4)[:, None], words)
            products = tl.zeros([_COLUMNS, _COLUMNS], tl.float32)
            part = 0
            tile += tl.num_programs(1)


@triton.jit
def _squares(queries, columns, rows, inside, at, n_columns, FEATURES: tl.constexpr):
    """Squared distances of some queries to some points, whose features lie column by column."""
    total = (rows * 0)[:, None].to(tl.float64) + (at * 0)[None, :].to(tl.float64)
    for feature in tl.static_range(FEATURES):
        x = tl.load(queries + rows * FEATURES + feature, mask=inside, other=0.0)
        y = tl.load(columns + feature * n_columns + at, mask=at < n_columns, other=float("inf"))
        difference = x[:, None] - y[None, :]
        total += difference * difference
    return total


@triton.jit
def mark_differences(
    queries, columns, most, marks, n_queries, n_tiles, FEATURES: tl.constexpr, ROWS: tl.constexpr
):
    """A bit for each query and point: whether their squared distance is at most that of the query."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_queries
    limit = tl.load(most + rows, mask=inside, other=-1.0)
    to = marks + rows[:, None] * (4 * n_tiles) + tl.arange(0, 4)[None, :]
    for tile in range(tl.program_id(1), n_tiles, tl.num_programs(1)):
        at = tile * _COLUMNS + tl.arange(0, _COLUMNS)
        squares = _squares(queries, columns, rows, inside, at, n_tiles.to(tl.int64) * _COLUMNS, FEATURES)
        words = _words_of(squares <= limit[:, None], ROWS)
        tl.store(to + 4 * tile, words, mask=inside[:, None])


@triton.jit
def best_of_groups(
    queries,
    columns,
    best,
    n_queries,
    n_columns,
    n_groups,
    FEATURES: tl.constexpr,
    ROWS: tl.constexpr,
    GROUP: tl.constexpr,
    EVERY: tl.constexpr,
):
    """The least squared distance of each query in groups of every so many-th point, spread over all."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_queries
    group = tl.program_id(1).to(tl.int64) * _COLUMNS + tl.arange(0, _COLUMNS)
    smallest = tl.full([ROWS, _COLUMNS], float("inf"), tl.float64)
    for member in range(0, GROUP):
        at = (member * n_groups + group) * EVERY
        squares = _squares(queries, columns, rows, inside, at, n_columns, FEATURES)
        smallest = tl.minimum(smallest, squares)
    where = best + rows[:, None] * n_groups + group[None, :]
    tl.store(where, smallest, mask=inside[:, None] & (group < n_groups)[None, :])


@triton.jit
def collect(
    marks,
    lists,
    counts,
    n_points,
    n_words,
    first_point,
    ROOM: tl.constexpr,
    CHUNK: tl.constexpr,
    TURNED: tl.constexpr,
):
    """Adds the marked points of a query in order to its list, as long as there is room, and to its count."""
    row = tl.program_id(0).to(tl.int64)
    n_found = tl.load(counts + row)
    for first in range(0, n_words, CHUNK):
        place = first + tl.arange(0, CHUNK)
        word = _in_order(marks + row * n_words, place, place < n_words, TURNED)
        if tl.max((word != 0).to(tl.int32), axis=0) > 0:
            n_bits = _n_bits(word)
            at = n_found + tl.cumsum(n_bits, axis=0) - n_bits
            n_found += tl.sum(n_bits, axis=0)
            while tl.max((word != 0).to(tl.int32), axis=0) > 0:
                point = first_point + 32 * place + _n_bits((word & -word) - 1)
                tl.store(lists + row * ROOM + at, point, mask=(word != 0) & (at < ROOM) & (point < n_points))
                at += 1
                word = word & (word - 1)
    tl.store(counts + row, n_found)


@triton.jit
def _in_order(marks, place, inside, TURNED: tl.constexpr):
    """The marks of 32 points in order: a byte of each word of their tile, spread two bits by two.

    Those that `mark_pairs` turned are halves of two words.
    """
    tile = marks + place // 4 * 4
    word = place * 0
    if TURNED:
        for half in tl.static_range(2):
            bits = tl.load(tile + 2 * (place % 2) + half, mask=inside, other=0)
            word |= ((bits >> (16 * (place % 4 // 2))) & 0xFFFF) << (16 * half)
    else:
        for other in tl.static_range(4):
            bits = (tl.load(tile + other, mask=inside, other=0) >> (8 * (place % 4))) & 0xFF
            pairs = (bits & 3) | ((bits & 12) << 6) | ((bits & 48) << 12) | ((bits & 192) << 18)
            word |= pairs << (2 * other)
    return word


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
