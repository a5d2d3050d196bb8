"""Samples moved towards their neighbours, in Triton: the loops of native/shifts.hpp, with the same bits."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from diffpeaks.neighbors.euclidean import Pull
from diffpeaks.neighbors.gpu.kernels.rows import ROWS, exp_of_negative, own_rows
from diffpeaks.neighbors.gpu.passes import UNFUSED, DeviceRows

_ROWS = tl.constexpr(ROWS)
_FEATURES = 256  # of a program that moves a sample


def shifted(
    queries: torch.Tensor,
    rows: DeviceRows,
    own_first: bool,
    targets: tuple[torch.Tensor, torch.Tensor | None, torch.Tensor],
    pull: Pull,
) -> torch.Tensor:
    """Queries moved towards the targets in their rows, of which points, masses and reach are given."""
    points, masses, reach = targets
    n_rows, n_features = queries.shape
    masses = torch.ones(1, dtype=torch.float64, device=points.device) if masses is None else masses
    weights = torch.zeros(len(rows.indices), dtype=torch.float64, device=points.device)
    kept = torch.full((1,), pull.kept, dtype=torch.float64, device=points.device)
    _pulls[(-(-n_rows // ROWS),)](
        *(*rows, masses, reach, kept, pull.n_filled, weights, n_rows),
        OWN_FIRST=own_first,
        ONE_MASS=len(masses) == 1,
        SQUARED=pull.distances_squared,
        **UNFUSED,
    )
    moved = torch.empty_like(queries)
    _shift[(n_rows, -(-n_features // _FEATURES))](
        *(queries, rows.indptr, rows.indices, points, weights, moved, int(own_first), n_features),
        FEATURES=_FEATURES,
        **UNFUSED,
    )
    vanished = (moved == 0).all(dim=1)  # opposite directions have no mean
    moved[vanished] = queries[vanished]
    return moved


@triton.jit
def _pulls(
    indptr,
    indices,
    distances,
    masses,
    reach,
    kept,
    n_filled,
    weights,
    n_rows,
    OWN_FIRST: tl.constexpr,
    ONE_MASS: tl.constexpr,
    SQUARED: tl.constexpr,
):
    """How much each entry of a row pulls; zero for one that does not count (`RowPull`)."""
    row, inside, begin, end = own_rows(indptr, n_rows)
    n_own = 1 if OWN_FIRST else 0
    longest = tl.max(end - begin, axis=0)
    last = tl.load(distances + end - 1, mask=inside & (end > begin), other=1.0).to(tl.float64)
    missing = tl.zeros([_ROWS], tl.int64) + n_filled
    for i in range(n_own, longest):
        on = begin + i < end
        point = tl.load(indices + begin + i, mask=on, other=0)
        distance = tl.load(distances + begin + i, mask=on, other=0.0)
        missing -= (on & (distance <= tl.load(reach + point, mask=on, other=0.0))).to(tl.int64)
    total = tl.zeros([_ROWS], tl.float64)
    for i in range(n_own, longest):
        on = begin + i < end
        point = tl.load(indices + begin + i, mask=on, other=0)
        distance = tl.load(distances + begin + i, mask=on, other=0.0)
        mutual = distance <= tl.load(reach + point, mask=on, other=0.0)
        counts = on & (mutual | (missing > 0))
        missing -= (on & ~mutual).to(tl.int64)
        length = distance.to(tl.float64)
        ratio = tl.where(length == 0, 0.0, length / tl.where(last == 0, 1.0, last))
        weight = exp_of_negative(ratio if SQUARED else ratio * ratio)
        weight = weight * tl.load(masses + (point * 0 if ONE_MASS else point), mask=on, other=0.0)
        weight = tl.where(counts, weight, 0.0)
        tl.store(weights + begin + i, weight, mask=on)
        total = tl.where(counts, total + weight, total)
    own_mass = tl.full([_ROWS], 1.0, tl.float64)
    if OWN_FIRST:
        own_mass = tl.load(masses + (row * 0 if ONE_MASS else row), mask=inside, other=1.0)
    share = (1.0 - tl.load(kept)) / (own_mass + total)
    for i in range(n_own, longest):
        on = begin + i < end
        weight = tl.load(weights + begin + i, mask=on, other=0.0)
        tl.store(weights + begin + i, weight * share, mask=on)


@triton.jit
def _shift(queries, indptr, indices, points, weights, moved, first_entry, n_features, FEATURES: tl.constexpr):
    """One query plus the sum of weight x (point - query) over its row, for some features."""
    row = tl.program_id(0).to(tl.int64)
    feature = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    inside = feature < n_features
    query = tl.load(queries + row * n_features + feature, mask=inside, other=0.0).to(tl.float64)
    by = tl.zeros([FEATURES], tl.float64)
    for entry in range(tl.load(indptr + row) + first_entry, tl.load(indptr + row + 1)):
        weight = tl.load(weights + entry)
        if weight != 0:
            point = tl.load(indices + entry).to(tl.int64)
            value = tl.load(points + point * n_features + feature, mask=inside, other=0.0).to(tl.float64)
            by += weight * (value - query)
    tl.store(moved + row * n_features + feature, (query + by).to(moved.dtype.element_ty), mask=inside)
