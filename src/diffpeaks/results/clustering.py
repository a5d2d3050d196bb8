"""Clusters that a cut takes from a landscape, and what can be asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.order import NOISE
from diffpeaks.cuts import Cut
from diffpeaks.cuts.noise import Clusters, Noise, NoisePolicy, links_out_of_noise, noise_in, settled
from diffpeaks.forest.peaks import PeakForest, border_density, peak_labels, without_halo
from diffpeaks.graph import NeighborGraph
from diffpeaks.progress import stage
from diffpeaks.results import confidence
from diffpeaks.results.explanation import Explanation, explanation
from diffpeaks.results.hierarchy import Hierarchy
from diffpeaks.results.landscape import Landscape
from diffpeaks.results.prediction import HillRule, Rule, Surroundings, nearest_rule, predicted_labels
from diffpeaks.results.sweeps import Sweep, link_sweep, peak_sweep, prominence_sweep


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

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Labels of new samples that were checked."""
        landscape, cut = self.landscape, self.cut
        around = Surroundings(
            landscape.estimator,
            landscape.distinct.of_first(self.labels),
            landscape.settings.links,
            cut.longest_link,
            at_least=int(cut.is_of_all_samples),
        )
        points = landscape.points.searched()
        return predicted_labels(X, points, self.labels, around, self._rule(), landscape.moved)

    def _rule(self) -> Rule:
        """How neighbours decide about new samples."""
        landscape = self.landscape
        if not landscape.estimator.known_at_new_samples:
            return nearest_rule(self.labels)
        if not self.policy.halo or self.policy.noise == "assign":
            return HillRule(landscape.estimator, landscape.distinct.of_first(self.labels))
        before, noise = self.before_noise
        border = border_density(before.labels, landscape.links, landscape.density, self.cut.longest_link)
        numbers = np.where(noise.small[before.peaks], NOISE, self.labels[before.peaks])
        return HillRule(landscape.estimator, landscape.distinct.of_first(before.labels), border, numbers)

    def hierarchy(self, max_link: float | None) -> Hierarchy:
        landscape = self.landscape
        if not self.cut.is_of_all_samples and max_link == self.cut.max_link:
            return Hierarchy(self.forest, landscape.density)
        return Hierarchy(landscape.forest_within(np.inf if max_link is None else max_link), landscape.density)


def clustered(
    landscape: Landscape, cut: Cut, policy: NoisePolicy, forest: PeakForest | None = None
) -> Clustering:
    """The clusters of a cut; the forest of that cut, where it is known, is not made again."""
    forest = landscape.forest(cut) if forest is None else forest
    with stage("labels"):
        peaks = landscape.peaks(forest, cut)
        found = Clusters(peak_labels(forest, peaks), peaks)
        is_noise = _noise(landscape, found.labels, cut, policy).samples
        found = settled(
            found, is_noise, policy.noise, forest.rank, lambda noise: _links_out_of(landscape, noise)
        )
    return Clustering(landscape, cut, policy, forest, found.labels, found.peaks)


def swept(landscape: Landscape, y_true: Any, rule: str) -> Sweep:
    """Scores of every cut by one rule against the truth."""
    if rule == "max_link":
        return link_sweep(landscape.forest_within(np.inf), y_true)
    if rule == "n_clusters":
        return peak_sweep(landscape.complete_forest, landscape.density, y_true)
    if rule == "min_prominence":
        return prominence_sweep(landscape.forest_within(np.inf), y_true)
    raise ValueError(f"rule={rule!r} is unknown; use 'max_link', 'n_clusters' or 'min_prominence'")


def _noise(landscape: Landscape, labels: NDArray[np.int64], cut: Cut, policy: NoisePolicy) -> Noise:
    def cores() -> NDArray[np.int64]:
        return without_halo(labels, landscape.links, landscape.density, cut.longest_link)

    return noise_in(labels, policy, cores)


def _links_out_of(landscape: Landscape, is_noise: NDArray[np.bool_]) -> NDArray[np.int32]:
    n_neighbors = landscape.graph.n_neighbors or 1
    return links_out_of_noise(is_noise, landscape.complete_forest, landscape.seen_points, n_neighbors)
