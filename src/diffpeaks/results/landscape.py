"""What a fit finds before it is cut: a density of samples, and the links along which its hills are found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diffpeaks.cuts import Cut, automatic_cut, best_peaks_first, select_peaks
from diffpeaks.density import GraphDensity, KernelDiffusion
from diffpeaks.density.places import Places
from diffpeaks.density.smoothing import Smoothing, smoothed_samples
from diffpeaks.forest.flow import weighed_by_flow
from diffpeaks.forest.isolation import Isolation
from diffpeaks.forest.peaks import PeakForest, complete_forest, hill_links, peak_forest
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.dimension import WHOLE_ROWS, LinkShares
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.recipes import DEFAULT, Recipe


@dataclass(frozen=True, eq=False)
class Landscape:
    """The density of samples on a graph: all that a cut does not decide.

    Attributes
    ----------
    points : PointSet or GivenGraph
        The samples as they were given.
    places : Places
        Where the density sees them.
    estimator : GraphDensity
        The density of the places.
    isolation : Isolation
    smoothing : Smoothing or None
    dimension : float
        In how many dimensions the default density was found; infinite for one that was given.
    shares : LinkShares
        The part of each row that hills are linked along.
    is_default : bool
        Whether flow over saddles may count.
    recipe : Recipe
    seed : int
        Of what the automatic cut draws.
    n_jobs : as it was given
    """

    points: PointSet | GivenGraph
    places: Places
    estimator: GraphDensity
    isolation: Isolation
    smoothing: Smoothing | None = None
    dimension: float = np.inf
    shares: LinkShares = WHOLE_ROWS
    is_default: bool = False
    recipe: Recipe = DEFAULT
    seed: int = 0
    n_jobs: int | None = None

    @cached_property
    def graph(self) -> NeighborGraph:
        """The graph of the samples."""
        return self.places.graph_of_samples(self.estimator.graph_)

    @cached_property
    def density(self) -> NDArray[np.float64]:
        return self.places.of_samples(self.estimator.density_)

    @cached_property
    def links(self) -> NeighborGraph:
        """The graph along which hills are linked."""
        if not self.is_default:
            return self.graph
        return self.places.graph_of_samples(hill_links(self.estimator.graph_, self.shares, self.n_jobs))

    @cached_property
    def automatic_cut(self) -> Cut:
        return automatic_cut(self.places.points, self.isolation, self.dimension, self.seed, self.recipe)

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
        return self.points if self.smoothing is None else self.places.all_points()

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
        if not (self.is_default and isinstance(self.estimator, KernelDiffusion)):
            raise ValueError(
                f"flow_weight={cut.flow_weight} asks for the walk of the default density, but the fit has "
                f"another; fit with density=None, or take flow_weight=0"
            )
        along = self.links, self.density, self.places, self.estimator.walk()
        return weighed_by_flow(forest, *along, cut.max_link, cut.flow_weight, self.recipe)

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
        return smoothed_samples(X, self._given_places, self.places, self.smoothing)

    @cached_property
    def _given_places(self) -> PointSet:
        """The places of samples before they were moved."""
        points = self.points.searched()
        return points if self.places.first is None else points.restricted(self.places.first)
