"""The first of many values of each row, in Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def nearest_listed(
    squares,
    lists,
    measure,
    indices,
    distances,
    last,
    n_nearest,
    ROOM: tl.constexpr,
    SIZE: tl.constexpr,
    SQUARED: tl.constexpr,
):
    """The nearest points of each list by (distance, index), and the squared distance of the last of them.

    The measure is a factor, and the distance below which points coincide. Distances are floats: their bits,
    followed by those of the index, are one number to sort by.
    """
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, SIZE)
    inside = place < ROOM
    sums = tl.load(squares + row * ROOM + place, mask=inside, other=float("inf"))
    point = tl.load(lists + row * ROOM + place, mask=inside, other=2147483647)
    exact = tl.load(measure) * (sums if SQUARED else tl.sqrt(sums))
    distance = exact.to(tl.float32)
    distance = tl.where(distance.to(tl.float64) < tl.load(measure + 1), 0.0, distance)
    in_order = tl.sort((distance.to(tl.int32, bitcast=True).to(tl.int64) << 32) | point.to(tl.int64))
    to = row * n_nearest + place
    nearest = (in_order & 0x7FFFFFFF).to(tl.int32)
    tl.store(indices + to, nearest, mask=place < n_nearest)
    of_nearest = (in_order >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    tl.store(distances + to, of_nearest, mask=place < n_nearest)
    last_point = tl.sum(tl.where(place == n_nearest - 1, nearest, 0), axis=0)
    tl.store(last + row, tl.max(tl.where(inside & (point == last_point), sums, float("-inf")), axis=0))


@triton.jit
def values_of_ranks(values, found, n_values, first, last, SIZE: tl.constexpr):
    """Of each row the values of two ranks, counted from the largest one, whose rank is 0."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, SIZE)
    left = tl.load(values + row * n_values + place, mask=place < n_values, other=float("-inf"))
    for rank in range(0, last + 1):
        largest, where = tl.max(left, axis=0, return_indices=True)
        if rank == first:
            tl.store(found + 2 * row, largest)
        if rank == last:
            tl.store(found + 2 * row + 1, largest)
        left = tl.where(place == where, float("-inf"), left)
