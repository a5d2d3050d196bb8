"""Samples that are joined along a graph: core samples, as in DBSCAN, or all along short links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import first_denser, join_cores, join_within
from diffpeaks.forest.peaks import labels_by_peak, rank_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.progress import stage


@stage("labels")
def core_labels(
    links: NeighborGraph,
    core: NDArray[np.bool_],
    order: NDArray[np.int32],
    graph: NeighborGraph | None = None,
) -> NDArray[np.int64]:
    """Labels of core samples that are joined along links, in the order of peak density.

    `order` has the densest sample first. Where a graph is given, a border sample joins the nearest core in
    its row of it. All other samples are noise.
    """
    component = np.empty(links.n_samples, np.int32)
    join_cores(links, core, component)
    densest = np.empty_like(component)
    densest[component[order[::-1]]] = order[::-1]  # the densest is written last
    peak = np.where(core, densest[component], np.int32(NO_POINT))
    if graph is not None:
        position = np.empty(graph.n_samples, np.int64)
        # cores count as denser than other samples: the first denser sample in a row is its nearest core
        first_denser(graph, (~core).astype(np.int32), position, 1)
        joins = position >= 0
        peak[joins] = peak[graph.indices[position[joins]]]
    return labels_by_peak(peak, rank_of(order))


def components(
    graph: NeighborGraph,
    lengths: NDArray[Any],
    max_length: float,
    among: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """The first sample of each sample's component, where links of at most `max_length` join.

    `lengths` has one value for each entry of the graph: its distances, or another measure of a link.
    Samples outside `among` stay alone.
    """
    if among is None:
        among = np.ones(graph.n_samples, bool)
    component = np.empty(graph.n_samples, np.int32)
    join_within(graph, lengths, float(max_length), among, component)
    return component


def component_labels(component: NDArray[Any]) -> NDArray[np.int64]:
    """Labels 0, 1, ... in the order of the components' first samples."""
    return np.unique(component, return_inverse=True)[1].astype(np.int64)
