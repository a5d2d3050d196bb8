"""DBSCAN on any density: core samples joined along the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import first_denser, join_cores
from diffpeaks.graph import NeighborGraph
from diffpeaks.order import NO_POINT, labels_by_peak, rank_of


def core_labels(
    graph: NeighborGraph,
    core: NDArray[np.bool_],
    order: NDArray[np.int32],
    border: bool = True,
) -> NDArray[np.int64]:
    """Labels of core samples that are joined along graph edges, in the order of peak density.

    `order` has the densest sample first. With `border`, a sample that is no core joins its nearest
    core neighbour. The rest is noise.
    """
    component = np.empty(graph.n_samples, np.int32)
    join_cores(graph.indptr, graph.indices, core, component)
    densest = np.empty_like(component)
    densest[component[order[::-1]]] = order[::-1]  # the last to be written is the densest
    peak = np.where(core, densest[component], np.int32(NO_POINT))
    if border:
        position = np.empty(graph.n_samples, np.int64)
        # a core is to the others what a denser sample is in the forest: the first in the row is wanted
        first_denser(graph.indptr, graph.indices, (~core).astype(np.int32), position, 1)
        joins = position >= 0
        peak[joins] = peak[graph.indices[position[joins]]]
    return labels_by_peak(peak, rank_of(order))
