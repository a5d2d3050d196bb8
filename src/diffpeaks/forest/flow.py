"""What is looked at to weigh hills by flow: rows, and what may be kept of them for other longest links."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.tensors import on_host
from diffpeaks._native import KeptFlow, KeptLinks
from diffpeaks.density.walk import Walk
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.passes import EntryValues, HostPasses
from diffpeaks.graph.rows import RaggedRows

if TYPE_CHECKING:
    from diffpeaks.forest.peaks import PeakForest


class FlowRows(NamedTuple):
    """Rows of a walk with the weights of their entries, rows of links, and what is kept of both."""

    walk: HostPasses
    weights: EntryValues
    links: HostPasses
    kept_flow: KeptFlow | None = None
    kept_links: KeptLinks | None = None


def kept_rows(
    hills: PeakForest,
    hill: NDArray[np.int32],
    links: NeighborGraph,
    walk: Walk,
    first: NDArray[np.int32] | None,
) -> FlowRows:
    """Rows on the host, and row by row the flow and the links between hills: a part of the graph's memory.

    The hills are along links of any length, and `hill` is the number of each sample's. Points of the walk
    are the samples named by `first`; None is all.
    """
    longest_up, n_threads = _longest_up(hills), walk.n_threads
    at = slice(None) if first is None else first
    rows, weights = _host_rows(walk.graph), on_host(walk.weights)
    flow = KeptFlow(rows, hill[at], weights, walk.sent_by_weight, longest_up[at], n_threads)
    links_kept = KeptLinks(_host_rows(links), hill, hills.rank, longest_up, n_threads)
    return FlowRows(HostPasses(rows), weights, HostPasses(_host_rows(links)), flow, links_kept)


def _host_rows(graph: NeighborGraph) -> RaggedRows:
    return RaggedRows(graph.indptr, graph.indices, graph.distances)


def _longest_up(forest: PeakForest) -> NDArray[np.float64]:
    """The longest link on the path from each sample to the top of its hill; zero for tops."""
    is_top = forest.parent == NO_POINT
    up = np.where(is_top, forest.hill, forest.parent)
    longest = np.where(is_top, 0.0, forest.delta)
    while True:  # twice as far up each time
        longest = np.maximum(longest, longest[up])
        if np.array_equal(up, forest.hill):
            return longest
        up = up[up]
