"""Loops over rows of neighbours, in Triton: a lane for each row, its entries one after another.

They are the loops of the compiled core (native/walk.hpp, links.hpp, forest.hpp, borders.hpp), sum in the same
order, and are launched without fused multiply-adds, so that they give the same bits.
"""

from __future__ import annotations

import triton
import triton.language as tl

ROWS = 128  # of a program
_ROWS = tl.constexpr(ROWS)
_LOG2_OF_E = tl.constexpr(1.4426950408889634)
_MOST = tl.constexpr(760.0)  # exp(-760) is zero
_SHIFT = tl.constexpr(6755399441055744.0)  # 1.5 x 2^52: adding it rounds to an integer
_LOG_OF_2_HIGH = tl.constexpr(float.fromhex("0x1.62e42fefa0000p-1"))
_LOG_OF_2_LOW = tl.constexpr(float.fromhex("0x1.cf79abc9e3b3ap-40"))


@triton.jit
def _double(value: tl.constexpr):
    """A constant in double: as a plain number it would be rounded to a float."""
    return tl.full([1], value, tl.float64)


@triton.jit
def _power_of_two(shifted):
    return ((shifted.to(tl.int64, bitcast=True) + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def exp_of_negative(values):
    """`exp_of_negative` of native/kernels/common.hpp."""
    x = -tl.where(values < _double(_MOST), values, _double(_MOST))
    k = (x * _double(_LOG2_OF_E) + _double(_SHIFT)) - _double(_SHIFT)
    r = (x - k * _double(_LOG_OF_2_HIGH)) - k * _double(_LOG_OF_2_LOW)
    total = r * 0.0 + _double(1.0 / 6227020800.0)
    total = total * r + _double(1.0 / 479001600.0)
    total = total * r + _double(1.0 / 39916800.0)
    total = total * r + _double(1.0 / 3628800.0)
    total = total * r + _double(1.0 / 362880.0)
    total = total * r + _double(1.0 / 40320.0)
    total = total * r + _double(1.0 / 5040.0)
    total = total * r + _double(1.0 / 720.0)
    total = total * r + _double(1.0 / 120.0)
    total = total * r + _double(1.0 / 24.0)
    total = total * r + _double(1.0 / 6.0)
    total = total * r + _double(0.5)
    total = (total * r) * r + r + _double(1.0)
    half = k * _double(0.5) + _double(_SHIFT)
    rest = (k - (half - _double(_SHIFT))) + _double(_SHIFT)
    return total * _power_of_two(half) * _power_of_two(rest)


@triton.jit
def own_rows(indptr, n_rows):
    """The rows of a program, which of them there are, and where their entries begin and end."""
    row = tl.program_id(0).to(tl.int64) * _ROWS + tl.arange(0, _ROWS)
    inside = row < n_rows
    begin = tl.load(indptr + row, mask=inside, other=0)
    end = tl.load(indptr + row + 1, mask=inside, other=0)
    return row, inside, begin, end


@triton.jit
def products_of_ratios(
    indptr, distances, products, n_rows, n_products, fewest, least, TOGETHER: tl.constexpr
):
    """Of distance / last distance, so many in each; those of a row that does not count are one."""
    row, inside, begin, end = own_rows(indptr, n_rows)
    reach = tl.load(distances + end - 1, mask=inside & (end > begin), other=0.0).to(tl.float64)
    counts = inside & (end - begin >= fewest) & (reach > 0)
    reach = tl.where(counts, reach, 1.0)
    smallest = tl.load(least)
    for number in range(0, n_products):
        product = tl.full([_ROWS], 1.0, tl.float64)
        for i in range(0, TOGETHER):
            at = begin + 1 + number * TOGETHER + i
            on = counts & (at < end)
            ratio = tl.load(distances + at, mask=on, other=0.0).to(tl.float64) / reach
            product = tl.where(on, product * tl.maximum(ratio, smallest), product)
        tl.store(products + row * n_products + number, product, mask=inside)


@triton.jit
def weigh(
    indptr,
    indices,
    distances,
    by_row,
    by_entry,
    masses,
    weights,
    volume,
    n_rows,
    KERNEL: tl.constexpr,
    ONE_ROW: tl.constexpr,
    ONE_ENTRY: tl.constexpr,
    ONE_MASS: tl.constexpr,
):
    """`weigh_rows`: kernels are numbered as there; a length or mass may be one for all."""
    row, inside, begin, end = own_rows(indptr, n_rows)
    length = tl.load(by_row + (row * 0 if ONE_ROW else row), mask=inside, other=1.0)
    total = tl.zeros([_ROWS], tl.float64)
    for i in range(0, tl.max(end - begin, axis=0)):
        at = begin + i
        on = at < end
        point = tl.load(indices + at, mask=on, other=0)
        distance = tl.load(distances + at, mask=on, other=0.0).to(tl.float64)
        bandwidth = length * tl.load(by_entry + (point * 0 if ONE_ENTRY else point), mask=on, other=1.0)
        ratio = tl.where((bandwidth == 0) & (distance == 0), 0.0, distance / bandwidth)
        u = ratio * ratio
        value = tl.full([_ROWS], 1.0, tl.float64)
        if KERNEL == 0:
            value = exp_of_negative(u)
        elif KERNEL == 2:
            value = tl.maximum(1.0 - u, 0.0)
        elif KERNEL == 3:
            value = exp_of_negative(tl.sqrt(u))
        value = value * tl.load(masses + (point * 0 if ONE_MASS else point), mask=on, other=0.0)
        kept = value.to(weights.dtype.element_ty)
        tl.store(weights + at, kept, mask=on)
        total = tl.where(on, total + kept.to(tl.float64), total)
    tl.store(volume + row, total, mask=inside)


@triton.jit
def receive(
    indptr, senders, weights, sent_by_weight, arriving, n_rows, n_senders, n_parts, ONE_SENT: tl.constexpr
):
    """`send_mass`, from the side of who receives: senders and weights of each, in the order of senders.

    Parts of the senders add up apart, and are added in their order. All may send the same by weight.
    """
    row, inside, begin, end = own_rows(indptr, n_rows)
    total = tl.zeros([_ROWS], tl.float64)
    part_sum = tl.zeros([_ROWS], tl.float64)
    part = tl.zeros([_ROWS], tl.int64)
    for i in range(0, tl.max(end - begin, axis=0)):
        at = begin + i
        on = at < end
        sender = tl.load(senders + at, mask=on, other=0).to(tl.int64)
        now = tl.where(on, ((sender + 1) * n_parts - 1) // n_senders, part)
        total = tl.where(now != part, total + part_sum, total)
        part_sum = tl.where(now != part, 0.0, part_sum)
        part = now
        weight = tl.load(weights + at, mask=on, other=0.0).to(tl.float64)
        more = weight * tl.load(sent_by_weight + (sender * 0 if ONE_SENT else sender), mask=on, other=0.0)
        part_sum = tl.where(on, part_sum + more, part_sum)
    tl.store(arriving + row, total + part_sum, mask=inside)


@triton.jit
def first_denser(indptr, indices, rank, position, n_rows):
    """Where the first entry of each row is that is denser than the row's own point; -1 where none is."""
    row, inside, begin, end = own_rows(indptr, n_rows)
    own = tl.load(rank + row, mask=inside, other=0)
    found = tl.full([_ROWS], -1, tl.int64)
    for i in range(1, tl.max(end - begin, axis=0)):
        at = begin + i
        on = at < end
        other = tl.load(rank + tl.load(indices + at, mask=on, other=0), mask=on, other=2147483647)
        found = tl.where((found < 0) & (other < own), at, found)
    tl.store(position + row, found, mask=inside)
