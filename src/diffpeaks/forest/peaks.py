"""Hills of a density on a graph: the forest of nearest denser points, and its labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.order import NO_POINT, NOISE, density_order, labels_by_peak, rank_of
from diffpeaks._base.validation import n_threads
from diffpeaks._native import first_denser, follow_links, mark_border, merge_hills, short_links
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.progress import stage
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
        How far a root rises above the saddle to a denser hill, in log density; where flow counts, how far
        it is apart (`flow.weighed_by_flow`). Infinite where it meets none, zero for samples that are no
        roots.
    saddle : array of shape (n_samples,)
        The sample at which a root's hill meets a denser one; -1 where there is none.
    crossing : array of shape (n_samples,)
        The sample of the denser hill that is touched there; -1 where there is none.
    rank : array of shape (n_samples,)
        Position in the order of density: 0 is the densest sample.
    hill : array of shape (n_samples,)
        The root that the links of each sample lead to.
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


@stage("hills")
def peak_forest(
    graph: NeighborGraph,
    density: NDArray[np.float64],
    *,
    tie_break: NDArray[np.float64] | None = None,
    max_link: float = np.inf,
    n_jobs: int | None = None,
) -> PeakForest:
    """Link each sample to its nearest denser neighbour and flood the hills.

    Edges of length `max_link` or more are no edges. Parents are looked for in a sample's own row;
    saddles along edges in both directions.
    """
    order = density_order(density, tie_break)
    rank = rank_of(order)
    parent, delta = denser_neighbors(graph, rank, n_jobs)
    too_long = delta >= max_link
    parent[too_long], delta[too_long] = NO_POINT, np.inf
    saddle, crossing = np.empty_like(parent), np.empty_like(parent)
    merge_hills(graph, float(max_link), order, parent, saddle, crossing, n_threads(n_jobs))
    prominence = prominence_of(density, parent, saddle)
    return PeakForest(parent, delta, prominence, saddle, crossing, rank, hills_of(parent))


def denser_neighbors(
    graph: NeighborGraph, rank: NDArray[np.int32], n_jobs: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The nearest denser sample in each row and the distance to it; NO_POINT and infinity without one."""
    position = np.empty(graph.n_samples, np.int64)
    first_denser(graph, rank, position, n_threads(n_jobs))
    # rows are sorted, so that the first denser neighbour is the nearest
    linked = position >= 0
    parent = np.where(linked, graph.indices[position], np.int32(NO_POINT))
    return parent, np.where(linked, graph.distances[position], np.inf).astype(np.float64)


def hill_links(graph: NeighborGraph, shares: LinkShares, n_jobs: int | None = None) -> NeighborGraph:
    """The nearest share of each row, and within the mutual share the neighbours that are as near to it."""
    if shares.nearest >= 1:
        return graph
    nearest, within = shares.counts(graph.degrees)
    reach = graph.distances[graph.indptr[:-1] + within - 1]
    return graph.with_rows(*short_links(graph, nearest, within, reach, n_threads(n_jobs)))


def complete_forest(forest: PeakForest, points: PointSet | GivenGraph, n_neighbors: int) -> PeakForest:
    """The forest with the exact nearest denser sample of each root, however far.

    Only the densest sample keeps no parent. `n_neighbors` is how many the graph has looked at.
    """
    roots = forest.roots
    parent, delta = forest.parent.copy(), forest.delta.copy()
    parent[roots], delta[roots] = points.nearest_denser(roots, forest.rank, n_neighbors)
    return replace(forest, parent=parent, delta=delta, hill=hills_of(parent))


def peak_labels(forest: PeakForest, peaks: NDArray[Any]) -> NDArray[np.int64]:
    """Follow the links from each sample to a peak; labels are in the order of the peaks' density.

    A root that is no peak hands its hill over the saddle to the hill that it touches there.
    """
    is_root = forest.parent == NO_POINT
    are_roots = bool(np.all(is_root[peaks]))
    if are_roots:  # hills stay whole, so that links among their tops are enough
        links = np.arange(len(is_root), dtype=np.int32)
        roots = np.flatnonzero(is_root)
        met = forest.crossing[roots]
        links[roots] = np.where(met == NO_POINT, np.int32(NO_POINT), forest.hill[met])
    else:
        links = np.where(is_root, forest.crossing, forest.parent)
    links[peaks] = peaks
    if np.any(links == NO_POINT):
        stranded = np.flatnonzero(links == NO_POINT)[0]
        raise ValueError(f"sample {stranded} is no peak, and no link leads from it to one")
    ends = _ends_of(links)
    return labels_by_peak(ends[forest.hill] if are_roots else ends, forest.rank)


def hills_of(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """The root that the links of each sample lead to."""
    return _ends_of(np.where(parent == NO_POINT, np.arange(len(parent), dtype=np.int32), parent))


def _ends_of(links: NDArray[np.int32]) -> NDArray[np.int32]:
    ends = np.empty_like(links)
    follow_links(links, ends)
    return ends


def without_halo(
    labels: NDArray[np.int64],
    graph: NeighborGraph,
    density: NDArray[np.float64],
    max_link: float = np.inf,
) -> NDArray[np.int64]:
    """Labels with NOISE for samples less dense than the densest border sample of their cluster."""
    return np.where(density < border_density(labels, graph, density, max_link)[labels], NOISE, labels)


def border_density(
    labels: NDArray[np.int64],
    graph: NeighborGraph,
    density: NDArray[np.float64],
    max_link: float = np.inf,
) -> NDArray[np.float64]:
    """The density of the densest border sample of each cluster; minus infinity without one.

    A border sample has a neighbour, in either direction and nearer than `max_link`, in another
    cluster.
    """
    border = np.zeros(len(labels), bool)
    mark_border(graph, float(max_link), labels.astype(np.int32), border)
    highest_border = np.full(labels.max() + 1, -np.inf)
    np.maximum.at(highest_border, labels[border], density[border])
    return highest_border


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
