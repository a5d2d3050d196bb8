"""What the baselines on a neighbour graph share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from diffpeaks._sklearn_compat import whole_fit, with_input_tags
from diffpeaks.density import Needs, points_of
from diffpeaks.graph import NeighborGraph


class GraphClusterer(ClusterMixin, BaseEstimator):
    """A clusterer of a neighbour graph: a subclass says which graph it needs, and labels its samples."""

    metric: Any
    n_neighbors: Any

    @whole_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them.
        y : ignored
        """
        self._check()
        self.graph_ = points_of(self, X).graph(*self._needs())
        self.labels_ = self._labels(self.graph_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _check(self) -> None:
        """Refuse parameters that do not go together."""

    def _needs(self) -> Needs:
        return Needs(self.n_neighbors)

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(super().__sklearn_tags__(), self.metric)
