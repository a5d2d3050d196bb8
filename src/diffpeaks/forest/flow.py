"""Hills that are told apart by how much of the walk crosses the saddle between them, beside its height."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.tensors import on_host
from diffpeaks._native import JoiningHills, KeptFlow, KeptLinks
from diffpeaks.density.walk import Walk
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.passes import EntryValues, HostPasses
from diffpeaks.graph.rows import RaggedRows


@dataclass(frozen=True, eq=False)
class HillFlow:
    """What a walk carries from hill to hill, and the links over which hills touch.

    Attributes
    ----------
    hills : PeakForest
        Along links of any length.
    links : NeighborGraph
        Of samples; hills are linked along it.
    density : array of shape (n_samples,)
    order : array of shape (n_samples,)
        The samples, densest first.
    walk : Walk
        Of the distinct samples.
    first : array of shape (n_distinct,) or None
        The first sample at each point of the walk; None where each sample is distinct.
    """

    hills: PeakForest
    links: NeighborGraph
    density: NDArray[np.float64]
    order: NDArray[np.int32]
    walk: Walk
    first: NDArray[np.int32] | None = None

    def weighed(
        self, forest: PeakForest, max_link: float, flow_weight: float, usual_flow: float
    ) -> PeakForest:
        """The forest in which the prominence of a hill is its separation from the hill that it would join.

        The forest is along links below `max_link`, and only such links carry flow. The separation of two
        hills is the rise above the saddle between them, in log density, less `flow_weight` log(share /
        usual_flow): the share that crosses the saddle of all that the smaller hill sends and receives. Hills
        are merged one by one, the least separated first; merged hills are one hill in what follows. No
        prominence is below that of a hill that was merged before, and none below zero.
        """
        hill, tops = self._numbered(forest)
        order, walk, n_threads = self.order, self.walk, self.walk.n_threads
        merging = JoiningHills(forest.rank[tops], hill[order], self._log_density)
        rows = self._kept if self.keeps else FlowRows(walk.graph.passes, walk.weights, self.links.passes)
        # the flow between hills
        hill_of_point = hill if self.first is None else hill[self.first]
        carried = hill_of_point, rows.weights, walk.sent_by_weight, max_link, rows.kept_flow, n_threads
        rows.walk.add_flow(merging, *carried)
        # the saddles between them
        between, below = rows.links.rows_between(hill, forest.rank, max_link)
        merging.open_passes(between, hill, forest.rank, below, rows.kept_links, n_threads)
        del between  # it may be large, and joining needs memory of its own
        merged, saddles, ends, separation = merging.join(flow_weight, usual_flow)
        saddle, crossing = np.full((2, len(order)), NO_POINT, np.int32)
        prominence = np.zeros(len(order))
        prominence[tops] = np.inf  # those that join no other
        lower = order[merged]
        saddle[lower], crossing[lower], prominence[lower] = order[saddles], order[ends], separation
        return replace(forest, saddle=saddle, crossing=crossing, prominence=prominence)

    def keep(self) -> None:
        """Keep rows between hills (`kept_rows`): most do not change with the longest link."""
        _ = self._kept

    @property
    def keeps(self) -> bool:
        return "_kept" in vars(self)

    @cached_property
    def _kept(self) -> FlowRows:
        hill, _ = self._numbered(self.hills)
        return kept_rows(self.hills, hill, self.links, self.walk, self.first)

    @cached_property
    def _log_density(self) -> NDArray[np.float64]:
        """Of the samples, densest first."""
        with np.errstate(divide="ignore"):
            return np.log(self.density[self.order])

    def _numbered(self, forest: PeakForest) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each sample's hill, and the tops by number: first those under links of any length."""
        is_new = (forest.parent == NO_POINT) & (self.hills.parent != NO_POINT)
        tops = np.concatenate([self.hills.roots, np.flatnonzero(is_new)])
        number = np.empty(len(forest.rank), np.int32)
        number[tops] = np.arange(len(tops), dtype=np.int32)
        return number[forest.hill], tops


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
    longest_up, n_threads = hills.longest_up, walk.n_threads
    at = slice(None) if first is None else first
    rows, weights = _host_rows(walk.graph), on_host(walk.weights)
    flow = KeptFlow(rows, hill[at], weights, walk.sent_by_weight, longest_up[at], n_threads)
    links_kept = KeptLinks(_host_rows(links), hill, hills.rank, longest_up, n_threads)
    return FlowRows(HostPasses(rows), weights, HostPasses(_host_rows(links)), flow, links_kept)


def _host_rows(graph: NeighborGraph) -> RaggedRows:
    return RaggedRows(graph.indptr, graph.indices, graph.distances)
