"""The density of the samples and its hills: what a fit knows before the cut, and the forests for cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import n_threads
from diffpeaks.cuts import Cut, select_peaks
from diffpeaks.cuts.noise import Clusters
from diffpeaks.density import GraphDensity, KernelDiffusion
from diffpeaks.density.samples import Isolation, Smoothing, common_length, smoothed_samples
from diffpeaks.density.walk import Walk
from diffpeaks.forest.flow import HillFlow
from diffpeaks.forest.isolated import with_isolated_joined
from diffpeaks.forest.peaks import (
    PeakForest,
    complete_forest,
    density_order,
    flooded,
    hill_links,
    linked_along,
    peak_labels,
)
from diffpeaks.forest.size import weighed_by_size
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import DistinctSamples, GivenGraph, PointSet
from diffpeaks.progress import stage
from diffpeaks.recipes import Recipe, Settings


class Tried(NamedTuple):
    """A number of neighbours, and the share of the samples that the largest cluster then has."""

    n_neighbors: int
    largest_share: float


@dataclass(frozen=True, eq=False)
class Landscape:
    """All that a cut does not decide.

    Attributes
    ----------
    points : PointSet or GivenGraph
        All samples, as they were given.
    distinct : DistinctSamples
        The distinct samples, where the density sees them: after smoothing.
    estimator : GraphDensity
        Fitted to these.
    isolation : Isolation
    smoothing : Smoothing or None
    settings : Settings
        Of the recipe, for the intrinsic dimension of the samples.
    recipe : Recipe
    seed : int
        For the random pairs whose distance is measured.
    n_jobs : int or None
    tried : Tried or None
        More neighbours than the density has, if they were tried and told too little apart.
    """

    points: PointSet | GivenGraph
    distinct: DistinctSamples
    estimator: GraphDensity
    isolation: Isolation
    smoothing: Smoothing | None
    settings: Settings
    recipe: Recipe
    seed: int = 0
    n_jobs: int | None = None
    tried: Tried | None = None

    @cached_property
    def n_threads(self) -> int:
        return n_threads(self.n_jobs)

    @cached_property
    def graph(self) -> NeighborGraph:
        """The graph of the samples."""
        return self.distinct.graph_of_samples(self.estimator.graph_)

    @cached_property
    def density(self) -> NDArray[np.float64]:
        return self.distinct.of_samples(self.estimator.density_)

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """All samples, the densest first."""
        return density_order(self.density, self.estimator.tie_break, self.graph.passes.sort_descending)

    @cached_property
    def links(self) -> NeighborGraph:
        """The short links along which hills are linked."""
        links = hill_links(self.estimator.graph_, self.settings.links, self.n_threads)
        return self.graph if links is self.estimator.graph_ else self.distinct.graph_of_samples(links)

    @cached_property
    def walk(self) -> Walk:
        """The walk whose mass the density is."""
        if isinstance(self.estimator, KernelDiffusion):
            return self.estimator.walk()
        raise ValueError(
            f"flow asks for the random walk of the density, but {type(self.estimator).__name__} has none; "
            "use KernelDiffusion, or take flow_weight=0"
        )

    @cached_property
    def automatic_cut(self) -> Cut:
        """The recipe's bound on prominence, what counts beside height, and the isolation's bound on links."""
        has_walk = isinstance(self.estimator, KernelDiffusion)
        flow_weight = self.settings.flow_weight if has_walk else 0.0
        return Cut(
            max_link=self.isolation.max_link,
            min_prominence=self.settings.rise,
            flow_weight=flow_weight,
            size_weight=self.settings.size_weight,
        )

    def clusters(self, cut: Cut, forest: PeakForest) -> Clusters:
        """The clusters that a cut takes from its forest, before noise is told apart."""
        if cut == self.automatic_cut and forest is self.automatic_forest:
            return self.automatic_clusters
        return self._taken_by(cut, forest)

    @cached_property
    def automatic_clusters(self) -> Clusters:
        """Of the automatic cut."""
        return self._taken_by(self.automatic_cut, self.automatic_forest)

    def _taken_by(self, cut: Cut, forest: PeakForest) -> Clusters:
        peaks = select_peaks(forest, self.density, cut)
        return Clusters(peak_labels(forest, peaks), peaks)

    @cached_property
    def largest_share(self) -> float:
        """The share of the samples, by weight, that the largest cluster of the automatic cut has."""
        labels = self.distinct.of_first(self.automatic_clusters.labels)
        sizes = np.bincount(labels, self.distinct.totals)
        return float(sizes.max() / sizes.sum())

    def forest(self, cut: Cut) -> PeakForest:
        """The forest from which a cut takes its peaks, with saddles weighed as the cut says."""
        if cut.is_of_all_samples:
            return self.complete_forest
        if replace(cut, min_prominence=self.automatic_cut.min_prominence) == self.automatic_cut:
            return self.automatic_forest
        return self._hills_for(cut)

    def forest_for_labels(self, cut: Cut) -> PeakForest:
        """The same, without saddles where the cut does not need them."""
        if cut.is_of_all_samples and not cut.min_prominence:
            return self.denser_samples
        return self.forest(cut)

    @cached_property
    def automatic_forest(self) -> PeakForest:
        """The forest of the automatic cut; among strangers, isolated samples join clusters they resemble."""
        forest = self._hills_for(self.automatic_cut)
        if self.isolation.kind != "strangers" or not self.recipe.join_lone:
            return forest
        points = self.distinct.points
        if isinstance(points, GivenGraph) or not points.can_move:
            return forest
        with stage("lone samples"):
            peaks = select_peaks(forest, self.density, self.automatic_cut)
            length = common_length(points, self.seed)
            return with_isolated_joined(forest, peaks, self.distinct, length)

    def _hills_for(self, cut: Cut) -> PeakForest:
        """Hills along the links that a cut leaves, told apart by height, and by flow or size beside it."""
        if cut.size_weight:
            distinct = slice(None) if self.distinct.first is None else self.distinct.first
            forest = self.forest_within(cut.max_link)
            return weighed_by_size(forest, distinct, cut.size_weight, self._usual_size)
        if not cut.flow_weight:
            return self.forest_within(cut.max_link)
        with stage("hills"):
            flow, forest = self._flow, self._linked
            if cut.max_link != np.inf:
                forest = forest.within(cut.max_link, self.n_threads)
        with stage("flow"):
            return flow.weighed(forest, cut.max_link, cut.flow_weight, self.recipe.usual_flow)

    @property
    def _usual_size(self) -> float:
        """The recipe's number of neighbour lists, in samples."""
        return self.recipe.usual_size * float(self.estimator.graph_.degrees.mean())

    def forest_within(self, max_link: float) -> PeakForest:
        """Hills along the links that are shorter than that, with saddles by height."""
        if max_link == np.inf:
            return self._forest_of_all_links
        with stage("hills"):
            return self._flooded(self._linked.within(max_link, self.n_threads), self.links, max_link)

    @cached_property
    def _forest_of_all_links(self) -> PeakForest:
        with stage("hills"):
            return self._flooded(self._linked, self.links)

    @cached_property
    def _linked(self) -> PeakForest:
        """Hills along links of any length, without saddles: what most cuts begin with."""
        return linked_along(self.links, self.order, self.n_threads)

    @cached_property
    def _flow(self) -> HillFlow:
        return HillFlow(self._linked, self.links, self.density, self.order, self.walk, self.distinct.first)

    def keep_flow(self) -> None:
        """Keep the flow between hills, so that cuts with other longest links take less time."""
        with stage("flow"):
            self._flow.keep()

    @cached_property
    def denser_samples(self) -> PeakForest:
        """Each sample linked to its nearest denser one, at any distance; without saddles if not known."""
        if "complete_forest" in vars(self):
            return self.complete_forest
        with stage("hills"):
            forest = self._linked_along_graph()
        return self._completed(forest)

    @cached_property
    def complete_forest(self) -> PeakForest:
        """The same with the saddles between hills."""
        with stage("hills"):
            forest = self._flooded(self._linked_along_graph(), self.graph)
        if not self.knows_denser_samples:
            return self._completed(forest)
        known = self.denser_samples
        return replace(forest, parent=known.parent, delta=known.delta, hill=known.hill)

    @property
    def knows_denser_samples(self) -> bool:
        """Whether the nearest denser samples were asked for before."""
        return "denser_samples" in vars(self) or "complete_forest" in vars(self)

    def _linked_along_graph(self) -> PeakForest:
        """Along all neighbours: the nearest denser sample may be none that hills are linked along."""
        return linked_along(self.graph, self.order, self.n_threads)

    def _flooded(self, forest: PeakForest, graph: NeighborGraph, max_link: float = np.inf) -> PeakForest:
        return flooded(forest, graph, self.density, max_link, self.n_threads)

    def _completed(self, forest: PeakForest) -> PeakForest:
        return complete_forest(forest, self.smoothed_points, self.graph.n_neighbors or 1)

    @property
    def smoothed_points(self) -> PointSet | GivenGraph:
        """All samples where the density sees them."""
        return self.points if self.smoothing is None else self.distinct.all_points()

    def moved(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """New samples where the density sees them: after smoothing."""
        if self.smoothing is None:
            return X
        return smoothed_samples(X, self._given_points, self.distinct, self.smoothing)

    @cached_property
    def _given_points(self) -> PointSet:
        """The distinct samples before smoothing."""
        points = self.points.searched()
        return points if self.distinct.first is None else points.restricted(self.distinct.first)
