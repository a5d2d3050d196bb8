"""DensityDBSCAN: samples above a density threshold, joined along the graph."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from diffpeaks._base.sklearn_parts import Interval, StrOptions, check_params
from diffpeaks.density import DensityClusterer, GraphDensity, KernelDiffusion
from diffpeaks.density.base import CLUSTERER_CONSTRAINTS, N_NEIGHBORS, new_samples
from diffpeaks.density.samples import isolation_of
from diffpeaks.density.weights import Absent, weighed
from diffpeaks.forest.peaks import PeakForest, hill_links
from diffpeaks.neighbors import DistinctSamples
from diffpeaks.neighbors.inputs import transactional_fit
from diffpeaks.progress import Callback
from diffpeaks.recipes import Recipe
from diffpeaks.results.absent import Leaves, predicted_beside
from diffpeaks.results.cores import CoreClustering
from diffpeaks.results.sweeps import Sweep, core_sweep


class DensityDBSCAN(DensityClusterer):
    """DBSCAN with any density instead of the number of samples in a ball.

    With `NaiveDensity(radius=eps)` and `min_density=min_samples` this is classic DBSCAN, with one difference:
    a border sample joins its nearest core, not the first one that is found.

    Parameters
    ----------
    density : estimator, str, array, callable or None
        As in `DensityPeaks`; None is `KernelDiffusion(steps=3)`. Its cores are joined only along their
        nearest neighbours, and if isolated samples are strangers (`isolation_`), only along short links.
    min_density : float or "auto"
        A sample of that density or more is a core sample. Diffusion densities have mean one. "auto" is 0.8
        for the default density, and 1 for the others.
    border : bool
        Whether a sample that is no core joins its nearest core neighbour; otherwise it is noise.
    n_neighbors : int or "auto"
        Number of neighbours, the sample itself included, for the default density, for values and for
        functions; other densities have their own parameter. "auto" is 3 log2(n) of n distinct samples for the
        default density, and 2 log2(n) for the others.
    recipe : Recipe, optional
        As in `DensityPeaks`; only its duplicates, neighbours, steps, links and core density are used.
    metric, metric_params, search, n_jobs, device, verbose, callback
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density; -1 is noise.
    core_sample_indices_ : array
    min_density_ : float
    isolation_ : Isolation
        Whether isolated samples are strangers or outliers. If they are strangers, long links join no cores.
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
    peak_indices_ : array of int, one for each cluster
        The densest sample of each cluster.
    n_clusters_ : int
    forest_ : PeakForest
    graph_ : NeighborGraph

    Examples
    --------
    >>> from diffpeaks import DensityDBSCAN, NaiveDensity
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [20.0]]
    >>> DensityDBSCAN(NaiveDensity(radius=1.0), min_density=2).fit_predict(X).tolist()
    [0, 0, 0, 1, 1, -1]
    """

    _parameter_constraints = {
        "density": [GraphDensity, str, "array-like", callable, None],
        "min_density": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "border": ["boolean"],
        "n_neighbors": [*N_NEIGHBORS, StrOptions({"auto"})],
        "recipe": [Recipe, None],
        **CLUSTERER_CONSTRAINTS,
    }

    def __init__(
        self,
        density: Any = None,
        min_density: float | str = "auto",
        border: bool = True,
        *,
        n_neighbors: Any = "auto",
        recipe: Recipe | None = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
        device: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.density = density
        self.min_density = min_density
        self.border = border
        self.n_neighbors = n_neighbors
        self.recipe = recipe
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs, self.device = n_jobs, device
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
            As in `DensityPeaks`. With `NaiveDensity` the density of a sample is what the samples of its ball
            weigh, as in scikit-learn's DBSCAN. A sample of weight 0 is not there, and its label is predicted.
        """
        recipe, density = self._recipe_and_density(KernelDiffusion)
        X, weights, self._absent = self._checked(X), None, None
        if sample_weight is not None:
            X, weights, self._absent = weighed(X, sample_weight, density, self.metric)

        # distinct samples, their neighbours, and whether samples far from all others are strangers
        merge = recipe.merge_duplicates and density.merges_duplicates
        samples = DistinctSamples.of(self._searchable(X), weights, merge)
        needs = self._needs(density, samples, recipe)
        graph = samples.graph(*needs)
        points = samples.points
        self.isolation_ = isolation_of(points, graph, recipe)

        # the density, by default of a walk from a uniform start
        settings = self._fit_density(density, samples, graph, needs, replace(recipe, start_power=0.0))

        # cores, and the links that join them; without a recipe those of a density that is given are the graph
        follows_recipe = self.density is None or self.recipe is not None
        max_link = self.isolation_.max_link if follows_recipe else np.inf
        links = samples.graph_of_samples(hill_links(graph, settings.links, points.n_threads).below(max_link))
        by_recipe = isinstance(self.min_density, str)
        min_density = recipe.core_density if by_recipe else float(self.min_density)
        return self._set(CoreClustering(density, samples, links, max_link, min_density, self.border))

    _absent: Absent | None

    def _set(self, cores: CoreClustering) -> Self:
        self._cores, self.density_estimator_ = cores, cores.estimator
        self.min_density_, self.n_clusters_ = cores.min_density, len(cores.peaks)
        self.labels_ = self._labels(cores)
        self.core_sample_indices_: NDArray[Any] = np.flatnonzero(cores.is_core)
        self.peak_indices_: NDArray[Any] = cores.peaks
        self.graph_, self.density_ = cores.graph, cores.density
        if self._absent is not None:
            present, leaves = self._absent.present, self._leaves
            self.core_sample_indices_ = present[self.core_sample_indices_]
            self.peak_indices_ = present[cores.peaks]
            self.graph_ = leaves.graph(cores.graph)
            self.density_ = self._absent.among(cores.density, leaves.density)
        return self

    @property
    def _leaves(self) -> Leaves:
        """The samples of weight zero, of which there are some."""
        assert self._absent is not None
        cores = self._cores
        return Leaves.of(self._absent, cores.estimator, self._absent.X, cores.distinct.first)

    def _labels(self, cores: CoreClustering) -> NDArray[np.int64]:
        if self._absent is None:
            return cores.labels
        return self._absent.among(cores.labels, cores.predicted(self._absent.X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The clusters that new samples belong to; nothing that was fitted changes.

        A sample joins its nearest core among the fitted samples that the fit would have looked at, as a
        border sample does; without `border` only if it is dense enough to be a core itself. Otherwise it
        is noise. A fitted sample has its label of the fit. Without `border`, where the density is given as
        values or a function, the nearest sample decides.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_new, n_features)
            With `metric="precomputed"` distances to all samples of the fit. A fit on a graph, which knows
            no other samples, cannot predict.
        """
        check_is_fitted(self, "labels_")
        X, absent = new_samples(self, self.density_estimator_, X), self._absent
        if absent is None:
            return self._cores.predicted(X)
        return predicted_beside(absent, self._cores.predicted, absent.as_fitted(X))

    def recut(self, min_density: float | None = None, border: bool | None = None) -> NDArray[np.int64]:
        """Labels for another threshold of the same density.

        Graph and density are kept, and the fitted attributes stay as they are. What is not given is
        that of the fit.
        """
        check_is_fitted(self, "labels_")
        min_density = self._cores.min_density if min_density is None else min_density
        border = self._cores.border if border is None else border
        check_params(self, min_density=min_density, border=border)
        return self._labels(replace(self._cores, min_density=min_density, border=border))

    def sweep(self, y_true: Any) -> Sweep:
        """Scores of every `min_density` against the truth, without border, all from one sorted pass."""
        check_is_fitted(self, "labels_")
        check_consistent_length(self.labels_, y_true)
        known = y_true if self._absent is None else np.asarray(y_true)[self._absent.present]
        return core_sweep(self._cores.forest, self._cores.density, known)

    @property
    def forest_(self) -> PeakForest:
        """The hills of the density along the links; a cluster is what rises together above the threshold."""
        check_is_fitted(self, "labels_")
        forest = self._cores.forest
        return forest if self._absent is None else self._leaves.forest(forest)
