"""DensityPeaks: hills of a density become clusters."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from diffpeaks._sklearn_compat import Interval, StrOptions, check_params, whole_fit, with_input_tags
from diffpeaks.cuts import RULES, Cut, automatic_cut, check_one_of, select_peaks
from diffpeaks.density import GraphDensity, KernelDiffusion, fitted_density, points_of
from diffpeaks.density.base import CLUSTERER_CONSTRAINTS, N_NEIGHBORS
from diffpeaks.graph import NeighborGraph
from diffpeaks.insights import PeakInsights
from diffpeaks.lone import lone_samples_linked
from diffpeaks.model_file import SavedModel
from diffpeaks.noise import FATES, Clusters, Noise, NoisePolicy, links_out_of_noise, noise_in, settled
from diffpeaks.peaks import PeakForest, complete_forest, hill_links, peak_forest, peak_labels, without_halo
from diffpeaks.places import Places
from diffpeaks.progress import Callback, stage

DEFAULT_STEPS = 3


class DensityPeaks(PeakInsights, SavedModel, ClusterMixin, BaseEstimator):
    """Density peaks clustering on a kernel diffusion density.

    Each sample is linked to its nearest denser neighbour; a cut decides which samples are peaks, and
    every other sample belongs to the peak that its links lead to. Without a cut one is chosen from
    the data.

    Parameters
    ----------
    density : estimator, str, array, callable or None
        `KernelDiffusion`, `NaiveDensity` or `LocalContrast`; a name of the paper: "naive", "lc",
        "kd-sym", "kd-asym", "fkd-sym", "fkd-asym"; one value for each sample; or a function of the
        `NeighborGraph` that returns these. None is `KernelDiffusion(steps=3)` on
        distinct samples, where one that occurs several times is one of that weight.
    n_clusters : int, optional
        Take that many peaks, those with the largest density x delta.
    max_link : float, optional
        Drop links of that length or longer.
    min_prominence : float, optional
        Absorb hills that rise less than that above their saddle, in log density; infinity leaves one
        hill for each connected part of the graph.
    n_neighbors : int or "auto"
        Neighbours to search where `density` does not say: for the default density, for values and
        for functions. "auto" is 2.75 log2(n) of n distinct samples for the default density, and 2 log2(n)
        for the others.
    halo : bool
        Keep the cores only: samples below the densest border sample of their cluster become noise.
    min_cluster_size : int
        Samples of clusters with fewer samples, halo counted, become noise.
    noise : {"keep", "assign", "singletons"}
        "keep" labels noise -1. "assign" gives each sample of it to the remaining cluster that it reaches
        over its nearest denser samples, however far. "singletons" makes each a cluster of its own, after
        the others, and counts it in `n_clusters_` and `peak_indices_`.
    metric, metric_params, search, n_jobs, verbose, callback
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.
    random_state : int, RandomState or None
        Draws what the automatic cut looks at; None stands for a fixed seed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density, singletons of noise last; -1 is noise.
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
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
        self._places = Places.seen_by(self.density, self._points, sample_weight)
        default = KernelDiffusion(self._places.n_neighbors(self.n_neighbors), steps=DEFAULT_STEPS)
        self.density_estimator_ = fitted_density(
            self.density, default, self, self._places.points, self._places.weights
        )
        self.graph_ = self._places.graph_of_samples(self.density_estimator_.graph_)
        self.density_ = self._places.of_samples(self.density_estimator_.density_)
        at_fit = ("halo", "min_cluster_size", "noise", "random_state", "n_jobs")
        self._by_default = self.density is None
        self._fitted = {name: getattr(self, name) for name in at_fit}
        self._complete: PeakForest | None = None
        self._automatic: Cut | None = None
        self.cut_ = self._cut(self.n_clusters, self.max_link, self.min_prominence)
        self.forest_ = self._forest(self.cut_)
        peaks = self._peaks(self.forest_, self.cut_)
        policy = self._noise_policy()
        self.labels_, self.peak_indices_ = self._clusters(self.forest_, peaks, self.cut_, policy)
        self.n_clusters_ = len(self.peak_indices_)
        return self

    def recut(
        self,
        n_clusters: int | None = None,
        max_link: float | None = None,
        min_prominence: float | None = None,
        halo: bool | None = None,
        min_cluster_size: int | None = None,
        noise: str | None = None,
        cut: Cut | None = None,
        peaks: Sequence[int] | None = None,
    ) -> NDArray[np.int64]:
        """Labels for another cut of the same density; with nothing given, the automatic one.

        `cut` is one in the place of the first three: `dataclasses.replace(model.cut_, min_prominence=1.0)`
        changes one rule of the fit and leaves the others, which a rule that is given alone does not. `peaks`
        are samples in the place of all rules, the densest one among them: all others follow their nearest
        denser sample, however far, until they meet one.
        Graph and density are kept, and the fitted attributes stay as they are. `halo`, `min_cluster_size`
        and `noise` are those of the fit where they are None. The first cut by `n_clusters` or `peaks`, and
        the first that assigns noise, looks for the nearest denser samples of the hilltops, however far.
        """
        check_is_fitted(self, "forest_")
        policy = self._noise_policy(halo=halo, min_cluster_size=min_cluster_size, noise=noise)
        check_one_of(cut, peaks, n_clusters, max_link, min_prominence)
        if peaks is not None:
            cut = Cut(peaks=tuple(peaks))
        elif cut is None:
            cut = self._cut(n_clusters, max_link, min_prominence)
        return self._with_cut(cut, policy).labels_

    def _with_cut(self, cut: Cut, policy: NoisePolicy) -> Self:
        """The same fit, cut in another way; what the cut does not decide is shared."""
        check_params(self, **{name: getattr(cut, name) for name in RULES})
        check_params(self, max_link=cut.max_lone_link)
        forest = self._forest(cut)
        labels, peaks = self._clusters(forest, self._peaks(forest, cut), cut, policy)
        other = copy(self)
        other.cut_, other.forest_, other._fitted = cut, forest, self._fitted | vars(policy)
        other.labels_, other.peak_indices_, other.n_clusters_ = labels, peaks, len(peaks)
        return other

    def _linked(self) -> NeighborGraph:
        """The graph along which hills are linked: of the default density only its nearest neighbours."""
        if not self._by_default:
            return self.graph_
        return self._places.graph_of_samples(
            hill_links(self.density_estimator_.graph_, self._fitted["n_jobs"])
        )

    def _cut(self, n_clusters: int | None, max_link: float | None, min_prominence: float | None) -> Cut:
        if n_clusters is None and max_link is None and min_prominence is None:
            if self._automatic is None:
                self._automatic = automatic_cut(
                    self._places.points, self.density_estimator_, self._fitted["random_state"]
                )
            return self._automatic
        return Cut(n_clusters, np.inf if max_link is None else max_link, min_prominence or 0.0)

    def _forest(self, cut: Cut) -> PeakForest:
        if cut.is_of_all_samples:
            return self._complete_forest()
        links = self._linked()
        forest = self._forest_along(links, cut.max_link)
        if cut.max_lone_link is None:
            return forest
        labels = peak_labels(forest, self._peaks(forest, cut))
        return lone_samples_linked(forest, links, labels, cut.max_lone_link)

    def _peaks(self, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        return select_peaks(forest, self.density_, cut)

    def _forest_within(self, max_link: float) -> PeakForest:
        return self._forest_along(self._linked(), max_link)

    def _forest_along(self, links: NeighborGraph, max_link: float) -> PeakForest:
        return peak_forest(
            links,
            self.density_,
            tie_break=self.density_estimator_.tie_break(),
            max_link=max_link,
            n_jobs=self._fitted["n_jobs"],
        )

    def _complete_forest(self) -> PeakForest:
        if self._complete is None:
            # along all neighbours: what links of hills leave out may be the nearest denser sample
            forest = self._forest_along(self.graph_, np.inf)
            self._complete = complete_forest(forest, self._points, self.graph_.n_neighbors or 1)
        return self._complete

    def _noise_policy(self, **given: Any) -> NoisePolicy:
        """What is given, and the rest as at the fit."""
        at_fit = {field.name: self._fitted[field.name] for field in fields(NoisePolicy)}
        policy = at_fit | {name: value for name, value in given.items() if value is not None}
        check_params(self, **policy)
        return NoisePolicy(**policy)

    @stage("labels")
    def _clusters(
        self, forest: PeakForest, peaks: NDArray[np.int64], cut: Cut, policy: NoisePolicy
    ) -> Clusters:
        clusters = Clusters(peak_labels(forest, peaks), peaks)
        is_noise = self._noise(clusters.labels, cut, policy).samples
        return settled(clusters, is_noise, policy.noise, forest.rank, self._links_out_of)

    def _noise(self, labels: NDArray[np.int64], cut: Cut, policy: NoisePolicy) -> Noise:
        return noise_in(
            labels, policy, lambda: without_halo(labels, self._linked(), self.density_, cut.longest_link)
        )

    def _links_out_of(self, is_noise: NDArray[np.bool_]) -> NDArray[np.int32]:
        complete = self._complete_forest()
        return links_out_of_noise(is_noise, complete, self._points, self.graph_.n_neighbors or 1)

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(super().__sklearn_tags__(), self.metric)
