"""The one decision: from points, a metric and what was asked for to points with their search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from diffpeaks._base.validation import check_finite, check_memory_limit, n_threads
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.cells.approximate import ApproximateSearch
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.contract import Search, Space
from diffpeaks.neighbors.euclidean import METRICS as EUCLIDEAN_METRICS
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.given_graph import GivenGraph
from diffpeaks.neighbors.memory.limited import limited_search
from diffpeaks.neighbors.metric_params import checked_metric
from diffpeaks.neighbors.points import PointSet
from diffpeaks.neighbors.precomputed import graph_from_sparse, space_from_matrix
from diffpeaks.neighbors.spaces import MetricSpace, NanEuclideanSpace
from diffpeaks.neighbors.trees import TreeSearch
from diffpeaks.progress import stage

SEARCHES: dict[str, type[Search]] = {"tree": TreeSearch, "cells": CellSearch, "brute": BruteSearch}
CHOICES = ("auto", "exact", "approximate", *SEARCHES)
# Multiplications of all pairs up to which "auto" stays exact: some seconds on two cores. It depends on
# the data alone, so that the same data get the same graph on every machine.
AFFORDABLE = 2.0**40


@stage("points")
def searchable(
    X: Any,
    metric: Any = "euclidean",
    search: Any = "auto",
    n_jobs: int | None = None,
    metric_params: dict[str, Any] | None = None,
    memory_limit: int | None = None,
    n_neighbors: int | None = None,
) -> PointSet | GivenGraph:
    """X, an array of floats or a graph, with its metric and search.

    With a limit of memory, `n_neighbors` are sought at most.
    """
    if memory_limit is not None:
        memory_limit = check_memory_limit(memory_limit)
    choice = Choice(search, n_jobs, n_threads(n_jobs), memory_limit, n_neighbors or 1)
    if is_precomputed(metric):
        return _of_distances(X, metric_params, choice)
    check_points(X, metric)
    return choice.points(space_of(X, metric, metric_params))


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def check_points(X: Any, metric: Any) -> None:
    """Refuse a graph in the place of points, and points without a distance."""
    if isinstance(X, NeighborGraph):
        raise ValueError(f"X is a NeighborGraph, but metric={metric!r}; use metric='precomputed'")
    check_features(X, metric)


def check_features(X: Any, metric: Any) -> None:
    """Refuse NaN and infinity, unless the metric has a meaning for NaN."""
    if not (isinstance(metric, str) and metric == "nan_euclidean"):
        check_finite(X)


def check_search(search: Any) -> None:
    """Refuse what is neither the name of a search nor an ApproximateSearch."""
    if not isinstance(search, ApproximateSearch) and search not in CHOICES:
        raise ValueError(
            f"search={search!r} is unknown; use one of {list(CHOICES)} or ApproximateSearch(recall=...)"
        )


def space_of(X: Any, metric: Any, params: dict[str, Any] | None = None) -> Space:
    """The space for a metric by name or callable."""
    if params is not None or not _is_euclidean(metric):
        metric, params = checked_metric(metric, params, sparse=sp.issparse(X))
    if _is_euclidean(metric):
        return EuclideanSpace(X, metric)
    if isinstance(metric, str) and metric == "nan_euclidean":
        return NanEuclideanSpace(X)
    return MetricSpace(X, metric, params or {})


def _is_euclidean(metric: Any) -> bool:
    return isinstance(metric, str) and metric in EUCLIDEAN_METRICS


def _of_distances(X: Any, metric_params: Any, choice: Choice) -> PointSet | GivenGraph:
    """Distances that the user brought: a graph of some, or a matrix of all."""
    if metric_params:
        raise ValueError(f"metric='precomputed' takes no metric_params, got {metric_params}")
    if choice.asked not in ("auto", "exact", "brute"):
        raise ValueError(f"search={choice.asked!r} needs points, not distances; use 'auto' or 'brute'")
    if not isinstance(X, NeighborGraph) and not sp.issparse(X):
        return choice.points(space_from_matrix(X))
    if choice.memory_limit is not None:
        raise ValueError(f"memory_limit={choice.memory_limit} has no effect: in a graph nothing is searched")
    return GivenGraph(X if isinstance(X, NeighborGraph) else graph_from_sparse(X), choice.n_threads)


@dataclass(frozen=True)
class Choice:
    """Which search points get: the one that was asked for, or the one that suits their space."""

    asked: Any
    n_jobs: int | None
    n_threads: int
    memory_limit: int | None = None
    n_neighbors: int = 1  # that are sought at most, where memory is limited

    def __post_init__(self) -> None:
        check_search(self.asked)

    def points(self, space: Space) -> PointSet:
        """The points of a space with their search."""
        return PointSet(space, self.search(space), self)

    def search(self, space: Space) -> Search:
        make = self._kind(space)
        if self.memory_limit is None:
            search: Search = make(space, self.n_threads)
            return search
        return limited_search(make, space, self.n_threads, self.memory_limit, self.n_neighbors)

    def _kind(self, space: Space) -> Any:
        """The class of a search, or an ApproximateSearch, which makes one."""
        if self.asked in SEARCHES:
            return SEARCHES[self.asked]
        exact = _exact(space)
        if self.asked == "exact" or exact is TreeSearch:  # which finds them all, and sooner
            return exact
        if self.asked == "auto":
            return exact if exact is not CellSearch or _affordable(space) else ApproximateSearch()
        return ApproximateSearch() if self.asked == "approximate" else self.asked


def _exact(space: Space) -> type[Search]:
    """The fastest exact search."""
    if space.minkowski_order is not None and prefers_tree(*space.points.shape):
        return TreeSearch
    return CellSearch if space.can_join else BruteSearch


def prefers_tree(n_samples: int, n_features: int) -> bool:
    """Whether a tree is faster than products."""
    # in 11 to 16 dimensions a tree visits most of a small set, but little of a large one that has clusters
    return n_features <= 10 or (n_features <= 16 and n_samples > 50_000)


def _affordable(space: Space) -> bool:
    n_samples, n_features = space.points.shape
    return float(n_samples) ** 2 * n_features <= AFFORDABLE
