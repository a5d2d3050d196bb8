"""DBSCAN on any density: core samples joined along the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import join_cores
from diffpeaks.graph import NeighborGraph
from diffpeaks.order import NOISE, labels_by_peak


def core_labels(
    graph: NeighborGraph,
    core: NDArray[np.bool_],
    rank: NDArray[np.int32],
    border: bool = True,
) -> NDArray[np.int64]:
    """Labels of core samples that are joined along graph edges, in the order of peak density.

    With `border`, a sample that is no core joins its nearest core neighbour. The rest is noise.
    """
    component = np.empty(graph.n_samples, np.int32)
    join_cores(graph.indptr, graph.indices, core, component)
    peak = np.where(core, _densest(component, rank)[component], NOISE)
    if border:
        outside = np.flatnonzero(~core)
        nearest = _first_core(graph, core)[outside]
        peak[outside] = np.where(nearest == -1, NOISE, peak[nearest])
    return labels_by_peak(peak, rank)


def _densest(component: NDArray[np.int32], rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each component's representative its densest member."""
    lowest_rank = np.full(len(rank), len(rank), np.int64)
    np.minimum.at(lowest_rank, component, rank)
    by_rank = np.argsort(rank)
    return by_rank[np.minimum(lowest_rank, len(rank) - 1)]


def _first_core(graph: NeighborGraph, core: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The nearest core sample in each row, -1 where there is none."""
    first = np.full(graph.n_samples, -1, np.int64)
    entries = np.flatnonzero(core[graph.indices])[::-1]  # backwards: the first of a row is kept
    rows = np.searchsorted(graph.indptr, entries, side="right") - 1
    first[rows] = graph.indices[entries]
    return first
