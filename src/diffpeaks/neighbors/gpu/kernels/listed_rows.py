"""Loops over rows of neighbours that list some of their entries, in Triton, as those of `rows.py`.

Each is launched twice: to count what is listed, then, with FILL, to write it where the counts say.
"""

from __future__ import annotations

import triton
import triton.language as tl

from diffpeaks.neighbors.gpu.kernels.rows import ROWS, own_rows

_ROWS = tl.constexpr(ROWS)
_FEW_HILLS = tl.constexpr(8)  # beside a row, whose flows are added up before they are listed


@triton.jit
def short_links(
    indptr,
    indices,
    distances,
    nearest,
    within,
    reach,
    counts,
    starts,
    links,
    lengths,
    n_rows,
    FILL: tl.constexpr,
):
    """The nearest entries of each row, and of some beyond them those that are mutual."""
    row, inside, begin, _ = own_rows(indptr, n_rows)
    n_nearest = tl.load(nearest + row, mask=inside, other=0)
    n_within = tl.load(within + row, mask=inside, other=0)
    to = tl.load(starts + row, mask=inside, other=0)
    first = to
    for i in range(0, tl.max(n_within, axis=0)):
        on = i < n_within
        point = tl.load(indices + begin + i, mask=on, other=0)
        distance = tl.load(distances + begin + i, mask=on, other=0.0)
        kept = on & ((i < n_nearest) | (distance <= tl.load(reach + point, mask=on, other=0.0)))
        if FILL:
            tl.store(links + to, point, mask=kept)
            tl.store(lengths + to, distance, mask=kept)
        to += kept.to(tl.int64)
    if not FILL:
        tl.store(counts + row, to - first, mask=inside)


@triton.jit
def links_out(indptr, indices, distances, hill, max_link, counts, starts, links, n_rows, FILL: tl.constexpr):
    """The entries of each row, below some length, that lead out of its hill."""
    row, inside, begin, end = own_rows(indptr, n_rows)
    own = tl.load(hill + row, mask=inside, other=0)
    longest = tl.load(max_link)
    to = tl.load(starts + row, mask=inside, other=0)
    first = to
    for i in range(0, tl.max(end - begin, axis=0)):
        at = begin + i
        on = at < end
        point = tl.load(indices + at, mask=on, other=0)
        short = tl.load(distances + at, mask=on, other=0.0).to(tl.float64) < longest
        kept = on & short & (tl.load(hill + point, mask=on, other=0) != own)
        if FILL:
            tl.store(links + to, point, mask=kept)
        to += kept.to(tl.int64)
    if not FILL:
        tl.store(counts + row, to - first, mask=inside)


@triton.jit
def flows(
    indptr,
    indices,
    distances,
    hill,
    weights,
    sent_by_weight,
    max_link,
    counts,
    starts,
    ends,
    sums,
    n_rows,
    FILL: tl.constexpr,
):
    """What each row carries to hills along entries below some length: a sum for each of the first few.

    What goes to hills beyond the first few comes before, entry by entry, as the core adds it up.
    """
    row, inside, begin, end = own_rows(indptr, n_rows)
    sent = tl.load(sent_by_weight + row, mask=inside, other=0.0)
    longest = tl.load(max_link)
    slot = tl.arange(0, _FEW_HILLS)[None, :]
    known = tl.full([_ROWS, _FEW_HILLS], -1, tl.int32)
    flow = tl.zeros([_ROWS, _FEW_HILLS], tl.float64)
    n_known = tl.zeros([_ROWS], tl.int32)
    first = tl.load(starts + row, mask=inside, other=0)
    beyond = first
    for i in range(0, tl.max(end - begin, axis=0)):
        at = begin + i
        on = (at < end) & (tl.load(distances + at, mask=at < end, other=0.0).to(tl.float64) < longest)
        point = tl.load(indices + at, mask=on, other=0)
        to = tl.load(hill + point, mask=on, other=-2)
        more = sent * tl.load(weights + at, mask=on, other=0.0).to(tl.float64)
        is_known = known == to[:, None]
        new = on & (tl.max(is_known.to(tl.int32), axis=1) == 0)
        taken = new & (n_known < _FEW_HILLS)
        put = taken[:, None] & (slot == n_known[:, None])
        known = tl.where(put, to[:, None], known)
        n_known += taken.to(tl.int32)
        flow = tl.where((is_known | put) & on[:, None], flow + more[:, None], flow)
        over = new & ~taken
        if FILL:
            tl.store(ends + beyond, to, mask=over)
            tl.store(sums + beyond, more, mask=over)
        beyond += over.to(tl.int64)
    if FILL:
        where = beyond[:, None] + slot
        tl.store(ends + where, known, mask=slot < n_known[:, None])
        tl.store(sums + where, flow, mask=slot < n_known[:, None])
    else:
        tl.store(counts + row, beyond - first + n_known, mask=inside)
