"""DBSCAN and single linkage on lists of neighbours that are cut at a distance."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval
from diffpeaks.baselines.base import GraphClusterer
from diffpeaks.cuts.linking import component_labels, components, core_labels
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.forest.peaks import density_order
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet


class KNNDBSCAN(GraphClusterer):
    """DBSCAN on lists of nearest neighbours instead of whole balls.

    A core sample has at least `min_samples` members of its list within `radius`, itself counted. Core samples
    are joined if one of the two lists the other within `radius`; any other sample joins the nearest core
    sample within `radius`, or is noise. That is DBSCAN on the graph with an edge wherever either end lists
    the other, because the list of a sample that is no core is not cut short. On the lists as they are, a
    directed graph, scikit-learn's DBSCAN follows links in one direction and so depends on the order of the
    samples.

    Parameters
    ----------
    radius : float
    min_samples : int
        At most `n_neighbors`.
    n_neighbors : int
        Length of the lists, the sample itself counted.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1, the cluster of the sample with most neighbours first; -1 is noise.
    n_clusters_ : int
    core_sample_indices_ : array
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        "radius": [Interval(Real, 0, None, closed="neither")],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": N_NEIGHBORS,
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        radius: float = 0.5,
        min_samples: int = 5,
        n_neighbors: int = 80,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.min_samples = min_samples
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _check(self) -> None:
        if self.min_samples > self.n_neighbors:
            raise ValueError(
                f"min_samples={self.min_samples} is more than n_neighbors={self.n_neighbors}, so that no "
                "sample could be a core; use more neighbours or a smaller min_samples"
            )

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        near = graph.up_to(self.radius)
        core = near.degrees >= self.min_samples
        self.core_sample_indices_ = np.flatnonzero(core)
        return core_labels(near, core, density_order(near.degrees.astype(np.float64)), near)


class SingleLinkage(GraphClusterer):
    """Single linkage cut at a distance: components of the links of at most `max_distance`.

    Parameters
    ----------
    max_distance : float
    n_neighbors : int, optional
        Take only the links in lists of that length, the sample itself counted. By default all links of
        that distance, which is single linkage to the letter.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        "max_distance": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [*N_NEIGHBORS, None],
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        max_distance: float = 0.5,
        n_neighbors: int | None = None,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.max_distance = max_distance
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _graph(self, points: PointSet | GivenGraph) -> NeighborGraph:
        if self.n_neighbors is not None:
            return super()._graph(points)
        if isinstance(points, GivenGraph) and points.given.radius < self.max_distance:
            raise ValueError(
                f"max_distance={self.max_distance} is more than {points.given.radius}, up to which this "
                "graph is known to hold all links; give n_neighbors to take those in its lists alone, or "
                "build it with neighbor_graph(X, radius=...)"
            )
        return points.graph(radius=self.max_distance)

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        return component_labels(components(graph, graph.distances, self.max_distance))
