"""The result of a fit: clusters that a cut takes from a landscape, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks.cuts import Cut
from diffpeaks.cuts.noise import (
    Clusters,
    Noise,
    NoisePolicy,
    links_out_of_noise,
    noise_in,
    resolved_noise,
    without_halo,
)
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.graph import NeighborGraph
from diffpeaks.progress import stage
from diffpeaks.results import confidence
from diffpeaks.results.explanation import Explanation, explanation
from diffpeaks.results.hierarchy import Hierarchy
from diffpeaks.results.landscape import Landscape
from diffpeaks.results.prediction import predicted
from diffpeaks.results.sweeps import Sweep, link_sweep, peak_sweep, prominence_sweep


@dataclass(frozen=True, eq=False)
class Clustering:
    """A landscape and the clusters that a cut takes from it.

    Attributes
    ----------
    landscape : Landscape
    cut : Cut
    policy : NoisePolicy
    forest : PeakForest
        From which the cut takes the peaks.
    labels : array of shape (n_samples,)
    peaks : array of shape (n_clusters,)
    """

    landscape: Landscape
    cut: Cut
    policy: NoisePolicy
    forest: PeakForest
    labels: NDArray[np.int64]
    peaks: NDArray[np.int64]

    @classmethod
    def of(
        cls, landscape: Landscape, cut: Cut, policy: NoisePolicy, forest: PeakForest | None = None
    ) -> Clustering:
        """The clusters that a cut takes from its forest, which may be known, and what becomes of noise."""
        forest = landscape.forest(cut) if forest is None else forest
        with stage("labels"):
            clusters = landscape.clusters(cut, forest)
            if policy != NoisePolicy():  # else no sample is noise
                is_noise = _noise_of(landscape, clusters, cut, policy).samples
                is_assigned = policy.noise == "assign" and is_noise.any()
                links = _links_out_of(is_noise, landscape) if is_assigned else None
                clusters = resolved_noise(clusters, is_noise, policy.noise, forest.rank, links)
        return cls(landscape, cut, policy, forest, *clusters)

    @property
    def of_present(self) -> Clustering:
        """The clustering of the samples of positive weight: all of them."""
        return self

    @property
    def n_clusters(self) -> int:
        return len(self.peaks)

    @property
    def density(self) -> NDArray[np.float64]:
        return self.landscape.density

    @property
    def graph(self) -> NeighborGraph:
        return self.landscape.graph

    @cached_property
    def before_noise(self) -> tuple[Clusters, Noise]:
        """The clusters before noise is told apart, and which of their samples are noise."""
        before = self.landscape.clusters(self.cut, self.forest)
        return before, _noise_of(self.landscape, before, self.cut, self.policy)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        graph, labels = self._membership_graph
        found = confidence.probabilities(graph, labels, self.n_clusters)
        return found if graph is self.landscape.graph else self.landscape.distinct.of_samples(found)

    @cached_property
    def outlier_scores(self) -> NDArray[np.float64]:
        density = self.landscape.estimator
        found = confidence.outlier_scores(density.graph_, density.density_)
        return self.landscape.distinct.of_samples(found)

    def memberships(self, top: int) -> sp.csr_array:
        graph, labels = self._membership_graph
        found = confidence.memberships(graph, labels, self.n_clusters, top)
        return found if graph is self.landscape.graph else self.landscape.distinct.of_samples(found)

    @property
    def _membership_graph(self) -> tuple[NeighborGraph, NDArray[np.int64]]:
        """Where memberships are computed: on distinct samples, unless the labels of duplicates differ."""
        distinct = self.landscape.distinct
        labels = distinct.of_first(self.labels)
        if np.array_equal(distinct.of_samples(labels), self.labels):
            return self.landscape.estimator.graph_, labels
        return self.landscape.graph, self.labels

    def explain(self, sample: int) -> Explanation:
        before, noise = self.before_noise
        is_assigned = noise.samples[sample] and self.policy.noise == "assign"
        links = _links_out_of(noise.samples, self.landscape) if is_assigned else None
        clusters = Clusters(self.labels, self.peaks)
        density = self.landscape.density
        return explanation(sample, clusters, density, self.forest, before, noise, self._are_linked, links)

    def _are_linked(self, one: int, other: int) -> bool:
        """Whether either of two samples has a link to the other that is short enough for the cut."""
        links = self.landscape.graph if self.cut.is_of_all_samples else self.landscape.links
        for here, there in ((one, other), (other, one)):
            row = slice(links.indptr[here], links.indptr[here + 1])
            if np.any((links.indices[row] == there) & (links.distances[row] < self.cut.longest_link)):
                return True
        return False

    def forest_within(self, max_link: float | None) -> PeakForest:
        """The forest along links that are shorter than that, by height alone; None is all links.

        For the bound of the cut it is the forest of the cut.
        """
        if not self.cut.is_of_all_samples and max_link == self.cut.max_link:
            return self.forest
        return self.landscape.forest_within(np.inf if max_link is None else max_link)

    def hierarchy(self, max_link: float | None) -> Hierarchy:
        return Hierarchy(self.forest_within(max_link), self.density)

    def deltas(self) -> NDArray[np.float64]:
        """The distance of each sample to its nearest denser one, at any distance."""
        return self.landscape.denser_samples.delta

    def sweep(self, y_true: Any, rule: str) -> Sweep:
        landscape = self.landscape
        if rule == "max_link":
            return link_sweep(landscape.forest_within(np.inf), y_true)
        if rule == "n_clusters":
            return peak_sweep(landscape.denser_samples, landscape.density, y_true)
        if rule == "min_prominence":
            return prominence_sweep(landscape.forest_within(np.inf), y_true)
        raise ValueError(f"rule={rule!r} is unknown; use 'max_link', 'n_clusters' or 'min_prominence'")

    def recut(self, cut: Cut | None, policy: NoisePolicy) -> NDArray[np.int64]:
        """The labels of another cut, or of the automatic one."""
        landscape = self.landscape
        cut = landscape.automatic_cut if cut is None else cut
        return Clustering.of(landscape, cut, policy, landscape.forest_for_labels(cut)).labels

    def as_fitted(self, X: Any) -> Any:
        """New samples in the form of those of the fit."""
        return X

    def predicted(self, X: Any) -> NDArray[np.int64]:
        return predicted(self, X)


def _noise_of(landscape: Landscape, clusters: Clusters, cut: Cut, policy: NoisePolicy) -> Noise:
    """Which samples of the clusters are noise."""
    labels = cores = clusters.labels
    if policy.halo:
        cores = without_halo(labels, landscape.links, landscape.density, cut.longest_link)
    return noise_in(labels, cores, policy.min_cluster_size)


def _links_out_of(is_noise: NDArray[np.bool_], landscape: Landscape) -> NDArray[np.int32]:
    """From noise to its nearest denser samples, at any distance."""
    n_neighbors = landscape.graph.n_neighbors or 1
    return links_out_of_noise(is_noise, landscape.denser_samples, landscape.smoothed_points, n_neighbors)
