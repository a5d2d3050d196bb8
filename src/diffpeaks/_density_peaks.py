"""DensityPeaks: hills of a density become clusters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from diffpeaks._sklearn_compat import Interval, StrOptions, check_params, whole_fit, with_input_tags
from diffpeaks.cuts import Cut, automatic_cut, select_peaks
from diffpeaks.density import GraphDensity, KernelDiffusion, fitted_density, points_of
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS, new_samples
from diffpeaks.graph import NeighborGraph
from diffpeaks.model_file import SavedModel
from diffpeaks.peaks import (
    PeakForest,
    border_density,
    complete_forest,
    peak_forest,
    peak_labels,
    without_halo,
)
from diffpeaks.places import Places
from diffpeaks.prediction import HillRule, Rule, Surroundings, nearest_rule, predicted_labels
from diffpeaks.sweeps import Sweep, link_sweep, peak_sweep, prominence_sweep

# The default density smooths over all neighbours; its hills are linked along the nearest ones alone,
# which seldom reach across a valley.
LINKED_SHARE = 0.25
DEFAULT_STEPS = 3


class DensityPeaks(SavedModel, ClusterMixin, BaseEstimator):
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
        distinct samples: a sample that occurs several times is one of that weight.
    n_clusters : int, optional
        Take that many peaks, those with the largest density x delta.
    max_link : float, optional
        Drop links of that length or longer.
    min_prominence : float, optional
        Absorb hills that rise less than that above their saddle, in log density; infinity leaves one
        hill for each connected part of the graph.
    n_neighbors : int or "auto"
        Neighbours to search where `density` does not say: for the default density, for values and
        for functions. "auto" is 2.75 log2(n).
    halo : bool
        Keep the cores only: samples below the densest border sample of their cluster become noise.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.
    random_state : int, RandomState or None
        Draws what the automatic cut looks at; None stands for a fixed seed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of peak density; -1 is noise.
    density_ : array of shape (n_samples,)
    density_estimator_ : the fitted density
    peak_indices_ : array of shape (n_clusters_,)
    n_clusters_ : int
    cut_ : Cut
        The cut that was used; what "automatic" chose can be read here.
    forest_ : PeakForest
    graph_ : NeighborGraph

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
        "random_state": ["random_state"],
        **SEARCH_CONSTRAINTS,
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
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.density = density
        self.n_clusters = n_clusters
        self.max_link = max_link
        self.min_prominence = min_prominence
        self.n_neighbors = n_neighbors
        self.halo = halo
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs
        self.random_state = random_state

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
        self._places = self._settled_places(sample_weight)
        default = KernelDiffusion(steps=DEFAULT_STEPS)
        self.density_estimator_ = fitted_density(
            self.density, default, self, self._places.points, self._places.weights
        )
        self.graph_ = self._places.graph_of_samples(self.density_estimator_.graph_)
        self.density_ = self._places.of_samples(self.density_estimator_.density_)
        self._linked_share = LINKED_SHARE if self.density is None else 1.0
        self._fitted = {"halo": self.halo, "random_state": self.random_state, "n_jobs": self.n_jobs}
        self._complete: PeakForest | None = None
        self._automatic: Cut | None = None
        self.cut_ = self._cut(self.n_clusters, self.max_link, self.min_prominence)
        self.forest_ = self._forest(self.cut_)
        self.peak_indices_ = select_peaks(self.forest_, self.density_, self.cut_)
        self.n_clusters_ = len(self.peak_indices_)
        self.labels_ = self._labels(self.forest_, self.peak_indices_, self.cut_, self.halo)
        return self

    def _settled_places(self, sample_weight: Any) -> Places:
        """The default density sees distinct samples, others each sample as it is."""
        if self.density is None:
            return Places.distinct(self._points, sample_weight)
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight is given, but density={self.density!r} counts samples; use density=None"
            )
        return Places(self._points)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The clusters that new samples belong to; nothing that was fitted changes.

        A sample goes to its nearest denser neighbour among the fitted samples that the fit would have
        looked at, or to its nearest neighbour if none is denser. It is noise if the cut drops links to all
        of them, or where the fit leaves out the halo and it lies there. A fitted sample has its label of
        the fit. Where the density is given as values or a function, the nearest sample decides.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_new, n_features)
            With `metric="precomputed"` distances to all samples of the fit. A fit on a graph, which knows
            no other samples, cannot predict.

        Examples
        --------
        >>> from diffpeaks import DensityPeaks
        >>> from sklearn.datasets import make_moons
        >>> X, _ = make_moons(200, noise=0.05, random_state=0)
        >>> model = DensityPeaks().fit(X)
        >>> model.predict([[0.0, 1.0], [1.0, -0.5], [50.0, 50.0]]).tolist()
        [0, 1, -1]
        """
        check_is_fitted(self, "forest_")
        X = new_samples(self, self.density_estimator_, X)
        around = Surroundings(
            self.density_estimator_,
            self._linked_share,
            self._longest_link(self.cut_),
            at_least=0 if self.cut_.n_clusters is None else 1,
        )
        return predicted_labels(X, self.labels_, around, self._rule())

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Density at new samples, on the scale of `density_`; refused where it was given as values."""
        check_is_fitted(self, "forest_")
        return self.density_estimator_.score_samples(new_samples(self, self.density_estimator_, X))

    def recut(
        self,
        n_clusters: int | None = None,
        max_link: float | None = None,
        min_prominence: float | None = None,
        halo: bool | None = None,
    ) -> NDArray[np.int64]:
        """Labels for another cut of the same density; with nothing given, the automatic one.

        Graph and density are kept, and the fitted attributes stay as they are. `halo=None` is that of
        the fit. The first cut by `n_clusters` looks for the nearest denser samples of the hilltops,
        however far.
        """
        check_is_fitted(self, "forest_")
        halo = self._fitted["halo"] if halo is None else halo
        check_params(self, n_clusters=n_clusters, max_link=max_link, min_prominence=min_prominence, halo=halo)
        cut = self._cut(n_clusters, max_link, min_prominence)
        forest = self._forest(cut)
        peaks = select_peaks(forest, self.density_, cut)
        return self._labels(forest, peaks, cut, halo)

    def sweep(self, y_true: Any, rule: str = "max_link") -> Sweep:
        """Scores of every cut by one rule against the truth, all from one sorted pass.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
        rule : {"max_link", "n_clusters", "min_prominence"}
            The parameter that takes all its values; the others are not used.
        """
        check_is_fitted(self, "forest_")
        check_consistent_length(self.labels_, y_true)
        if rule == "max_link":
            return link_sweep(self._forest_within(np.inf), y_true)
        if rule == "n_clusters":
            return peak_sweep(self._complete_forest(), self.density_, y_true)
        if rule == "min_prominence":
            return prominence_sweep(self._forest_within(np.inf), y_true)
        raise ValueError(f"rule={rule!r} is unknown; use 'max_link', 'n_clusters' or 'min_prominence'")

    def decision_graph(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Density and exact delta of each sample; the densest sample's delta is infinite."""
        check_is_fitted(self, "forest_")
        return self.density_, self._complete_forest().delta

    def _linked(self) -> NeighborGraph:
        """The graph along which hills are linked."""
        if self._linked_share == 1:
            return self.graph_
        nearest = self.density_estimator_.graph_.nearest_share(self._linked_share)
        return self._places.graph_of_samples(nearest)

    def _cut(self, n_clusters: int | None, max_link: float | None, min_prominence: float | None) -> Cut:
        if n_clusters is None and max_link is None and min_prominence is None:
            if self._automatic is None:
                self._automatic = automatic_cut(
                    self._places.points, self.density_estimator_, self._fitted["random_state"]
                )
            return self._automatic
        return Cut(n_clusters, np.inf if max_link is None else max_link, min_prominence or 0.0)

    def _forest(self, cut: Cut) -> PeakForest:
        return self._forest_within(cut.max_link) if cut.n_clusters is None else self._complete_forest()

    def _forest_within(self, max_link: float) -> PeakForest:
        return peak_forest(
            self._linked(),
            self.density_,
            tie_break=self.density_estimator_.tie_break(),
            max_link=max_link,
            n_jobs=self._fitted["n_jobs"],
        )

    def _complete_forest(self) -> PeakForest:
        if self._complete is None:
            forest = self._forest_within(np.inf)
            self._complete = complete_forest(forest, self._points, self.graph_.n_neighbors or 1)
        return self._complete

    def _labels(
        self, forest: PeakForest, peaks: NDArray[np.int64], cut: Cut, halo: bool
    ) -> NDArray[np.int64]:
        labels = peak_labels(forest, peaks)
        if not halo:
            return labels
        return without_halo(labels, self._linked(), self.density_, self._longest_link(cut))

    def _longest_link(self, cut: Cut) -> float:
        """What a link must stay below; with `n_clusters` the cut says who may be a peak instead."""
        return cut.max_link if cut.n_clusters is None else np.inf

    def _rule(self) -> Rule:
        """How neighbours decide about new samples."""
        density = self.density_estimator_
        if not density.known_at_new_samples:
            return nearest_rule(self.labels_)
        if not self._fitted["halo"]:
            return HillRule(density, self.labels_)
        clusters = peak_labels(self.forest_, self.peak_indices_)
        border = border_density(clusters, self._linked(), self.density_, self._longest_link(self.cut_))
        return HillRule(density, clusters, border)

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(super().__sklearn_tags__(), self.metric)
