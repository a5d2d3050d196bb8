"""Passes between hills, weighed by how much of the random walk goes over them.

The height of a pass is that of its highest link. In the plane that tells hills apart; in many dimensions a
link or two between hills of thousands of samples is soon found, and the height says little. What flows over a
pass says more: a hill that sends and receives little over it is one by itself, however high a single link.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.order import NO_POINT, rank_of
from diffpeaks._native import join_hills
from diffpeaks.density.distinct import DistinctSamples
from diffpeaks.density.walk import Walk
from diffpeaks.forest.peaks import PeakForest, peak_labels
from diffpeaks.graph import NeighborGraph
from diffpeaks.progress import stage
from diffpeaks.recipes import DEFAULT


@stage("passes")
def weighed_by_flow(
    forest: PeakForest,
    links: NeighborGraph,
    density: NDArray[np.float64],
    distinct: DistinctSamples,
    walk: Walk,
    max_link: float = np.inf,
    flow_weight: float = 0.0,
    usual_flow: float = DEFAULT.usual_flow,
) -> PeakForest:
    """The forest in which the prominence of a hill is how far it is apart from the hill that it would join.

    That is the rise above the pass between them, in log density, less `flow_weight` log(share / usual_flow),
    the share that goes over the pass of all that the smaller one sends and receives. Hills join one by one,
    the least apart first, and what has joined is one hill in what follows; no prominence is below that of a
    hill that joined before, and none below zero.

    Parameters
    ----------
    forest, links, density : of samples; the forest is along the links
    distinct, walk : of their points
    """
    tops = forest.roots
    hill = peak_labels(forest, tops).astype(np.int32)
    order = rank_of(forest.rank)  # either is the inverse of the other
    found: dict[str, NDArray[Any]] = {
        "saddle": forest.saddle.copy(),
        "crossing": forest.crossing.copy(),
        "prominence": forest.prominence.copy(),
    }
    for name, nothing in (("saddle", NO_POINT), ("crossing", NO_POINT), ("prominence", np.inf)):
        found[name][tops] = nothing  # until they join
    join_hills(
        walk.graph.indptr,
        walk.graph.indices,
        walk.graph.distances,
        walk.weights.astype(np.float64, copy=False),
        distinct.masses / walk.volume,
        np.ascontiguousarray(distinct.of_first(hill)),
        links.indptr,
        links.indices,
        links.distances,
        max_link,
        order,
        forest.rank,
        hill[order],
        _log_of(density[order]),
        forest.rank[tops],
        flow_weight,
        usual_flow,
        *found.values(),
    )
    return replace(forest, **found)


def _log_of(density: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(density)
