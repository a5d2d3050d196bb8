"""What a map is made from: points, a neighbour graph, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.tensors import on_host
from diffpeaks._base.validation import check_unmasked, n_threads
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.density.base import DensityClusterer, GraphDensity
from diffpeaks.density.weights import check_none_absent
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph

_FEATURES_OF_A_PLANE = 2


@dataclass(frozen=True, eq=False)
class Source:
    """Points and their graph, as far as they are known.

    Attributes
    ----------
    n_samples : int
    points : array or sparse matrix of shape (n_samples, n_features), or None
    metric : str or callable
    graph : NeighborGraph or None
        Of the distinct samples, where the density saw them.
    number : array of shape (n_samples,) or None
        The point of the graph that each sample is; None where they are the same.
    n_threads : int
    feature_names : sequence of str or None
    """

    n_samples: int
    points: Any = None
    metric: Any = "euclidean"
    graph: NeighborGraph | None = None
    number: NDArray[np.int32] | None = None
    n_threads: int = 1
    feature_names: Sequence[Any] | None = None

    @classmethod
    def of(cls, X: Any, metric: Any = "euclidean") -> Source:
        """Of a fitted estimator, a graph, or points."""
        if isinstance(X, NeighborGraph):
            return cls(X.n_samples, metric="precomputed", graph=X, n_threads=n_threads(None))
        if isinstance(X, (DensityClusterer, GraphDensity)):
            return cls._of_fit(X)
        if hasattr(X, "get_params"):
            raise TypeError(
                "a map needs a DensityPeaks, a DensityDBSCAN, a density, a NeighborGraph or points, got "
                f"{type(X).__name__}"
            )
        check_unmasked("X", X)
        return cls(_n_rows(X), X, metric, feature_names=getattr(X, "columns", None))

    @classmethod
    def _of_fit(cls, estimator: Any) -> Source:
        check_is_fitted(estimator, "density_")
        density, number = getattr(estimator, "density_estimator_", estimator), None
        points = density._points
        check_none_absent(getattr(estimator, "_absent", None))  # of DensityDBSCAN
        if isinstance(estimator, DensityPeaks):
            landscape = estimator._landscape
            points, number = landscape.points, landscape.distinct.number
        found: dict[str, Any] = {"graph": density.graph_, "number": number, "n_threads": points.n_threads}
        if isinstance(points, GivenGraph):
            return cls(points.n_samples, metric="precomputed", **found)
        found["feature_names"] = getattr(estimator, "feature_names_in_", None)
        metric = getattr(points.space, "metric", "euclidean")
        return cls(points.n_samples, on_host(points.space.points), metric, **found)

    @property
    def n_features(self) -> int | None:
        """None where distances alone are known."""
        is_of_points = self.points is not None and not self._has_metric("precomputed")
        return int(np.shape(self.points)[1]) if is_of_points else None

    @property
    def is_cosine(self) -> bool:
        return self._has_metric("cosine")

    @property
    def is_drawn_as_it_is(self) -> bool:
        """Whether the features are the map."""
        return self.n_features in range(_FEATURES_OF_A_PLANE + 1) and not self.is_cosine

    def _has_metric(self, name: str) -> bool:
        return isinstance(self.metric, str) and self.metric == name

    def graph_for_layout(self) -> NeighborGraph:
        if self.graph is None:
            raise ValueError(
                "map='graph' is laid out from a neighbour graph, but X is an array of points; give a fitted "
                "estimator or a NeighborGraph, or use map='pca'"
            )
        return self.graph

    def points_for(self, how: str) -> Any:
        if self.n_features is None:
            raise ValueError(
                f"map={how!r} needs points, but with metric='precomputed' distances alone are known; use "
                "map='graph' of a fitted estimator, or give coordinates, an array of shape (n_samples, 2)"
            )
        return self.points

    def of_samples(self, places: NDArray[Any]) -> NDArray[Any]:
        """Places of the points of the graph as places of samples."""
        return places if self.number is None else places[self.number]


def _n_rows(X: Any) -> int:
    """The number of points; anything but a table of them is refused."""
    try:
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
    except ValueError as error:
        raise ValueError("the rows of X have different lengths; give each row the same features") from error
    if len(shape) != 2:
        raise ValueError(
            "a map needs a fitted estimator, a NeighborGraph, or points of shape (n_samples, n_features), "
            f"got {type(X).__name__} of shape {tuple(shape)}"
        )
    return int(shape[0])
