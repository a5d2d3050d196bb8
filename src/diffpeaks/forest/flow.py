"""Hills that are told apart by how much of the walk crosses the saddle between them, beside its height."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.tensors import on_host
from diffpeaks._native import JoiningHills, KeptFlow, KeptLinks
from diffpeaks.density.walk import Walk
from diffpeaks.forest.peaks import PeakForest, rank_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.passes import EntryValues, HostPasses


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
        order, n_threads = self._order, self.walk.n_threads
        merging = JoiningHills(forest.rank[tops], hill[order], self._log_density_by_rank)
        kept_flow, kept_links = self._kept if self.keeps else (None, None)
        # the flow between hills
        hill_of_point = self._of_points(hill)
        passes, weights = self._walk_passes
        carried = passes.flow_rows(hill_of_point, weights, self.walk.sent_by_weight, max_link)
        merging.add_flow(carried.rows, hill_of_point, *carried[1:], kept_flow, n_threads)
        # the saddles between them
        rows, below = self._link_passes.rows_between(hill, forest.rank, max_link)
        merging.open_passes(rows, hill, forest.rank, below, kept_links, n_threads)
        merged, saddles, ends, separation = merging.join(flow_weight, usual_flow)
        saddle, crossing = np.full((2, len(order)), NO_POINT, np.int32)
        prominence = np.zeros(len(order))
        prominence[tops] = np.inf  # those that join no other
        lower = order[merged]
        saddle[lower], crossing[lower], prominence[lower] = order[saddles], order[ends], separation
        return replace(forest, saddle=saddle, crossing=crossing, prominence=prominence)

    def keep(self) -> None:
        """Keep the flow and the links between hills, row by row: it takes a part of the graph's memory.

        Hills under another longest link are then weighed faster: most rows do not change with it.
        """
        if not self.keeps:
            _ = self._kept

    @property
    def keeps(self) -> bool:
        return "_kept" in vars(self)

    @cached_property
    def _kept(self) -> tuple[KeptFlow, KeptLinks]:
        hill, _ = self._numbered(self.hills)
        walk, longest_up, n_threads = self.walk, self.hills.longest_up, self.walk.n_threads
        carried = walk.graph, self._of_points(hill), on_host(walk.weights), walk.sent_by_weight
        flow = KeptFlow(*carried, self._of_points(longest_up), n_threads)
        return flow, KeptLinks(self.links, hill, self.hills.rank, longest_up, n_threads)

    def _numbered(self, forest: PeakForest) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each sample's hill, and the tops by number: first those under links of any length."""
        is_new = (forest.parent == NO_POINT) & (self.hills.parent != NO_POINT)
        tops = np.concatenate([self.hills.roots, np.flatnonzero(is_new)])
        number = np.empty(len(forest.rank), np.int32)
        number[tops] = np.arange(len(tops), dtype=np.int32)
        return number[forest.hill], tops

    # rows that are kept lie on the host
    @property
    def _walk_passes(self) -> tuple[HostPasses, EntryValues]:
        """Over the rows of the walk, and the weights of their entries."""
        graph, weights = self.walk.graph, self.walk.weights
        return (HostPasses(graph), on_host(weights)) if self.keeps else (graph.passes, weights)

    @property
    def _link_passes(self) -> HostPasses:
        return HostPasses(self.links) if self.keeps else self.links.passes

    def _of_points(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.first is None else values[self.first]

    @cached_property
    def _order(self) -> NDArray[np.int32]:
        return rank_of(self.hills.rank)  # either is the inverse of the other

    @cached_property
    def _log_density_by_rank(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.density[self._order])
