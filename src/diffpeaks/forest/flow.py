"""Passes between hills, weighed by how much of the random walk goes over them.

The height of a pass is that of its highest link. In the plane that tells hills apart; in many dimensions a
link or two between hills of thousands of samples is soon found, and the height says little. What flows over a
pass says more: a hill that sends and receives little over it is one by itself, however high a single link.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.order import NO_POINT, rank_of
from diffpeaks._native import JoiningHills
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
    hills = JoiningHills(forest.rank[tops], hill[order], _log_of(density[order]))
    sent_by_weight = distinct.masses / walk.volume
    of_points = np.ascontiguousarray(distinct.of_first(hill))
    hills.add_flow(walk.graph, max_link, walk.weights, sent_by_weight, of_points)
    hills.open_passes(links, max_link, forest.rank)
    joined, passes, ends, apart = hills.join(flow_weight, usual_flow)
    saddle, crossing, prominence = forest.saddle.copy(), forest.crossing.copy(), forest.prominence.copy()
    saddle[tops], crossing[tops], prominence[tops] = NO_POINT, NO_POINT, np.inf  # who joins nobody
    tops_joined = order[joined]
    saddle[tops_joined], crossing[tops_joined], prominence[tops_joined] = order[passes], order[ends], apart
    return replace(forest, saddle=saddle, crossing=crossing, prominence=prominence)


def _log_of(density: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(density)
