"""The one total order of samples, and labels that follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NOISE = -1  # the label of a sample in no cluster
NO_POINT = -1  # in the place of a sample where there is none, as in native/graph.hpp


def density_order(
    density: NDArray[np.float64], tie_break: NDArray[np.float64] | None = None
) -> NDArray[np.int32]:
    """Samples from the densest on: density descending, then `tie_break` descending, then index."""
    if tie_break is None:
        return np.argsort(-density, kind="stable").astype(np.int32)
    return np.lexsort((-tie_break, -density)).astype(np.int32)


def rank_of(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Position of each sample in the order: 0 is the densest."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    return rank


def labels_by_peak(peak: NDArray[Any], rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """Labels 0, 1, ... in the order of the peaks' density, from each sample's peak; NOISE without one."""
    clustered = peak != NO_POINT
    is_peak = np.zeros(len(rank), bool)
    is_peak[peak[clustered]] = True
    peaks = np.flatnonzero(is_peak)
    peaks = peaks[np.argsort(rank[peaks])]
    label = np.full(len(rank), NOISE, np.int64)
    label[peaks] = np.arange(len(peaks))
    return np.where(clustered, label[peak], NOISE)
