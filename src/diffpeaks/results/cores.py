"""The result of a fit of `DensityDBSCAN`: samples above a density threshold, joined along links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.cuts.linking import core_labels
from diffpeaks.density import GraphDensity
from diffpeaks.forest.peaks import PeakForest, density_order, peak_forest
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import DistinctSamples
from diffpeaks.results.prediction import CoreRule, Rule, Surroundings, nearest_rule, predicted_labels


@dataclass(frozen=True, eq=False)
class CoreClustering:
    """A density and the clusters above one threshold of it.

    Attributes
    ----------
    estimator : GraphDensity
        Fitted to the distinct samples.
    distinct : DistinctSamples
    links : NeighborGraph
        Of all samples; core samples are joined along it.
    max_link : float
        Links of that length or longer are dropped.
    min_density : float
        A sample of that density or more is a core sample.
    border : bool
        Whether other samples join their nearest core sample.
    """

    estimator: GraphDensity
    distinct: DistinctSamples
    links: NeighborGraph
    max_link: float
    min_density: float
    border: bool

    @cached_property
    def density(self) -> NDArray[np.float64]:
        return self.distinct.of_samples(self.estimator.density_)

    @cached_property
    def graph(self) -> NeighborGraph:
        """The graph of all samples."""
        return self.distinct.graph_of_samples(self.estimator.graph_)

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """All samples, the densest first."""
        return density_order(self.density, self.estimator.tie_break)

    @cached_property
    def is_core(self) -> NDArray[np.bool_]:
        return self.density >= self.min_density

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        reached = self.graph.below(self.max_link) if self.border else None
        return core_labels(self.links, self.is_core, self.order, reached)

    @cached_property
    def peaks(self) -> NDArray[np.int32]:
        """The densest sample of each cluster."""
        labels, first = np.unique(self.labels[self.order], return_index=True)
        return self.order[first[labels != NOISE]]

    @property
    def forest(self) -> PeakForest:
        """The hills of the density along the links."""
        n_threads = self.estimator._points.n_threads
        return peak_forest(self.links, self.density, order=self.order, n_threads=n_threads)

    def predicted(self, X: Any) -> NDArray[np.int64]:
        """Labels of new samples that were checked."""
        labels = self.distinct.of_first(self.labels)
        around = Surroundings(self.estimator, labels, max_link=self.max_link)
        points = self.estimator._points.searched()
        return predicted_labels(X, points, labels, around, self._rule(labels))

    def _rule(self, labels: NDArray[np.int64]) -> Rule:
        """How the neighbours of a new sample decide its label."""
        is_core = self.distinct.of_first(self.is_core)
        if self.border:
            return CoreRule(self.estimator, is_core, labels)
        if not self.estimator.known_at_new_samples:
            return nearest_rule(labels)
        return CoreRule(self.estimator, is_core, labels, self.min_density)
