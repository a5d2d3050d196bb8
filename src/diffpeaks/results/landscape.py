"""The density of samples and its hills: what a fit knows before it is cut, and the forests of its cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import n_threads
from diffpeaks.cuts import Cut, select_peaks
from diffpeaks.density import GraphDensity, KernelDiffusion
from diffpeaks.density.samples import Isolation, Smoothing, common_length, smoothed_samples
from diffpeaks.density.walk import Walk
from diffpeaks.forest.flow import HillFlow
from diffpeaks.forest.lone import with_lone_joined
from diffpeaks.forest.peaks import (
    PeakForest,
    complete_forest,
    density_order,
    flooded,
    hill_links,
    linked_along,
)
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import DistinctSamples, GivenGraph, PointSet
from diffpeaks.progress import stage
from diffpeaks.recipes import Recipe, Settings


@dataclass(frozen=True, eq=False)
class Landscape:
    """The density of samples on a graph: all that a cut does not decide.

    Attributes
    ----------
    points : PointSet or GivenGraph
        The samples as they were given.
    distinct : DistinctSamples
        The distinct ones of them, where the density sees them.
    estimator : GraphDensity
        Their density.
    isolation : Isolation
    smoothing : Smoothing or None
    settings : Settings
        What the recipe says in the dimensions of the samples.
    recipe : Recipe
    seed : int
        Of what the automatic cut draws.
    n_jobs : as it was given
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
        return density_order(self.density, self.estimator.tie_break)

    @cached_property
    def links(self) -> NeighborGraph:
        """The graph along which hills are linked."""
        found = hill_links(self.estimator.graph_, self.settings.links, self.n_threads)
        return self.graph if found is self.estimator.graph_ else self.distinct.graph_of_samples(found)

    @cached_property
    def automatic_cut(self) -> Cut:
        """Hills by their rise, and links by the distance of random pairs where far samples are strangers."""
        has_walk = isinstance(self.estimator, KernelDiffusion)
        flow_weight = self.settings.flow_weight if has_walk else 0.0
        return Cut(None, self.isolation.max_link, self.settings.rise, flow_weight=flow_weight)

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
    def denser_samples(self) -> PeakForest:
        """Each sample linked to its nearest denser one, however far; saddles need not be known."""
        if "complete_forest" in vars(self):
            return self.complete_forest
        # along all neighbours: what links of hills leave out may be the nearest denser sample
        with stage("hills"):
            forest = self._linked(self.graph)
        return self._completed(forest)

    @cached_property
    def complete_forest(self) -> PeakForest:
        """The same with the saddles between hills."""
        with stage("hills"):
            forest = self._flooded(self._linked(self.graph), self.graph)
        if not self.knows_denser_samples:
            return self._completed(forest)
        known = self.denser_samples
        return replace(forest, parent=known.parent, delta=known.delta, hill=known.hill)

    def _completed(self, forest: PeakForest) -> PeakForest:
        return complete_forest(forest, self.seen_points, self.graph.n_neighbors or 1)

    @property
    def knows_denser_samples(self) -> bool:
        """Whether they were asked for before."""
        return "denser_samples" in vars(self) or "complete_forest" in vars(self)

    @property
    def seen_points(self) -> PointSet | GivenGraph:
        """The samples where the density sees them."""
        return self.points if self.smoothing is None else self.distinct.all_points()

    def forest(self, cut: Cut) -> PeakForest:
        """The forest that a cut takes peaks from, its saddles weighed as the cut says."""
        if cut.is_of_all_samples:
            return self.complete_forest
        if replace(cut, min_prominence=self.automatic_cut.min_prominence) == self.automatic_cut:
            return self.automatic_forest
        return self._made(cut)

    def forest_for_labels(self, cut: Cut) -> PeakForest:
        """The same, without saddles where the cut leaves them aside."""
        if cut.is_of_all_samples and not cut.min_prominence:
            return self.denser_samples
        return self.forest(cut)

    def forest_within(self, max_link: float) -> PeakForest:
        """The forest along links that are shorter than that."""
        if max_link == np.inf:
            return self._forest_of_all_links
        with stage("hills"):
            return self._flooded(self._linked_by_all.within(max_link), self.links, max_link)

    # what most cuts begin with is kept
    @cached_property
    def _forest_of_all_links(self) -> PeakForest:
        with stage("hills"):
            return self._flooded(self._linked_by_all, self.links)

    @cached_property
    def automatic_forest(self) -> PeakForest:
        """The forest of the automatic cut; among strangers samples join clusters that they resemble."""
        forest = self._made(self.automatic_cut)
        if not (self.isolation.are_strangers and self.recipe.join_lone):
            return forest
        points = self.distinct.points
        if isinstance(points, GivenGraph) or not points.can_move:
            return forest
        with stage("lone samples"):
            peaks = self.peaks(forest, self.automatic_cut)
            length = common_length(points, self.seed)
            return with_lone_joined(forest, peaks, self.distinct, length)

    def keep_flow(self) -> None:
        """Keep what flows between hills: who looks at one longest link after the other waits for less."""
        with stage("flow"):
            self._flow.keep()

    def _made(self, cut: Cut) -> PeakForest:
        if not cut.flow_weight:
            return self.forest_within(cut.max_link)
        with stage("hills"):
            flow, forest = self._flow, self._linked_by_all.within(cut.max_link)
        with stage("flow"):
            return flow.weighed(forest, cut.max_link, cut.flow_weight, self.recipe.usual_flow)

    @cached_property
    def _flow(self) -> HillFlow:
        return HillFlow(self._linked_by_all, self.links, self.density, self.walk, self.distinct.first)

    def peaks(self, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        """The peaks that a cut leaves of its forest, densest first."""
        return select_peaks(forest, self.density, cut)

    @cached_property
    def _linked_by_all(self) -> PeakForest:
        return self._linked(self.links)

    def _linked(self, graph: NeighborGraph) -> PeakForest:
        return linked_along(graph, self.order, self.n_threads)

    def _flooded(self, forest: PeakForest, graph: NeighborGraph, max_link: float = np.inf) -> PeakForest:
        return flooded(forest, graph, self.density, max_link, self.n_threads)

    def moved(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """New samples where the density sees them."""
        if self.smoothing is None:
            return X
        return smoothed_samples(X, self._given_points, self.distinct, self.smoothing)

    @cached_property
    def _given_points(self) -> PointSet:
        """The distinct samples before they were moved."""
        points = self.points.searched()
        return points if self.distinct.first is None else points.restricted(self.distinct.first)
