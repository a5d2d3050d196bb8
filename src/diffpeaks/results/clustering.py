"""A fit: the density of samples and its hills, a cut of them, and what can be asked of the clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.validation import n_threads
from diffpeaks.cuts import Cut, best_peaks_first, select_peaks
from diffpeaks.cuts.noise import (
    Clusters,
    Noise,
    NoisePolicy,
    links_out_of_noise,
    noise_in,
    resolved_noise,
    without_halo,
)
from diffpeaks.density import GraphDensity, KernelDiffusion
from diffpeaks.density.samples import Isolation, Smoothing, smoothed_samples
from diffpeaks.density.walk import Walk
from diffpeaks.forest.peaks import (
    PeakForest,
    complete_forest,
    density_order,
    hill_links,
    peak_forest,
    peak_labels,
    weighed_by_flow,
)
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import DistinctSamples, GivenGraph, PointSet
from diffpeaks.progress import stage
from diffpeaks.recipes import Recipe, Settings
from diffpeaks.results import confidence
from diffpeaks.results.explanation import Explanation, explanation
from diffpeaks.results.hierarchy import Hierarchy


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
    def complete_forest(self) -> PeakForest:
        """Each sample linked to its nearest denser one, however far."""
        # along all neighbours: what links of hills leave out may be the nearest denser sample
        with stage("hills"):
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
        if replace(cut, min_prominence=self.automatic_cut.min_prominence) == self.automatic_cut:
            return self.automatic_forest
        return self._weighed_within(cut)

    def forest_within(self, max_link: float) -> PeakForest:
        """The forest along links that are shorter than that."""
        if max_link == np.inf:
            return self._forest_of_all_links
        with stage("hills"):
            return self._forest_along(self.links, max_link)

    # what most cuts begin with is kept
    @cached_property
    def _forest_of_all_links(self) -> PeakForest:
        with stage("hills"):
            return self._forest_along(self.links, np.inf)

    @cached_property
    def automatic_forest(self) -> PeakForest:
        """The forest of the automatic cut."""
        return self._weighed_within(self.automatic_cut)

    def _weighed_within(self, cut: Cut) -> PeakForest:
        forest = self.forest_within(cut.max_link)
        return self.weighed(forest, cut) if cut.flow_weight else forest

    def weighed(self, forest: PeakForest, cut: Cut) -> PeakForest:
        """The forest along links, its saddles weighed by what flows over them."""
        along = self.links, self.density, self.distinct, self.walk
        with stage("flow"):
            return weighed_by_flow(forest, *along, cut.max_link, cut.flow_weight, self.recipe.usual_flow)

    def peaks(self, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        """The peaks that a cut leaves of its forest, densest first."""
        best_first = None if cut.n_clusters is None else self.best_peaks_first
        return select_peaks(forest, self.density, cut, best_first)

    def _forest_along(self, graph: NeighborGraph, max_link: float) -> PeakForest:
        return peak_forest(graph, self.density, order=self.order, max_link=max_link, n_threads=self.n_threads)

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


@dataclass(frozen=True, eq=False)
class Clustering:
    """A landscape, cut.

    Attributes
    ----------
    landscape : Landscape
    cut : Cut
    policy : NoisePolicy
    forest : PeakForest
        That the cut took the peaks from.
    labels : array of shape (n_samples,)
    peaks : array of shape (n_clusters,)
    """

    landscape: Landscape
    cut: Cut
    policy: NoisePolicy
    forest: PeakForest
    labels: NDArray[np.int64]
    peaks: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        return len(self.peaks)

    @cached_property
    def before_noise(self) -> tuple[Clusters, Noise]:
        """The clusters while noise was in them, and which samples it is."""
        peaks = self.landscape.peaks(self.forest, self.cut)
        before = Clusters(peak_labels(self.forest, peaks), peaks)
        return before, _noise(self.landscape, before.labels, self.cut, self.policy)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        graph, labels = self._walked
        found = confidence.probabilities(graph, labels, self.n_clusters)
        return found if graph is self.landscape.graph else self.landscape.distinct.of_samples(found)

    @cached_property
    def outlier_scores(self) -> NDArray[np.float64]:
        density = self.landscape.estimator
        found = confidence.outlier_scores(density.graph_, density.density_)
        return self.landscape.distinct.of_samples(found)

    def memberships(self, top: int) -> sp.csr_array:
        graph, labels = self._walked
        found = confidence.memberships(graph, labels, self.n_clusters, top)
        return found if graph is self.landscape.graph else self.landscape.distinct.of_samples(found)

    @property
    def _walked(self) -> tuple[NeighborGraph, NDArray[np.int64]]:
        """Where the walk of memberships goes: over distinct samples, unless copies have different labels."""
        distinct = self.landscape.distinct
        labels = distinct.of_first(self.labels)
        if np.array_equal(distinct.of_samples(labels), self.labels):
            return self.landscape.estimator.graph_, labels
        return self.landscape.graph, self.labels

    def explain(self, sample: int) -> Explanation:
        before, noise = self.before_noise
        is_assigned = noise.samples[sample] and self.policy.noise == "assign"
        links = _links_out_of(self.landscape, noise.samples) if is_assigned else None
        clusters = Clusters(self.labels, self.peaks)
        return explanation(sample, clusters, self.landscape.density, self.forest, before, noise, links)

    def hierarchy(self, max_link: float | None) -> Hierarchy:
        landscape = self.landscape
        if not self.cut.is_of_all_samples and max_link == self.cut.max_link:
            return Hierarchy(self.forest, landscape.density)
        return Hierarchy(landscape.forest_within(np.inf if max_link is None else max_link), landscape.density)


def clustered(
    landscape: Landscape, cut: Cut | None, policy: NoisePolicy, forest: PeakForest | None = None
) -> Clustering:
    """The clusters of a cut, None for the automatic one; its forest, where it is known, is not made again."""
    if cut is None:
        cut, forest = landscape.automatic_cut, landscape.automatic_forest
    elif forest is None:
        forest = landscape.forest(cut)
    with stage("labels"):
        peaks = landscape.peaks(forest, cut)
        found = Clusters(peak_labels(forest, peaks), peaks)
        if policy != NoisePolicy():  # by which no sample is noise
            is_noise = _noise(landscape, found.labels, cut, policy).samples
            found = resolved_noise(
                found, is_noise, policy.noise, forest.rank, lambda noise: _links_out_of(landscape, noise)
            )
    return Clustering(landscape, cut, policy, forest, found.labels, found.peaks)


def _noise(landscape: Landscape, labels: NDArray[np.int64], cut: Cut, policy: NoisePolicy) -> Noise:
    def cores() -> NDArray[np.int64]:
        return without_halo(labels, landscape.links, landscape.density, cut.longest_link)

    return noise_in(labels, policy, cores)


def _links_out_of(landscape: Landscape, is_noise: NDArray[np.bool_]) -> NDArray[np.int32]:
    n_neighbors = landscape.graph.n_neighbors or 1
    return links_out_of_noise(is_noise, landscape.complete_forest, landscape.seen_points, n_neighbors)
