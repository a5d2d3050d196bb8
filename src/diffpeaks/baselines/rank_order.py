"""Approximate rank-order clustering."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.sklearn_parts import Interval, check_params
from diffpeaks._base.validation import n_threads
from diffpeaks._native import rank_distances
from diffpeaks.baselines.base import GraphClusterer
from diffpeaks.cuts.linking import component_labels, components
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.graph import NeighborGraph


class ARO(GraphClusterer):
    """Approximate rank-order clustering (Otto, Wang and Jain, 2018).

    Two samples a and b that list each other are merged if their rank-order distance

        D(a, b) = (d(a, b) + d(b, a)) / min(O_a(b), O_b(a))

    is at most `max_distance`. O_a(b) is the rank of b in the list of a: 1 for the nearest other sample.
    d(a, b) is how many members of the list of a, from a itself up to b, are missing from the list of b;
    the two ends never are, since b lists both. So D is symmetric, and 0 for two samples that are each other's
    nearest. Clusters are the components; a sample that merges with none is a cluster of its own.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    max_distance : float
        It has to be tuned: the best value depends on data and `n_neighbors`; see `recut`.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    rank_distances_ : array of shape (n_entries,)
        For each entry of `graph_` the rank-order distance, once for each pair, in the row of the sample that
        comes first; infinite elsewhere.
    graph_ : NeighborGraph

    Examples
    --------
    >>> from diffpeaks.baselines import ARO
    >>> X = [[0.0], [1.0], [3.0], [20.0], [21.0], [23.0]]
    >>> ARO(n_neighbors=3, max_distance=0.5).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _parameter_constraints = {
        "n_neighbors": N_NEIGHBORS,
        "max_distance": [Interval(Real, 0, None, closed="left")],
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        n_neighbors: int = 80,
        max_distance: float = 1.0,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_distance = max_distance
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def recut(self, max_distance: float) -> NDArray[np.int64]:
        """Labels for another `max_distance` of the same rank-order distances."""
        check_is_fitted(self, "labels_")
        check_params(self, max_distance=max_distance)
        return component_labels(components(self.graph_, self.rank_distances_, max_distance))

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        self.rank_distances_ = np.empty(len(graph.indices))
        rank_distances(graph, self.rank_distances_, n_threads(self.n_jobs))
        return component_labels(components(graph, self.rank_distances_, self.max_distance))
