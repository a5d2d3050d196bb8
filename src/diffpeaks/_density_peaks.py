"""DensityPeaks: hills of a density become clusters."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from diffpeaks._sklearn_compat import Interval, StrOptions, whole_fit, with_input_tags
from diffpeaks.density import GraphDensity, KernelDiffusion, fitted_density, points_of
from diffpeaks.density.base import CLUSTERER_CONSTRAINTS, N_NEIGHBORS
from diffpeaks.dimension import LinkShares, intrinsic_dimension, link_shares, start_power_in
from diffpeaks.hill_cuts import HillCuts
from diffpeaks.insights import PeakInsights
from diffpeaks.isolation import Isolation, isolation_of
from diffpeaks.model_file import SavedModel
from diffpeaks.noise import FATES
from diffpeaks.places import Places
from diffpeaks.progress import Callback
from diffpeaks.recipes import DEFAULT, Recipe
from diffpeaks.smoothing import Smoothing, smoothed


class DensityPeaks(HillCuts, PeakInsights, SavedModel, ClusterMixin, BaseEstimator):
    """Density peaks clustering on a kernel diffusion density.

    Each sample is linked to its nearest denser neighbour; a cut decides which samples are peaks, and
    every other sample belongs to the peak that its links lead to. Without a cut one is chosen from
    the data.

    Parameters
    ----------
    density : estimator, str, array, callable or None
        `KernelDiffusion`, `NaiveDensity` or `LocalContrast`; a name of the paper: "naive", "lc",
        "kd-sym", "kd-asym", "fkd-sym", "fkd-asym"; one value for each sample; or a function of the
        `NeighborGraph` that returns these. None is `KernelDiffusion(steps=3, start_power=m)`, m
        the intrinsic dimension, at most 2, on distinct samples, where one that occurs several times is one of
        that weight, linked along its nearest neighbours alone.
    n_clusters : int, optional
        Take that many peaks, those with the largest density x delta.
    max_link : float, optional
        Drop links of that length or longer.
    min_prominence : float, optional
        Absorb hills that rise less than that above their saddle, in log density; infinity leaves one
        hill for each connected part of the graph. The cut that is chosen from the data weighs saddles by
        what flows over them, too, in many dimensions: `cut_.flow_weight`.
    n_neighbors : int or "auto"
        Neighbours to search where `density` does not say: for the default density, for values and
        for functions. "auto" is 3 log2(n) of n distinct samples for the default density, and 2 log2(n)
        for the others.
    halo : bool
        Keep the cores only: samples below the densest border sample of their cluster become noise.
    min_cluster_size : int
        Samples of clusters with fewer samples, halo counted, become noise.
    noise : {"keep", "assign", "singletons"}
        "keep" labels noise -1. "assign" gives each sample of it to the remaining cluster that it reaches
        over its nearest denser samples, however far. "singletons" makes each a cluster of its own, after
        the others, and counts it in `n_clusters_` and `peak_indices_`.
    smooth : bool or "auto"
        Move samples towards their mutual neighbours first, the more the more dimensions there are. "auto"
        does so for dense Euclidean or cosine data without strangers (`isolation_`) where neither `density`
        nor `max_link` is given.
    metric, metric_params, search, n_jobs, verbose, callback
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.
    random_state : int, RandomState or None
        Draws the pairs of samples whose distance says what far is; None stands for a fixed seed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density, singletons of noise last; -1 is noise.
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
    smoothing_ : Smoothing or None
        By how much samples were moved; None where they stay. Density, graph and cut are those of the moved
        samples.
    isolation_ : Isolation
        Whether samples far from all others are taken for strangers, who stay alone, or for outliers of
        clusters, and why. `max_link`, `min_cluster_size` and `noise` override it.
    peak_indices_ : array of int, one for each cluster
    n_clusters_ : int
    cut_ : Cut
        The cut that was used; what "automatic" chose can be read here.
    forest_ : PeakForest
    graph_ : NeighborGraph
    probabilities_ : array of shape (n_samples,)
        How surely each sample belongs to its cluster; `memberships` has the others that it may belong to.
    outlier_scores_ : array of shape (n_samples,)
        How far each density falls below that of the sample's neighbours.

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = DensityPeaks().fit(X)
    >>> model.n_clusters_
    2
    >>> len(set(model.recut(n_clusters=3)))
    3
    """

    _parameter_constraints = {
        "density": [GraphDensity, str, "array-like", callable, None],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "max_link": [Interval(Real, 0, None, closed="right"), None],
        "min_prominence": [Interval(Real, 0, None, closed="both"), None],
        "n_neighbors": [*N_NEIGHBORS, StrOptions({"auto"})],
        "halo": ["boolean"],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "noise": [StrOptions(FATES)],
        "smooth": ["boolean", StrOptions({"auto"})],
        "random_state": ["random_state"],
        **CLUSTERER_CONSTRAINTS,
    }

    _recipe: Recipe = DEFAULT  # a subclass may have other constants

    def __init__(
        self,
        density: Any = None,
        n_clusters: int | None = None,
        max_link: float | None = None,
        min_prominence: float | None = None,
        *,
        n_neighbors: Any = "auto",
        halo: bool = False,
        min_cluster_size: int = 1,
        noise: str = "keep",
        smooth: bool | str = "auto",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.density = density
        self.n_clusters = n_clusters
        self.max_link = max_link
        self.min_prominence = min_prominence
        self.n_neighbors = n_neighbors
        self.halo = halo
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.smooth = smooth
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose, self.callback = verbose, callback

    @whole_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them. It is kept, not
            copied: do not change it in place while the fit is in use.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many samples each one stands for, or any other positive weight; only ratios count. For
            the default density alone; a neighbour counts once among `n_neighbors`, whatever it weighs.
        """
        self._points = points_of(self, X)
        distinct = Places.seen_by(self.density, self._points, sample_weight)
        self._places, self.smoothing_, isolation = self._smoothed(distinct)
        places, recipe, self._by_default = self._places, self._recipe, self.density is None
        known, default, self._dimension, self._link_shares = places.graph, None, np.inf, LinkShares()
        if self._by_default:
            known = places.searched(self.n_neighbors, recipe)
            self._dimension = intrinsic_dimension(known, places.points.degree)
            self._link_shares = link_shares(self._dimension, known.n_neighbors or 1, recipe)
            default = self._default_density(places)
        self.density_estimator_ = fitted_density(
            self.density, default, self, places.points, places.weights, known
        )
        graph = self.density_estimator_.graph_
        self.isolation_ = isolation or isolation_of(places.points, graph, recipe, self.random_state)
        self.graph_ = places.graph_of_samples(graph)
        self.density_ = places.of_samples(self.density_estimator_.density_)
        at_fit = ("halo", "min_cluster_size", "noise", "random_state", "n_jobs")
        self._fitted = {name: getattr(self, name) for name in at_fit}
        self._complete = self._automatic = None
        self.cut_ = self._cut(self.n_clusters, self.max_link, self.min_prominence)
        self.forest_ = self._forest(self.cut_)
        peaks = self._peaks(self.forest_, self.cut_)
        policy = self._noise_policy()
        self.labels_, self.peak_indices_ = self._clusters(self.forest_, peaks, self.cut_, policy)
        self.n_clusters_ = len(self.peak_indices_)
        return self

    def _smoothed(self, places: Places) -> tuple[Places, Smoothing | None, Isolation | None]:
        """Where the density sees the samples, how they were moved, and what far ones are, if it is known."""
        if self.smooth == "auto" and (self.density is not None or self.max_link is not None):
            return places, None, None
        if self.smooth is True and not places.points.can_move:
            raise ValueError(
                "smooth=True needs dense points and metric='euclidean' or 'cosine', where means are points; "
                f"with metric={self.metric!r} on this X use smooth='auto', which leaves samples as they are"
            )
        if not self.smooth or not places.points.can_move:
            return places, None, None
        graph = places.points.graph(places.n_neighbors(self.n_neighbors, self._recipe))
        isolation = isolation_of(places.points, graph, self._recipe, self.random_state)
        if self.smooth == "auto" and isolation.are_strangers:
            return replace(places, graph=graph), None, isolation
        return *smoothed(places, graph, self._recipe), isolation

    def _default_density(self, places: Places) -> KernelDiffusion:
        recipe = self._recipe
        return KernelDiffusion(
            places.n_neighbors(self.n_neighbors, recipe),
            steps=recipe.steps,
            start_power=start_power_in(self._dimension, recipe),
        )

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(super().__sklearn_tags__(), self.metric)
