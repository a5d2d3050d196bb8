"""DensityDBSCAN: samples above a density threshold, joined along the graph."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from diffpeaks._sklearn_compat import Interval, checked_params, with_input_tags
from diffpeaks.density import GraphDensity, KernelDiffusion, points_of, resolved
from diffpeaks.density.base import SEARCH_CONSTRAINTS
from diffpeaks.linking import core_labels
from diffpeaks.order import NOISE, density_order, rank_of


class DensityDBSCAN(ClusterMixin, BaseEstimator):
    """DBSCAN with any density in the place of the count.

    With `NaiveDensity(radius=eps)` and `min_density=min_samples` this is the classic DBSCAN.

    Parameters
    ----------
    density : estimator, str, array, callable or None
        As in `DensityPeaks`; None is `KernelDiffusion()`.
    min_density : float
        A sample of that density or more is a core sample. Diffusion densities have mean one.
    border : bool
        Whether a sample that is no core joins its nearest core neighbour; otherwise it is noise.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density; -1 is noise.
    core_sample_indices_ : array
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
    peak_indices_ : array of shape (n_clusters_,)
        The densest sample of each cluster.
    n_clusters_ : int
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
        "min_density": [Interval(Real, 0, None, closed="left")],
        "border": ["boolean"],
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        density: Any = None,
        min_density: float = 1.0,
        border: bool = True,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.density = density
        self.min_density = min_density
        self.border = border
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    @checked_params
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            With `metric="precomputed"` distances among all samples, or a graph of them.
        y : ignored
        """
        points = points_of(self, X)
        estimator = resolved(KernelDiffusion() if self.density is None else self.density, self)
        needs = estimator.needs(points)
        self.density_estimator_ = estimator.fit_graph(points, points.graph(*needs), needs)
        self.graph_ = estimator.graph_
        self.density_ = estimator.density_
        core = self.density_ >= self.min_density
        order = density_order(self.density_, estimator.tie_break())
        self.core_sample_indices_ = np.flatnonzero(core)
        self.labels_ = core_labels(self.graph_, core, rank_of(order), self.border)
        self.n_clusters_ = int(self.labels_.max()) + 1
        first = np.unique(self.labels_[order], return_index=True)
        self.peak_indices_ = order[first[1][first[0] != NOISE]]
        return self

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(super().__sklearn_tags__(), self.metric)
