"""Samples of weight zero (absent) beside a clustering of the others (present).

Samples are numbered as they were given. An absent sample is treated as any new sample: its label and density
are predicted, its row of the graph holds the present samples that a prediction looks at, and in the forest it
is a leaf below the sample that it follows. It changes nothing for present samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks.cuts import Cut
from diffpeaks.cuts.noise import NoisePolicy
from diffpeaks.density import GraphDensity
from diffpeaks.density.weights import Absent
from diffpeaks.forest.peaks import PeakForest, density_order, rank_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.results import confidence
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.explanation import Explanation
from diffpeaks.results.hierarchy import Hierarchy
from diffpeaks.results.landscape import Landscape
from diffpeaks.results.prediction import Surroundings, followed
from diffpeaks.results.sweeps import Sweep


@dataclass(frozen=True, eq=False)
class Leaves:
    """Absent samples as leaves of a forest of the present ones.

    Attributes
    ----------
    absent : Absent
    density : array of shape (n_absent,)
    rows : RaggedRows
        The neighbours of each among the present samples.
    parent : array of shape (n_absent,)
        The present sample that each follows.
    delta : array of shape (n_absent,)
        The distance to it.
    """

    absent: Absent
    density: NDArray[np.float64]
    rows: RaggedRows
    parent: NDArray[np.int32]
    delta: NDArray[np.float64]

    @classmethod
    def of(
        cls, absent: Absent, density: GraphDensity, X: Any, first: NDArray[np.int32] | None = None
    ) -> Leaves:
        """Of absent samples after smoothing, X; `first` is the first sample at each point of the density."""
        no_labels = np.empty(0, np.int64)
        rows, _ = Surroundings(density, no_labels, at_least=1).rows(X)
        values, chosen = followed(density, X, rows)
        points = absent.present if first is None else absent.present[first]
        named = rows._replace(indices=points[rows.indices].astype(np.int32))
        return cls(absent, values, named, named.indices[chosen], rows.distances[chosen].astype(np.float64))

    def graph(self, graph: NeighborGraph) -> NeighborGraph:
        """A graph of the present samples as one of all."""
        absent, samples = self.absent, self.absent.samples
        lengths = absent.among(graph.degrees, np.diff(self.rows.indptr) + 1)
        indptr = offsets(lengths)
        indices = np.empty(indptr[-1], np.int32)
        distances = np.empty(indptr[-1], graph.distances.dtype)
        is_of_absent = np.repeat(absent.among(np.zeros(len(absent.present), bool), True), lengths)
        indices[~is_of_absent] = absent.present[graph.indices]
        distances[~is_of_absent] = graph.distances
        own = indptr[samples]
        indices[own], distances[own] = samples, 0
        is_of_absent[own] = False
        indices[is_of_absent], distances[is_of_absent] = self.rows.indices, self.rows.distances
        return NeighborGraph.with_rows(graph, RaggedRows(indptr, indices, distances))  # on the host

    def forest(self, forest: PeakForest) -> PeakForest:
        """A forest of the present samples as one of all."""
        among, n_present = self.absent.among, len(self.absent.present)
        hill = among(self._named(forest.hill), NO_POINT)
        hill[self.absent.samples] = hill[self.parent]
        return PeakForest(
            parent=among(self._named(forest.parent), self.parent),
            delta=among(forest.delta, self.delta),
            prominence=among(forest.prominence, 0),
            saddle=among(self._named(forest.saddle), NO_POINT),
            crossing=among(self._named(forest.crossing), NO_POINT),
            rank=among(forest.rank, n_present + rank_of(density_order(self.density))),
            hill=hill,
        )

    def _named(self, samples: NDArray[np.int32]) -> NDArray[np.int32]:
        names = self.absent.present.astype(np.int32)[samples]
        return np.where(samples == NO_POINT, np.int32(NO_POINT), names)


@dataclass(frozen=True, eq=False)
class WithAbsent:
    """A clustering of the present samples as one of all samples, with the methods of `Clustering`.

    Attributes
    ----------
    of_present : Clustering
    absent : Absent
    """

    of_present: Clustering
    absent: Absent

    @property
    def landscape(self) -> Landscape:
        return self.of_present.landscape

    @property
    def cut(self) -> Cut:
        return self.of_present.cut

    @property
    def policy(self) -> NoisePolicy:
        return self.of_present.policy

    @property
    def n_clusters(self) -> int:
        return self.of_present.n_clusters

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        return self._labels(self.of_present)

    @cached_property
    def peaks(self) -> NDArray[np.int64]:
        return self.absent.present[self.of_present.peaks]

    @cached_property
    def density(self) -> NDArray[np.float64]:
        return self.absent.among(self.of_present.density, self._leaves.density)

    @cached_property
    def graph(self) -> NeighborGraph:
        return self._leaves.graph(self.of_present.graph)

    @cached_property
    def forest(self) -> PeakForest:
        return self._leaves.forest(self.of_present.forest)

    @cached_property
    def _leaves(self) -> Leaves:
        landscape = self.landscape
        smoothed = landscape.moved(self.absent.X)
        return Leaves.of(self.absent, landscape.estimator, smoothed, landscape.distinct.first)

    def _labels(self, clustering: Clustering) -> NDArray[np.int64]:
        return self.absent.among(clustering.labels, clustering.predicted(self.absent.X))

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        found = confidence.probabilities(self.graph, self.labels, self.n_clusters)
        return self.absent.among(self.of_present.probabilities, found[self.absent.samples])

    @cached_property
    def outlier_scores(self) -> NDArray[np.float64]:
        found = confidence.outlier_scores(self.graph, self.density)
        return self.absent.among(self.of_present.outlier_scores, found[self.absent.samples])

    def memberships(self, top: int) -> sp.csr_array:
        found = confidence.memberships(self.graph, self.labels, self.n_clusters, top)
        both = sp.vstack([self.of_present.memberships(top), found[self.absent.samples]], format="csr")
        n_present = len(self.absent.present)
        return both[self.absent.among(np.arange(n_present), np.arange(n_present, self.absent.n_samples))]

    def explain(self, sample: int) -> Explanation:
        place = int(np.searchsorted(self.absent.present, sample))
        if sample in self.absent.samples:
            parent = self.forest.parent[sample]
            raise ValueError(
                f"sample {sample} has weight zero, and its label is predicted from its neighbours; explain "
                f"sample {parent}, which it follows"
            )
        found, names = self.of_present.explain(place), self.absent.present.tolist()
        return replace(
            found,
            sample=sample,
            path=tuple(names[step] for step in found.path),
            saddles=tuple(names[saddle] for saddle in found.saddles),
            next_saddle=None if found.next_saddle is None else names[found.next_saddle],
        )

    def hierarchy(self, max_link: float | None) -> Hierarchy:
        return Hierarchy(self._leaves.forest(self.of_present.forest_within(max_link)), self.density)

    def deltas(self) -> NDArray[np.float64]:
        return self.absent.among(self.of_present.deltas(), self._leaves.delta)

    def sweep(self, y_true: Any, rule: str) -> Sweep:
        return self.of_present.sweep(np.asarray(y_true)[self.absent.present], rule)

    def recut(self, cut: Cut | None, policy: NoisePolicy) -> NDArray[np.int64]:
        landscape = self.landscape
        cut = landscape.automatic_cut if cut is None else cut
        return self._labels(Clustering.of(landscape, cut, policy))

    def as_fitted(self, X: Any) -> Any:
        return self.absent.as_fitted(X)

    def predicted(self, X: Any) -> NDArray[np.int64]:
        return predicted_beside(self.absent, self.of_present.predicted, X)


def predicted_beside(
    absent: Absent, predicted: Callable[[Any], NDArray[np.int64]], X: Any
) -> NDArray[np.int64]:
    """Labels of new samples by a fit of the present ones; all samples of the fit have their own labels."""
    if X.shape[0] != absent.n_samples:
        return predicted(X)
    return absent.among(predicted(X[absent.present]), predicted(X[absent.samples]))
