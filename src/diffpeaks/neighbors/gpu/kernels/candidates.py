"""Points that are marked for queries, in Triton: lists of them, and their distances."""

from __future__ import annotations

import triton
import triton.language as tl

from diffpeaks.neighbors.gpu.kernels.compare import COLUMNS

_COLUMNS = tl.constexpr(COLUMNS)


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
                n_marked = n_bits(word_0) + n_bits(word_1) + n_bits(word_2) + n_bits(word_3)
                place = n_found + tl.cumsum(n_marked, axis=0) - n_marked
                n_found += tl.sum(n_marked, axis=0)
            while n_left(word_0, word_1, word_2, word_3) > 0:
                is_marked = (word_0 | word_1 | word_2 | word_3) != 0
                column, word_0, word_1, word_2, word_3 = lowest_mark(tile, word_0, word_1, word_2, word_3)
                point = first_point + column
                listed = is_marked & (point < n_points)
                if TURNED:
                    place = tl.atomic_add(counts + point, 1, mask=listed)
                    to = point.to(tl.int64) * ROOM + place
                    tl.store(lists + to, first_row + row, mask=listed & (place < ROOM))
                else:
                    tl.store(lists + (first_row + row) * ROOM + place, point, mask=listed & (place < ROOM))
                    place += 1
    if not TURNED:
        tl.store(counts + first_row + row, n_found)


@triton.jit
def n_left(word_0, word_1, word_2, word_3):
    """In how many tiles points are marked."""
    return tl.sum(((word_0 | word_1 | word_2 | word_3) != 0).to(tl.int32), axis=0)


@triton.jit
def lowest_mark(tile, word_0, word_1, word_2, word_3):
    """The column of a mark of each tile, and the words without it: the lowest bit of the first with any."""
    which = tl.where(word_0 != 0, 0, tl.where(word_1 != 0, 1, tl.where(word_2 != 0, 2, 3)))
    word = tl.where(which == 0, word_0, tl.where(which == 1, word_1, word_2))
    word = tl.where(which == 3, word_3, word)
    bit = lowest_bit(word)
    column = _COLUMNS * tile + 8 * (bit // 2) + 2 * which + bit % 2
    rest = word & (word - 1)
    word_0 = tl.where(which == 0, rest, word_0)
    word_1 = tl.where(which == 1, rest, word_1)
    word_2 = tl.where(which == 2, rest, word_2)
    word_3 = tl.where(which == 3, rest, word_3)
    return column, word_0, word_1, word_2, word_3


@triton.jit
def lowest_bit(word):
    """Which is the first that is set: the exponent of what it stands for."""
    lowest = (word & -word).to(tl.uint32, bitcast=True).to(tl.float32)
    return (lowest.to(tl.int32, bitcast=True) >> 23) - 127


@triton.jit
def n_bits(word):
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
