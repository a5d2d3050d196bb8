"""What the baselines on a neighbour graph share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointsEstimator, PointSet
from diffpeaks.neighbors.inputs import transactional_fit


class GraphClusterer(ClusterMixin, PointsEstimator):
    """A clusterer of a neighbour graph: a subclass labels its samples, and may take other than lists."""

    n_neighbors: Any

    @transactional_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them.
        y : ignored
        """
        self._check()
        self.graph_ = self._graph(self._points_of(X))
        self.labels_ = self._labels(self.graph_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _check(self) -> None:
        """Refuse parameters that do not go together."""

    def _graph(self, points: PointSet | GivenGraph) -> NeighborGraph:
        return points.graph(self.n_neighbors)

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        raise NotImplementedError


def check_cosines(graph: NeighborGraph) -> None:
    """Refuse distances that cannot be 1 - cosine."""
    largest = float(graph.reach.max())
    if largest > 2 + 1e-5:
        raise ValueError(
            f"the largest distance is {largest:.4g}, but 1 - cosine is at most 2; build the graph with "
            "metric='cosine', or turn Euclidean distances d of unit vectors into d^2 / 2"
        )
