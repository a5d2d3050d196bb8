"""Links laid out in the order of density, from which forests for many values of `max_link` are made fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import merge_ranked
from diffpeaks.forest.peaks import PeakForest, denser_neighbors, density_order, prominence_of, rank_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, offsets


class RankedLinks:
    """The entries of a graph, each in the row of its less dense end; samples are numbered by rank.

    It takes about as much memory as the graph.
    """

    def __init__(
        self,
        graph: NeighborGraph,
        density: NDArray[np.float64],
        order: NDArray[np.int32] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._density = density
        self._order = density_order(density) if order is None else order
        self._rank = rank_of(self._order)
        self._parent, self._delta = denser_neighbors(graph, self._rank, n_jobs)
        by_rank = self._parent[self._order]
        self._parent_rank = np.where(by_rank == NO_POINT, np.int32(NO_POINT), self._rank[by_rank])
        self._delta_by_rank = self._delta[self._order]
        first = np.repeat(self._rank, graph.degrees)
        second = self._rank[graph.indices]
        lower, upper = np.maximum(first, second), np.minimum(first, second)
        key = lower.astype(np.int64) * graph.n_samples + upper
        sorted_first = np.argsort(key)
        sorted_first = sorted_first[(lower != upper)[sorted_first]]  # without the samples themselves
        counts = np.bincount(lower[sorted_first], minlength=graph.n_samples)
        self._links = RaggedRows(offsets(counts), upper[sorted_first], graph.distances[sorted_first])

    def forest(self, max_link: float = np.inf) -> PeakForest:
        """What `peak_forest` makes of the graph with that `max_link`."""
        linked = self._delta < max_link
        parent = np.where(linked, self._parent, np.int32(NO_POINT))
        delta = np.where(linked, self._delta, np.inf)
        parent_rank = np.where(self._delta_by_rank < max_link, self._parent_rank, np.int32(NO_POINT))
        hill, saddle, crossing = (np.empty_like(parent_rank) for _ in range(3))
        merge_ranked(self._links, float(max_link), parent_rank, hill, saddle, crossing)
        saddle, crossing = self._of_samples(saddle), self._of_samples(crossing)
        prominence = prominence_of(self._density, parent, saddle)
        hill = self._order[hill][self._rank]
        return PeakForest(parent, delta, prominence, saddle, crossing, self._rank, hill)

    def _of_samples(self, ranks: NDArray[np.int32]) -> NDArray[np.int32]:
        """Ranks in the order of ranks as samples in the order of samples."""
        met = np.flatnonzero(ranks != NO_POINT)
        samples = np.full_like(ranks, NO_POINT)
        samples[self._order[met]] = self._order[ranks[met]]
        return samples
