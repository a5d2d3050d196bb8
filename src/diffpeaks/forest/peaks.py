"""Hills of a density on a graph: the forest of nearest denser points, its saddles, and its labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT, NOISE
from diffpeaks._native import follow_links, merge_hills, sort_descending, split_hills
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.recipes import LinkShares


@dataclass(frozen=True, eq=False)
class PeakForest:
    """Each sample linked to its nearest denser neighbour, and the saddles between the hills.

    A root is a sample without a denser neighbour in its row: the top of a hill.

    Attributes
    ----------
    parent : array of shape (n_samples,)
        Nearest denser neighbour; -1 for a root.
    delta : array of shape (n_samples,)
        Distance to it; infinite for a root.
    prominence : array of shape (n_samples,)
        How far a root rises above the saddle to a denser hill, in log density; where flow or size counts, its
        separation from that hill (`HillFlow`, `weighed_by_size`). Infinite for a root that meets no denser
        hill, zero for samples that are no roots.
    saddle : array of shape (n_samples,)
        The sample at which a root's hill meets a denser one; -1 where there is none.
    crossing : array of shape (n_samples,)
        The neighbour of the saddle in the denser hill; -1 where there is none.
    rank : array of shape (n_samples,)
        Position in the order of density: 0 is the densest sample.
    hill : array of shape (n_samples,)
        The root to which the links of the sample lead.
    """

    parent: NDArray[np.int32]
    delta: NDArray[np.float64]
    prominence: NDArray[np.float64]
    saddle: NDArray[np.int32]
    crossing: NDArray[np.int32]
    rank: NDArray[np.int32]
    hill: NDArray[np.int32]

    @property
    def roots(self) -> NDArray[np.int64]:
        """Samples without a parent, densest first."""
        roots = np.flatnonzero(self.parent == NO_POINT)
        return roots[np.argsort(self.rank[roots])]

    @cached_property
    def longest_up(self) -> NDArray[np.float64]:
        """The longest link on the path from each sample to the top of its hill; zero for tops."""
        is_top = self.parent == NO_POINT
        up = np.where(is_top, self.hill, self.parent)
        longest = np.where(is_top, 0.0, self.delta)
        while True:  # twice as far up each time
            longest = np.maximum(longest, longest[up])
            if np.array_equal(up, self.hill):
                return longest
            up = up[up]

    def within(self, max_link: float, n_threads: int = 1) -> PeakForest:
        """Hills along the links that are shorter than that, without saddles."""
        parent, delta, hill = np.empty_like(self.parent), np.empty_like(self.delta), np.empty_like(self.hill)
        links = self.parent, self.delta, self.hill
        known = vars(self).get("longest_up")  # to ask for it takes longer than to do without
        split_hills(*links, known, float(max_link), parent, delta, hill, n_threads)
        return _without_saddles(parent, delta, self.rank, hill)


class DenserLinks(NamedTuple):
    """Each sample's nearest denser neighbour and the distance to it; NO_POINT and infinity if it has none."""

    parent: NDArray[np.int32]
    delta: NDArray[np.float64]


def peak_forest(
    graph: NeighborGraph,
    density: NDArray[np.float64],
    *,
    order: NDArray[np.int32] | None = None,
    max_link: float = np.inf,
    n_threads: int = 1,
) -> PeakForest:
    """Link each sample to its nearest denser neighbour, and find the saddles between hills.

    `order` has the densest sample first; it is needed where ties are broken by a second key
    (`density_order`). Edges of length `max_link` or more do not count. Parents are looked for in a sample's
    own row, saddles along edges in both directions.
    """
    order = density_order(density) if order is None else order
    forest = linked_along(graph, order, n_threads)
    forest = forest if max_link == np.inf else forest.within(max_link, n_threads)
    return flooded(forest, graph, density, max_link, n_threads)


def linked_along(graph: NeighborGraph, order: NDArray[np.int32], n_threads: int = 1) -> PeakForest:
    """Hills along the links to the nearest denser sample in each row, without saddles."""
    rank = rank_of(order)
    parent, delta = denser_neighbors(graph, rank, n_threads)
    return _without_saddles(parent, delta, rank, hills_of(parent))


def _without_saddles(
    parent: NDArray[np.int32], delta: NDArray[np.float64], rank: NDArray[np.int32], hill: NDArray[np.int32]
) -> PeakForest:
    """Hills along links as if none met another."""
    nobody, prominence = np.full(len(rank), NO_POINT, np.int32), np.zeros(len(rank))
    prominence[np.flatnonzero(parent == NO_POINT)] = np.inf
    return PeakForest(parent, delta, prominence, nobody, nobody, rank, hill)


def flooded(
    forest: PeakForest,
    graph: NeighborGraph,
    density: NDArray[np.float64],
    max_link: float = np.inf,
    n_threads: int = 1,
) -> PeakForest:
    """The forest with saddles, along the edges of the graph that are shorter than `max_link`."""
    saddle, crossing = np.empty_like(forest.parent), np.empty_like(forest.parent)
    order = rank_of(forest.rank)  # either is the inverse of the other
    rows, below = graph.passes.rows_between(forest.hill, forest.rank, float(max_link))
    merge_hills(rows, below, order, forest.parent, saddle, crossing, n_threads)
    prominence = prominence_of(density, forest.parent, saddle)
    return replace(forest, prominence=prominence, saddle=saddle, crossing=crossing)


def denser_neighbors(graph: NeighborGraph, rank: NDArray[np.int32], n_threads: int = 1) -> DenserLinks:
    """The nearest denser sample in each row."""
    # rows are sorted, so that the first denser neighbour is the nearest
    linked, first, distance = graph.passes.first_denser(rank, n_threads)
    parent = np.where(linked, first, np.int32(NO_POINT))
    return DenserLinks(parent, np.where(linked, distance, np.inf).astype(np.float64))


def hill_links(graph: NeighborGraph, shares: LinkShares, n_threads: int = 1) -> NeighborGraph:
    """The links of hills: the nearest part of each row, and the mutual neighbours in a larger part."""
    if shares.nearest >= 1:
        return graph
    return graph.short_links(*shares.counts(graph.degrees), n_threads)


def complete_forest(forest: PeakForest, points: PointSet | GivenGraph, n_neighbors: int) -> PeakForest:
    """The forest with the exact nearest denser sample of each root, however far.

    Only the densest sample is left without a parent. The rows of the graph have `n_neighbors` entries.
    """
    roots = forest.roots
    parent, delta = forest.parent.copy(), forest.delta.copy()
    parent[roots], delta[roots] = points.nearest_denser(roots, forest.rank, n_neighbors)
    return replace(forest, parent=parent, delta=delta, hill=hills_of(parent))


def peak_labels(forest: PeakForest, peaks: NDArray[Any]) -> NDArray[np.int64]:
    """Follow the links from each sample to a peak; labels are in the order of the peaks' density.

    The hill of a root that is no peak is merged into the hill across its saddle.
    """
    is_root = forest.parent == NO_POINT
    label = np.empty(len(is_root), np.int64)  # of peaks, then of all that links lead from
    label[peaks[np.argsort(forest.rank[peaks])]] = np.arange(len(peaks))
    if not np.all(is_root[peaks]):
        return label[_peaks_along(np.where(is_root, forest.crossing, forest.parent), peaks)]
    roots = np.flatnonzero(is_root)  # no hill is split: links among them are enough
    place = np.empty(len(is_root), np.int32)
    place[roots] = np.arange(len(roots))
    met = forest.crossing[roots]
    links = np.where(met == NO_POINT, met, place[forest.hill[met]])
    label[roots] = label[roots[_peaks_along(links, place[peaks], roots)]]
    return label[forest.hill]


def _peaks_along(
    links: NDArray[np.int32], peaks: NDArray[Any], samples: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """Where links between some samples, or between all, end if they end at peaks."""
    links[peaks] = peaks
    if np.any(links == NO_POINT):
        first = np.flatnonzero(links == NO_POINT)[0]
        stranded = first if samples is None else samples[first]
        raise ValueError(f"sample {stranded} is no peak, and no link leads from it to one")
    return _ends_of(links)


def hills_of(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """The root to which the links of each sample lead."""
    return _ends_of(np.where(parent == NO_POINT, np.arange(len(parent), dtype=np.int32), parent))


def _ends_of(links: NDArray[np.int32]) -> NDArray[np.int32]:
    ends = np.empty_like(links)
    follow_links(links, ends)
    return ends


def prominence_of(
    density: NDArray[np.float64], parent: NDArray[np.int32], saddle: NDArray[np.int32]
) -> NDArray[np.float64]:
    """How far roots rise above their saddles, in log density; zero for samples that are no roots."""
    prominence = np.zeros(len(density))
    roots = np.flatnonzero(parent == NO_POINT)
    top, low = density[roots], density[saddle[roots]]
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.log(top) - np.log(low)
    height[top == low] = 0.0  # also where both are zero
    height[saddle[roots] == NO_POINT] = np.inf
    prominence[roots] = height
    return prominence


def density_order(
    density: NDArray[np.float64],
    tie_break: NDArray[np.float64] | None = None,
    sort: Callable[[NDArray[np.float64], NDArray[np.int32]], None] = sort_descending,
) -> NDArray[np.int32]:
    """Samples from the densest on: density descending, then `tie_break` descending, then index."""
    order = np.arange(len(density), dtype=np.int32)
    if tie_break is not None:
        sort(tie_break, order)
    sort(density, order)
    return order


def rank_of(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Position of each sample in the order: 0 is the densest."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=order.dtype)
    return rank


def labels_by_peak(peak: NDArray[Any], rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """Labels 0, 1, ... in the order of the peaks' density, from each sample's peak; NOISE without one."""
    is_peak = np.zeros(len(rank) + 1, bool)  # the last entry is that of NO_POINT, which is -1
    is_peak[peak] = True
    peaks = np.flatnonzero(is_peak[:NO_POINT])
    peaks = peaks[np.argsort(rank[peaks])]
    label = np.full(len(rank) + 1, NOISE, np.int64)
    label[peaks] = np.arange(len(peaks))
    return label[peak]
