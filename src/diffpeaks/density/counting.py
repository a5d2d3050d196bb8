"""Densities that count: the naive one, and its local contrast."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks.density.base import (
    N_NEIGHBORS,
    OWN_SEARCH_CONSTRAINTS,
    GraphDensity,
    Needs,
    resolved_n_neighbors,
    resolved_radius,
)
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors import GivenGraph, PointSet

RADIUS: list[Any] = [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})]


class NaiveDensity(GraphDensity):
    """The number of samples in the closed ball around each sample, itself included, or what they weigh.

    Parameters
    ----------
    radius : float or "auto"
        "auto" is the median distance to the 2 log2(n)-th neighbour.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`. None is its default,
        or what a clusterer that uses the density says.

    Attributes
    ----------
    density_ : array of shape (n_samples,)
    radius_ : float
    graph_ : NeighborGraph

    Examples
    --------
    >>> from diffpeaks import NaiveDensity
    >>> NaiveDensity(radius=1.5).fit([[0.0], [1.0], [2.0], [5.0]]).density_.tolist()
    [2.0, 3.0, 2.0, 1.0]
    """

    _parameter_constraints = {"radius": RADIUS, **OWN_SEARCH_CONSTRAINTS}

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        metric: str | Callable[..., float] | None = None,
        metric_params: dict[str, Any] | None = None,
        search: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        return Needs(radius=resolved_radius(self.radius, "auto", points))

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        return ball_weights(_balls(graph, needs), self._weights)

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        return ball_weights(points.within_of(X, self.radius_), self._weights)


class LocalContrast(GraphDensity):
    """How many of its nearest neighbours a sample exceeds in naive density.

    Equal values are ordered by the naive density. Weights count there; a neighbour counts once, whatever it
    weighs.

    Parameters
    ----------
    radius : float or "auto"
        Radius of the naive density; "auto" is the median distance to the `n_neighbors`-th neighbour.
    n_neighbors : int or "auto"
        Neighbours to compare with, the sample itself counted; "auto" is 2 log2(n).
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`. None is its default,
        or what a clusterer that uses the density says.

    Attributes
    ----------
    density_ : array of shape (n_samples,)
    naive_density_ : array of shape (n_samples,)
    radius_, n_neighbors_ : float, int
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        "radius": RADIUS,
        "n_neighbors": [*N_NEIGHBORS, StrOptions({"auto"})],
        **OWN_SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        radius: float | str = "auto",
        n_neighbors: int | str = "auto",
        *,
        metric: str | Callable[..., float] | None = None,
        metric_params: dict[str, Any] | None = None,
        search: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        return Needs(
            resolved_n_neighbors(self.n_neighbors, points),
            resolved_radius(self.radius, self.n_neighbors, points),
        )

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        self.naive_density_ = ball_weights(_balls(graph, needs), self._weights)
        nearest = graph.nearest(needs.n_neighbors)
        return _exceeded(nearest.indptr, nearest.indices, self.naive_density_, self.naive_density_)

    @property
    def tie_break(self) -> NDArray[np.float64]:  # type: ignore[override]
        return self.naive_density_

    def keys_at(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        points = self._points.searched()
        naive = ball_weights(points.within_of(X, self.radius_), self._weights)
        nearest = points.nearest_to(X, self.n_neighbors_)
        return _exceeded(nearest.indptr, nearest.indices, naive, self.naive_density_), naive

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        return self.keys_at(X)[0]


def _balls(graph: NeighborGraph, needs: Needs) -> NeighborGraph:
    radius: Any = needs.radius
    return graph.within(radius)


def ball_weights(
    balls: NeighborGraph | RaggedRows, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """What the samples of each ball weigh together; without weights, how many they are."""
    lengths = np.diff(balls.indptr)
    if weights is None:
        return lengths.astype(np.float64)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(owners, weights[balls.indices], len(lengths)).astype(np.float64)


def _exceeded(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    own: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    higher = np.repeat(own, np.diff(indptr)) > others[indices]
    return np.add.reduceat(higher, indptr[:-1], dtype=np.float64)
