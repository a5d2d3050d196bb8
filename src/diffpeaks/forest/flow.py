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
from diffpeaks.forest.peaks import PeakForest, rank_of
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
    walk : Walk
        Of the distinct samples.
    first : array of shape (n_distinct,) or None
        The first sample at each point of the walk; None where each sample is distinct.
    """

    hills: PeakForest
    links: NeighborGraph
    density: NDArray[np.float64]
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
        order, log_density = self._by_rank
        merging = JoiningHills(forest.rank[tops], hill[order], log_density)
        rows = self._kept if self.keeps else self._rows
        self._add_flow(merging, rows, hill, max_link)
        self._open_passes(merging, rows, hill, forest.rank, max_link)
        merged, saddles, ends, separation = merging.join(flow_weight, usual_flow)
        saddle, crossing = np.full((2, len(order)), NO_POINT, np.int32)
        prominence = np.zeros(len(order))
        prominence[tops] = np.inf  # those that join no other
        lower = order[merged]
        saddle[lower], crossing[lower], prominence[lower] = order[saddles], order[ends], separation
        return replace(forest, saddle=saddle, crossing=crossing, prominence=prominence)

    def _add_flow(
        self, merging: JoiningHills, rows: FlowRows, hill: NDArray[np.int32], max_link: float
    ) -> None:
        """Add up the flow between hills; the rows that carry it may be large, and are not kept."""
        hill_of_point = hill if self.first is None else hill[self.first]
        carried = rows.walk.flow_rows(hill_of_point, rows.weights, self.walk.sent_by_weight, max_link)
        merging.add_flow(carried.rows, hill_of_point, *carried[1:], rows.kept_flow, self.walk.n_threads)

    def _open_passes(
        self,
        merging: JoiningHills,
        rows: FlowRows,
        hill: NDArray[np.int32],
        rank: NDArray[np.int32],
        max_link: float,
    ) -> None:
        """Find the saddles between hills."""
        between, below = rows.links.rows_between(hill, rank, max_link)
        merging.open_passes(between, hill, rank, below, rows.kept_links, self.walk.n_threads)

    def keep(self) -> None:
        """Keep rows between hills (`kept_rows`): most do not change with the longest link."""
        _ = self._kept

    @property
    def _rows(self) -> FlowRows:
        return FlowRows(self.walk.graph.passes, self.walk.weights, self.links.passes)

    @property
    def keeps(self) -> bool:
        return "_kept" in vars(self)

    @cached_property
    def _kept(self) -> FlowRows:
        hill, _ = self._numbered(self.hills)
        return kept_rows(self.hills, hill, self.links, self.walk, self.first)

    @cached_property
    def _by_rank(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The samples and their log densities, densest first."""
        order = rank_of(self.hills.rank)  # either is the inverse of the other
        with np.errstate(divide="ignore"):
            return order, np.log(self.density[order])

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
