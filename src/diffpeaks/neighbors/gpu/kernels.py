"""Kernels for a GPU in Triton: which points may be near, lists of them, and their distances.

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
def _by_thread(values, ROWS: tl.constexpr, TILES: tl.constexpr):
    """The values of each row by the thread that has them, of which there are four."""
    apart = tl.permute(tl.reshape(values, [ROWS, TILES, 16, 4, 2]), (0, 1, 3, 2, 4))
    return tl.reshape(apart, [ROWS, 4 * TILES, 32])


@triton.jit
def _words_of(passed, ROWS: tl.constexpr, TILES: tl.constexpr):
    """Marks of tiles as words whose bits are all in one thread."""
    column = tl.arange(0, TILES * _COLUMNS) % _COLUMNS
    bits = tl.where(passed, (1 << (2 * (column // 8) + column % 2))[None, :], 0)
    return tl.sum(_by_thread(bits, ROWS, TILES), axis=2)


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
                fours = tl.max(_by_thread(values, ROWS, TILES), axis=2)
            else:
                limit = tl.load(least + rows, mask=inside, other=float("inf"))
                fours = _words_of(values >= limit[:, None], ROWS, TILES)
            tl.store(made + to + 4 * tile, fours, mask=inside[:, None])
            if MAKES == _PAIRS:
                values = products
                if HAS_BIAS:
                    values += tl.load(bias + rows, mask=inside, other=0.0)[:, None]
                theirs = tl.load(least + tile * _COLUMNS + column)
                fours = _words_of(values >= theirs[None, :], ROWS, TILES)
                tl.store(turned + to + 4 * tile, fours, mask=inside[:, None])
            products = tl.zeros([ROWS, TILES * _COLUMNS], tl.float32)
            part = 0
            tile += TILES


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
        words = _words_of(squares <= limit[:, None], ROWS, 1)
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
    n_tiles,
    first_tile,
    first_row,
    first_point,
    ROOM: tl.constexpr,
    TILES: tl.constexpr,
    TURNED: tl.constexpr,
):
    """Adds what is marked for a query to its list, as long as there is room, and to its count.

    Rows and points begin with those numbers; marks of tiles before `first_tile` are left out. Turned, the
    query is added to the lists of the points. No list is in order.
    """
    row = tl.program_id(0).to(tl.int64)
    n_found = tl.load(counts + first_row + row)
    for first in range(first_tile, n_tiles, TILES):
        tile = first + tl.arange(0, TILES)
        at = marks + 4 * (row * n_tiles + tile)[:, None] + tl.arange(0, 4)[None, :]
        words = tl.load(at, mask=(tile < n_tiles)[:, None], other=0)
        if tl.max(tl.max((words != 0).to(tl.int32), axis=1), axis=0) > 0:
            even, odd = tl.split(tl.reshape(words, [TILES, 2, 2]))
            word_0, word_2 = tl.split(even)
            word_1, word_3 = tl.split(odd)
            if not TURNED:
                n_bits = _n_bits(word_0) + _n_bits(word_1) + _n_bits(word_2) + _n_bits(word_3)
                place = n_found + tl.cumsum(n_bits, axis=0) - n_bits
                n_found += tl.sum(n_bits, axis=0)
            left = word_0 | word_1 | word_2 | word_3
            while tl.max((left != 0).to(tl.int32), axis=0) > 0:
                # the lowest bit of the first word that has one
                which = tl.where(word_0 != 0, 0, tl.where(word_1 != 0, 1, tl.where(word_2 != 0, 2, 3)))
                word = tl.where(which == 0, word_0, tl.where(which == 1, word_1, word_2))
                word = tl.where(which == 3, word_3, word)
                bit = _lowest_bit(word)
                point = first_point + _COLUMNS * tile + 8 * (bit // 2) + 2 * which + bit % 2
                listed = (left != 0) & (point < n_points)
                if TURNED:
                    place = tl.atomic_add(counts + point, 1, mask=listed)
                    to = point.to(tl.int64) * ROOM + place
                    tl.store(lists + to, first_row + row, mask=listed & (place < ROOM))
                else:
                    tl.store(lists + (first_row + row) * ROOM + place, point, mask=listed & (place < ROOM))
                    place += 1
                rest = word & (word - 1)
                word_0 = tl.where(which == 0, rest, word_0)
                word_1 = tl.where(which == 1, rest, word_1)
                word_2 = tl.where(which == 2, rest, word_2)
                word_3 = tl.where(which == 3, rest, word_3)
                left = word_0 | word_1 | word_2 | word_3
    if not TURNED:
        tl.store(counts + first_row + row, n_found)


@triton.jit
def _lowest_bit(word):
    """Which is the first that is set: the exponent of what it stands for."""
    lowest = (word & -word).to(tl.uint32, bitcast=True).to(tl.float32)
    return (lowest.to(tl.int32, bitcast=True) >> 23) - 127


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
