"""What densities share, from points to a graph to one value for each sample; and clusterers of a density."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.sklearn_parts import Interval
from diffpeaks._base.validation import check_n_neighbors, check_radius
from diffpeaks.density.samples import settings_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import (
    ApproximateSearch,
    DistinctSamples,
    GivenGraph,
    PointsEstimator,
    PointSet,
    check_features,
)
from diffpeaks.neighbors.inputs import transactional_fit
from diffpeaks.progress import loop_stage
from diffpeaks.recipes import DEFAULT, PLAIN, Recipe, Settings

SEARCH_CONSTRAINTS: dict[str, list[Any]] = {
    "metric": [str, callable],
    "metric_params": [dict, None],
    "search": [str, ApproximateSearch],
    "n_jobs": [Integral, None],
}
# A density inside a clusterer has no metric and search of its own.
OWN_SEARCH_CONSTRAINTS = {
    **SEARCH_CONSTRAINTS,
    "metric": [str, callable, None],
    "search": [str, ApproximateSearch, None],
}
CLUSTERER_CONSTRAINTS: dict[str, Any] = {
    **SEARCH_CONSTRAINTS,
    "device": "no_validation",  # a name, or a device of torch
    "verbose": ["boolean"],
    "callback": [callable, None],
}
N_NEIGHBORS: list[Any] = [Interval(Integral, 1, None, closed="left")]


class Needs(NamedTuple):
    """The graph that a density asks for."""

    n_neighbors: int | None = None
    radius: float | None = None


def new_samples(estimator: PointsEstimator, density: GraphDensity, X: Any) -> Any:
    """New samples, checked, for an estimator that was fitted with that density."""
    density._points.searched()  # refused where there are no points to compare with
    X = estimator._validated(X, reset=False)
    check_features(X, density.metric)
    return X


class GraphDensity(PointsEstimator):
    """A density that is computed from a neighbour graph.

    A subclass says which graph it needs, and computes the density from it. These are two steps, so that a
    clusterer searches once for itself and its density.
    """

    known_at_new_samples = True
    knows_weights = True  # whether a sample may stand for several
    normalizes_weights = False  # whether only ratios of weights count: they become masses of mean one
    merges_duplicates = False  # whether a recipe may take duplicates for one sample of their weight
    tie_break: NDArray[np.float64] | None = None  # orders samples of equal density

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        """The neighbours that it asks for; "auto" is resolved for these points."""
        raise NotImplementedError

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        """The density of each sample, on the graph that `needs` describes."""
        raise NotImplementedError

    @transactional_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the density of each sample of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them. It is kept, not
            copied: do not change it in place while the fit is in use.
        y : ignored
        """
        points = self._points_of(X)
        needs = self.needs(points)
        graph = points.graph(*needs)
        with loop_stage("density", points.n_samples):
            return self.fit_graph(points, graph, needs)

    def fit_graph(
        self,
        points: PointSet | GivenGraph,
        graph: NeighborGraph,
        needs: Needs,
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """`fit` on points whose graph is known; weights are as they were given."""
        self._weights = weights
        if weights is not None and self.normalizes_weights:
            self._weights = weights / weights.mean()
        self._points = points
        self.graph_ = graph
        self.n_neighbors_: Any = needs.n_neighbors
        self.radius_: Any = needs.radius
        self.density_ = self.estimate(graph, needs)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Density at new points, on the scale of `density_`.

        New points do not change the fitted samples: their number, their neighbours and their densities stay
        those of the fit.
        """
        check_is_fitted(self, "density_")
        return self._density_at(self._points.searched(), new_samples(self, self, X))

    def keys_at(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Density at new samples, which were checked, and the `tie_break`, if any."""
        return self._density_at(self._points.searched(), X), None

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        raise NotImplementedError


class DensityClusterer(ClusterMixin, PointsEstimator):
    """A clusterer of a density, which is given or the default."""

    density: Any
    n_neighbors: int | str
    recipe: Recipe | None

    def _recipe_and_density(self, default: Callable[..., GraphDensity]) -> tuple[Recipe, GraphDensity]:
        """The recipe and the density that were given, or the default ones.

        The density is not fitted, and has the metric and the search of this. `n_neighbors` are for the
        default, for values and for functions. An estimator or a name has its own.
        """
        recipe = self.recipe or (DEFAULT if self.density is None else PLAIN)
        if self.density is None:
            return recipe, _with_settings_of(self, default(steps=recipe.steps))
        from diffpeaks.density.named import named_density  # it is made of estimators, and these of this file

        found = named_density(self.density, self)
        if not isinstance(self.density, (GraphDensity, str)):
            return recipe, found
        if self.n_neighbors != "auto":
            raise ValueError(
                f"n_neighbors={self.n_neighbors} has no effect, because the density {self.density!r} brings "
                "its own neighbours; set them there"
            )
        return recipe, _with_settings_of(self, found)

    def _needs(self, density: GraphDensity, samples: DistinctSamples, recipe: Recipe) -> Needs:
        """The neighbours that the density of the samples asks for."""
        return self._recipe_needs(samples, recipe) if self.density is None else density.needs(samples.points)

    def _recipe_needs(self, samples: DistinctSamples, recipe: Recipe) -> Needs:
        """As many neighbours as were asked for, or as the recipe says; of a given graph the whole rows."""
        if not isinstance(self.n_neighbors, str):
            return Needs(samples.n_neighbors(self.n_neighbors))
        points = samples.points
        return Needs() if isinstance(points, GivenGraph) else Needs(recipe.n_neighbors(points.n_samples))

    def _fit_density(
        self,
        density: GraphDensity,
        samples: DistinctSamples,
        graph: NeighborGraph,
        needs: Needs,
        recipe: Recipe,
    ) -> Settings:
        """Fit the density, and return the settings of the recipe for the dimension of the graph."""
        with loop_stage("density", samples.points.n_samples):
            settings = settings_of(samples.points, graph, recipe)
            if self.density is None:
                n_neighbors = needs.n_neighbors or "auto"
                density.set_params(n_neighbors=n_neighbors, start_power=settings.start_power)
            density.fit_graph(samples.points, graph, needs, samples.totals)
        return settings


def _with_settings_of(clusterer: DensityClusterer, density: GraphDensity) -> GraphDensity:
    """The density with the metric, the search and the threads of the clusterer, which searches for both."""
    for name in ("metric", "metric_params", "search"):
        own, theirs = getattr(density, name), getattr(clusterer, name)
        if own is None:
            density.set_params(**{name: theirs})
        elif not _same(own, theirs):
            raise ValueError(
                f"the density has {name}={own!r} and the clusterer {name}={theirs!r}, but one search "
                "serves both; give it to the clusterer alone"
            )
    if density.n_jobs is None:
        density.set_params(n_jobs=clusterer.n_jobs)
    density._validate_params()
    return density


def _same(own: Any, theirs: Any) -> bool:
    """Equality that reaches into dictionaries and arrays."""
    if isinstance(own, dict) and isinstance(theirs, dict):
        return own.keys() == theirs.keys() and all(_same(own[key], theirs[key]) for key in own)
    if isinstance(own, np.ndarray) or isinstance(theirs, np.ndarray):
        return np.array_equal(own, theirs)
    return bool(own == theirs)


def resolved_n_neighbors(n_neighbors: int | str, points: PointSet | GivenGraph) -> int | None:
    """A number of neighbours; None stands for the whole rows of a given graph."""
    if n_neighbors == "auto":
        return points.automatic_n_neighbors()
    return check_n_neighbors(n_neighbors, points.n_samples)


def resolved_radius(radius: float | str, n_neighbors: int | str, points: PointSet | GivenGraph) -> float:
    """A radius; "auto" is the typical distance to the k-th neighbour, k given by `n_neighbors`."""
    if radius != "auto":
        return check_radius(radius)
    return points.typical_radius(resolved_n_neighbors(n_neighbors, points))
