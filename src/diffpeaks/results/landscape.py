"""What a fit finds before it is cut: a density of samples, and the links along which its hills are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffpeaks.cuts import Cut, automatic_cut, best_peaks_first, select_peaks
from diffpeaks.density import GraphDensity, KernelDiffusion
from diffpeaks.density.distinct import DistinctSamples
from diffpeaks.density.smoothing import Smoothing, smoothed_samples
from diffpeaks.density.walk import Walk
from diffpeaks.forest.flow import weighed_by_flow
from diffpeaks.forest.isolation import Isolation
from diffpeaks.forest.peaks import PeakForest, complete_forest, hill_links, peak_forest
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
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
    def graph(self) -> NeighborGraph:
        """The graph of the samples."""
        return self.distinct.graph_of_samples(self.estimator.graph_)

    @cached_property
    def density(self) -> NDArray[np.float64]:
        return self.distinct.of_samples(self.estimator.density_)

    @cached_property
    def links(self) -> NeighborGraph:
        """The graph along which hills are linked."""
        found = hill_links(self.estimator.graph_, self.settings.links, self.n_jobs)
        return self.graph if found is self.estimator.graph_ else self.distinct.graph_of_samples(found)

    @cached_property
    def automatic_cut(self) -> Cut:
        how = self.recipe, self.seed
        found = automatic_cut(self.distinct.points, self.isolation, self.settings, *how)
        return found if self.estimator.has_walk else replace(found, flow_weight=0.0)

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
    def complete_forest(self) -> PeakForest:
        """Each sample linked to its nearest denser one, however far."""
        # along all neighbours: what links of hills leave out may be the nearest denser sample
        forest = self._forest_along(self.graph, np.inf)
        return complete_forest(forest, self.seen_points, self.graph.n_neighbors or 1)

    @cached_property
    def best_peaks_first(self) -> NDArray[np.int64]:
        """All samples by density x delta, largest first."""
        return best_peaks_first(self.complete_forest, self.density)

    @property
    def knows_complete_forest(self) -> bool:
        """Whether the complete forest was asked for before."""
        return "complete_forest" in vars(self)

    @property
    def seen_points(self) -> PointSet | GivenGraph:
        """The samples where the density sees them."""
        return self.points if self.smoothing is None else self.distinct.all_points()

    def forest(self, cut: Cut) -> PeakForest:
        """The forest that a cut takes peaks from, its saddles weighed as the cut says."""
        if cut.is_of_all_samples:
            return self.complete_forest
        return self.weighed(self.forest_within(cut.max_link), cut)

    def forest_within(self, max_link: float) -> PeakForest:
        """The forest along links that are shorter than that."""
        return self._forest_along(self.links, max_link)

    def weighed(self, forest: PeakForest, cut: Cut) -> PeakForest:
        """The forest along links, its saddles weighed by flow if the cut says so."""
        if not cut.flow_weight:
            return forest
        along = self.links, self.density, self.distinct, self.walk
        return weighed_by_flow(forest, *along, cut.max_link, cut.flow_weight, self.recipe.usual_flow)

    def peaks(self, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        """The peaks that a cut leaves of its forest, densest first."""
        best_first = None if cut.n_clusters is None else self.best_peaks_first
        return select_peaks(forest, self.density, cut, best_first)

    def _forest_along(self, graph: NeighborGraph, max_link: float) -> PeakForest:
        tie_break = self.estimator.tie_break()
        return peak_forest(graph, self.density, tie_break=tie_break, max_link=max_link, n_jobs=self.n_jobs)

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
