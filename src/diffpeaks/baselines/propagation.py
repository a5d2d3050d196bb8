"""Consensus-driven propagation with one model."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks.baselines.base import GraphClusterer, check_cosines
from diffpeaks.cuts.linking import component_labels, components
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.graph import NeighborGraph

_ROUNDINGS = 16  # units in the last place of 1 - cosine that a dot product of equal vectors may lose


class CDP(GraphClusterer):
    """Consensus-driven propagation with one model (Zhan, Liu, Yan, Lin and Loy, 2018).

    Samples are joined whose cosine is above a threshold, if one lists the other. A component of more than
    `max_size` samples is cut again at the threshold + (1 - threshold) `step`, and so on until it falls into
    components that are small enough. A sample that is joined to none is a cluster of its own.

    Samples of the same direction are never cut, for their cosine is above every threshold: when a
    threshold is 1 up to the rounding of the distances, what is still larger than `max_size` stays a cluster
    (`oversized_`).

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    min_similarity : float
        The first threshold.
    max_size : int
    step : float
    metric : {"cosine", "inner_product", "precomputed"}
        Precomputed distances are taken as 1 - cosine.
    metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    oversized_ : array
        Labels of the clusters that are larger than `max_size` for the reason above.
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        "n_neighbors": N_NEIGHBORS,
        "min_similarity": [Interval(Real, -1, 1, closed="left")],
        "max_size": [Interval(Integral, 1, None, closed="left")],
        "step": [Interval(Real, 0, 1, closed="neither")],
        **SEARCH_CONSTRAINTS,
        "metric": [StrOptions({"cosine", "inner_product", "precomputed"})],
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        min_similarity: float = 0.66,
        max_size: int = 600,
        step: float = 0.05,
        *,
        metric: Any = "cosine",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_similarity = min_similarity
        self.max_size = max_size
        self.step = step
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        check_cosines(graph)
        first = 1.0 - self.min_similarity  # a cosine above the threshold
        found, too_large = bounded_components(graph, graph.distances, first, self.max_size, self.step)
        labels = component_labels(found)
        self.oversized_ = np.unique(labels[too_large])
        return labels


def bounded_components(
    graph: NeighborGraph, lengths: NDArray[Any], shorter_than: float, max_size: int, step: float
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The first sample of each sample's component along short links, and which are in too large a one.

    `lengths` has a value for each entry of the graph, 1 - similarity. Components that are larger than
    `max_size` are cut again along links that are shorter by the factor 1 - `step`, until rounding alone
    would tell their lengths apart.
    """
    rounding = _ROUNDINGS * float(np.finfo(lengths.dtype).eps)
    found, too_large = _components(graph, lengths, shorter_than, max_size, np.ones(graph.n_samples, bool))
    while too_large.any() and shorter_than > rounding:
        shorter_than *= 1.0 - step
        smaller, still_too_large = _components(graph, lengths, shorter_than, max_size, too_large)
        found[too_large] = smaller[too_large]
        too_large = still_too_large
    return found, too_large


def _components(
    graph: NeighborGraph,
    lengths: NDArray[Any],
    shorter_than: float,
    max_size: int,
    among: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Components among some samples, and which samples are in too large a one."""
    found = components(graph, lengths, np.nextafter(shorter_than, -np.inf), among)
    return found, np.bincount(found, minlength=graph.n_samples)[found] > max_size
