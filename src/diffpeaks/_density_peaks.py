"""DensityPeaks: hills of a density become clusters."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks.cuts import cut_by
from diffpeaks.cuts.noise import NOISE_ACTIONS, NoisePolicy
from diffpeaks.density import DensityClusterer, GraphDensity, KernelDiffusion
from diffpeaks.density.base import CLUSTERER_CONSTRAINTS, N_NEIGHBORS, Needs
from diffpeaks.density.samples import isolation_of, smoothed
from diffpeaks.density.weights import weighed
from diffpeaks.neighbors import DistinctSamples, GivenGraph, PointSet
from diffpeaks.neighbors.inputs import transactional_fit
from diffpeaks.progress import Callback
from diffpeaks.recipes import Recipe
from diffpeaks.results.absent import WithAbsent
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.fitted_methods import FittedMethods
from diffpeaks.results.landscape import Landscape, Tried


class DensityPeaks(FittedMethods, DensityClusterer):
    """Density peaks clustering on a kernel diffusion density.

    Each sample is linked to its nearest denser neighbour. A cut decides which samples are peaks, and every
    other sample belongs to the peak that its links lead to. If no cut is given, it is automatic.

    Parameters
    ----------
    density : estimator, str, array, callable or None
        `KernelDiffusion`, `NaiveDensity` or `LocalContrast`; a name of the paper: "naive", "lc",
        "kd-sym", "kd-asym", "fkd-sym", "fkd-asym"; one value for each sample; or a function of the
        `NeighborGraph` that returns these. None is `KernelDiffusion(steps=3, start_power=m)`, m
        the intrinsic dimension, at most 2.
    n_clusters : int, optional
        Use that many peaks, those with the largest density x delta.
    max_link : float, optional
        Drop links of that length or longer. Beside `n_clusters`, `max_link` and `min_prominence` drop and
        merge nothing: they say which samples may be peaks.
    min_prominence : float, optional
        Merge hills that rise less than that above their saddle, in log density; infinity leaves one hill for
        each connected component of the graph. The automatic cut also uses the flow over saddles
        (`cut_.flow_weight`), and in few dimensions the size of hills (`cut_.size_weight`).
    n_neighbors : int or "auto"
        Number of neighbours, the sample itself included, for the default density, for values and for
        functions; other densities have their own parameter. "auto" is 3 log2(n) of n distinct samples for the
        default density, or half of these if nearly all samples would be one cluster
        (`recipes.Recipe.dominant`), and 2 log2(n) for the others.
    halo : bool
        Keep only the cores: samples less dense than the densest border sample of their cluster become noise.
    min_cluster_size : int
        Samples of clusters with fewer samples, the halo included, become noise.
    noise : {"keep", "assign", "singletons"}
        "keep" labels noise -1. "assign" puts each noise sample into the cluster that its nearest denser
        samples lead to, at any distance. "singletons" makes each noise sample a cluster, numbered after the
        others and counted in `n_clusters_` and `peak_indices_`.
    smooth : bool or "auto"
        Move samples towards their mutual neighbours first, farther in more dimensions. "auto" does so for
        dense Euclidean or cosine data without strangers (`isolation_`), if neither `density` nor `max_link`
        is given.
    recipe : Recipe, optional
        The choices and constants of everything that is not given. For the default density, None is
        `recipes.DEFAULT`: duplicates are one sample of their weight, samples are smoothed, hills are linked
        along short links, and the flow over saddles is used. For a given density, None is `recipes.PLAIN`,
        without all of these. `replace(DEFAULT, rise=1.0)` changes one constant.
    metric, metric_params, search, n_jobs, device, verbose, callback
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.
    random_state : int, RandomState or None
        Seed for the random pairs of samples whose median distance defines isolated samples; None is a fixed
        seed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density, singletons of noise last; -1 is noise.
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
    smoothing_ : Smoothing or None
        How far samples were moved; None if they were not. Density, graph and cut are those of the moved
        samples.
    isolation_ : Isolation
        Whether isolated samples are treated as strangers, each a cluster of its own, or as outliers, which
        join a cluster, and why. `max_link`, `min_cluster_size` and `noise` override it.
    peak_indices_ : array of int, one for each cluster
    n_clusters_ : int
    cut_ : Cut
        The cut that was used, also if it is automatic.
    forest_ : PeakForest
    graph_ : NeighborGraph
    probabilities_ : array of shape (n_samples,)
        How certain each label is; `memberships` has the other candidates.
    outlier_scores_ : array of shape (n_samples,)
        How much less dense each sample is than its neighbours.

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
        "noise": [StrOptions(NOISE_ACTIONS)],
        "smooth": ["boolean", StrOptions({"auto"})],
        "recipe": [Recipe, None],
        "random_state": ["random_state"],
        **CLUSTERER_CONSTRAINTS,
    }

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
        recipe: Recipe | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
        device: Any = None,
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
        self.recipe = recipe
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs, self.device = n_jobs, device
        self.random_state = random_state
        self.verbose, self.callback = verbose, callback

    @transactional_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them. It is kept, not
            copied: do not change it in place while the fit is in use.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many samples each one stands for, or any other weight, of which only ratios count for
            diffusion densities. A sample of weight 0 is not there: the others are clustered without it, and
            what the fit says of it is what it predicts. A neighbour counts once among `n_neighbors`,
            whatever it weighs.
        """
        recipe, density = self._recipe_and_density(KernelDiffusion)
        X, weights, absent = self._checked(X), None, None
        if sample_weight is not None:
            X, weights, absent = weighed(X, sample_weight, density, self.metric)
        clustering = self._clustered(self._searchable(X), weights, density, recipe)
        return self._set(clustering if absent is None else WithAbsent(clustering, absent))

    def clustering_of(self, points: PointSet, weights: NDArray[np.float64] | None) -> Clustering:
        """The clustering of points that are known already, with the weight of each."""
        self._validate_params()
        recipe, density = self._recipe_and_density(KernelDiffusion)
        return self._clustered(points, weights, density, recipe)

    def _clustered(
        self,
        points: PointSet | GivenGraph,
        weights: NDArray[np.float64] | None,
        density: GraphDensity,
        recipe: Recipe,
    ) -> Clustering:
        """The method, from points to clusters, wherever the points lie: in memory, on a device, in files."""
        seed = fixed_seed(self.random_state)

        # distinct samples and their neighbour graph; smoothing asks for a number of neighbours, not for balls
        samples = DistinctSamples.of(points, weights, recipe.merge_duplicates and density.merges_duplicates)
        may_smooth = self._may_smooth(samples, recipe)
        by_recipe = self._recipe_needs(samples, recipe)
        graph = samples.graph(*(by_recipe if may_smooth else self._needs(density, samples, recipe)))

        # isolated samples: strangers, or outliers of clusters
        isolation = isolation_of(samples.points, graph, recipe, seed)

        # smoothing: samples move towards their neighbours, unless strangers would move into clusters
        smoothing = None
        if may_smooth and (self.smooth is True or not isolation.forbids_smoothing):
            samples, smoothing = smoothed(samples, graph, recipe, seed)

        # density, on the graph of the samples where they are now
        needs = self._needs(density, samples, recipe)
        settings = self._fit_density(density, samples, samples.graph(*needs), needs, recipe)

        # its hills, along links to denser neighbours; if nearly all samples are one cluster, a closer look
        landscape = Landscape(
            points, samples, density, isolation, smoothing, settings, recipe, seed, self.n_jobs
        )
        landscape = self._closer_look(landscape, needs.n_neighbors)

        # the cut: the one given, or the automatic one; its forest, peaks and labels
        cut = cut_by(self.n_clusters, self.max_link, self.min_prominence) or landscape.automatic_cut
        return Clustering.of(landscape, cut, NoisePolicy(self.halo, self.min_cluster_size, self.noise))

    def _may_smooth(self, samples: DistinctSamples, recipe: Recipe) -> bool:
        """Whether samples may be smoothed; their distances have the last word."""
        can_move = samples.points.can_move
        if self.smooth is True and not can_move:
            raise ValueError(
                "smooth=True needs dense points and metric='euclidean' or 'cosine', where means are points; "
                f"with metric={self.metric!r} on this X use smooth='auto', which leaves samples as they are"
            )
        automatic = recipe.smooth and self.max_link is None
        return can_move and bool(automatic if self.smooth == "auto" else self.smooth)

    def _closer_look(self, landscape: Landscape, n_neighbors: int | None) -> Landscape:
        """The landscape of fewer neighbours, if with all of them nearly all samples are one cluster.

        It must have no large cluster: what chance splits off is small, and leaves a large rest. What is
        given, a density or a number of neighbours, stays as it is.
        """
        if self.density is not None or self.n_neighbors != "auto" or n_neighbors is None:
            return landscape
        recipe, samples, share = landscape.recipe, landscape.distinct, landscape.largest_share
        fewer = max(2, round(recipe.closer_share * n_neighbors))
        if share <= recipe.dominant or fewer >= n_neighbors:
            return landscape
        graph = landscape.estimator.graph_.nearest(fewer)
        _, density = self._recipe_and_density(KernelDiffusion)
        settings = self._fit_density(density, samples, graph, Needs(fewer), recipe.closer())
        tried = Tried(n_neighbors, share)
        closer = replace(landscape, estimator=density, settings=settings, tried=tried)
        return closer if closer.largest_share <= 1 - recipe.dominant else landscape

    def _set(self, clustering: Clustering | WithAbsent) -> Self:
        landscape = clustering.landscape
        self._clustering = clustering
        self.density_estimator_ = landscape.estimator
        self.smoothing_, self.isolation_ = landscape.smoothing, landscape.isolation
        self.forest_, self.cut_ = clustering.forest, clustering.cut
        self.labels_, self.peak_indices_ = clustering.labels, clustering.peaks
        self.n_clusters_ = len(clustering.peaks)
        return self

    def _with(self, clustering: Clustering) -> Self:
        """The same fit with another clustering of it."""
        return copy(self)._set(clustering)


def fixed_seed(random_state: Any) -> int:
    """A seed that stays: a generator is asked for one, and None stands for 0."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return int(random_state or 0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
