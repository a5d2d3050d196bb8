"""Hills that are told apart by what flows over the passes between them, beside the height of these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import JoiningHills, KeptFlow, KeptLinks
from diffpeaks.density.walk import Walk
from diffpeaks.forest.peaks import PeakForest, rank_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.passes import HostPasses
from diffpeaks.neighbors import DistinctSamples
from diffpeaks.neighbors.gpu.devices import on_host


@dataclass(frozen=True, eq=False)
class HillFlow:
    """What a walk carries between hills, and the links over which they touch.

    Attributes
    ----------
    hills : PeakForest
        Along links of any length.
    links : NeighborGraph
        Of samples; hills are linked along it.
    density : array of shape (n_samples,)
    distinct : DistinctSamples
    walk : Walk
        Of their points.
    """

    hills: PeakForest
    links: NeighborGraph
    density: NDArray[np.float64]
    distinct: DistinctSamples
    walk: Walk

    def weighed(
        self, forest: PeakForest, max_link: float, flow_weight: float, usual_flow: float
    ) -> PeakForest:
        """The forest in which the prominence of a hill is how far it is apart from the one it would join.

        The forest is along links below `max_link`, and so does the walk go. Apart is the rise above the pass
        between two hills, in log density, less `flow_weight` log(share / usual_flow), the share that goes
        over the pass of all that the smaller one sends and receives. Hills join one by one, the least apart
        first, and what has joined is one hill in what follows; no prominence is below that of a hill that
        joined before, and none below zero.
        """
        hill, tops = self._numbered(forest)
        order, n_threads = self._order, self.walk.n_threads
        hills = JoiningHills(forest.rank[tops], hill[order], self._log_density_by_rank)
        kept_flow, kept_links = self._kept if self.keeps else (None, None)
        flow, links = self._passes
        sending = self._of_points(hill)
        carried = flow.flow_rows(sending, self._weights, self._sent_by_weight, max_link)
        hills.add_flow(carried.rows, sending, *carried[1:], kept_flow, n_threads)
        rows, below = links.rows_between(hill, forest.rank, max_link)
        hills.open_passes(rows, hill, forest.rank, below, kept_links, n_threads)
        joined, passes, ends, apart = hills.join(flow_weight, usual_flow)
        saddle, crossing, prominence = forest.saddle.copy(), forest.crossing.copy(), forest.prominence.copy()
        saddle[tops], crossing[tops], prominence[tops] = NO_POINT, NO_POINT, np.inf  # who joins nobody
        lower = order[joined]
        saddle[lower], crossing[lower], prominence[lower] = order[passes], order[ends], apart
        return replace(forest, saddle=saddle, crossing=crossing, prominence=prominence)

    def keep(self) -> None:
        """Keep row by row what goes from hill to hill: it takes a part of the graph's memory.

        Afterwards hills under another longest link are weighed without a look at the rows that it leaves as
        they are, which are most.
        """
        if not self.keeps:
            _ = self._kept

    @property
    def keeps(self) -> bool:
        return "_kept" in vars(self)

    @cached_property
    def _kept(self) -> tuple[KeptFlow, KeptLinks]:
        hill, _ = self._numbered(self.hills)
        longest_up, n_threads = _longest_up(self.hills), self.walk.n_threads
        walked = self.walk.graph, self._of_points(hill), on_host(self.walk.weights), self._sent_by_weight
        flow = KeptFlow(*walked, self._of_points(longest_up), n_threads)
        return flow, KeptLinks(self.links, hill, self.hills.rank, longest_up, n_threads)

    def _numbered(self, forest: PeakForest) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each sample's hill, and the tops by number: first those under links of any length."""
        is_new = (forest.parent == NO_POINT) & (self.hills.parent != NO_POINT)
        tops = np.concatenate([self.hills.roots, np.flatnonzero(is_new)])
        number = np.empty(len(forest.rank), np.int32)
        number[tops] = np.arange(len(tops), dtype=np.int32)
        return number[forest.hill], tops

    @property
    def _passes(self) -> tuple[HostPasses, HostPasses]:
        """Over the rows of the walk and over the links: what is kept, the host keeps."""
        graphs = self.walk.graph, self.links
        flow, links = ((HostPasses(graph) if self.keeps else graph.passes) for graph in graphs)
        return flow, links

    @property
    def _weights(self) -> Any:
        return on_host(self.walk.weights) if self.keeps else self.walk.weights

    def _of_points(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.distinct.first is None else values[self.distinct.first]

    @cached_property
    def _sent_by_weight(self) -> NDArray[np.float64]:
        masses = 1.0 if self.distinct.weights is None else self.distinct.weights
        return np.asarray(masses / self.walk.volume)

    @cached_property
    def _order(self) -> NDArray[np.int32]:
        return rank_of(self.hills.rank)  # either is the inverse of the other

    @cached_property
    def _log_density_by_rank(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.density[self._order])


def _longest_up(forest: PeakForest) -> NDArray[np.float64]:
    """The longest link from each sample up to the top of its hill; zero for tops."""
    is_top = forest.parent == NO_POINT
    up = np.where(is_top, forest.hill, forest.parent)
    longest = np.where(is_top, 0.0, forest.delta)
    while True:  # twice as far up each time
        longest = np.maximum(longest, longest[up])
        if np.array_equal(up, forest.hill):
            return longest
        up = up[up]
