"""What a fitted DensityPeaks can be asked beyond its labels; computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from diffpeaks import confidence
from diffpeaks._sklearn_compat import check_params
from diffpeaks._validation import check_integer
from diffpeaks.density.base import new_samples
from diffpeaks.explanation import Explanation, explanation
from diffpeaks.graph import NeighborGraph
from diffpeaks.hierarchy import Hierarchy
from diffpeaks.neighbors import PointSet
from diffpeaks.noise import Clusters, Noise
from diffpeaks.order import NOISE
from diffpeaks.peaks import border_density, peak_labels
from diffpeaks.prediction import HillRule, Rule, Surroundings, nearest_rule, predicted_labels
from diffpeaks.smoothing import smoothed_samples
from diffpeaks.sweeps import Sweep, link_sweep, peak_sweep, prominence_sweep


def once_a_fit(compute: Callable[[Any], Any]) -> Any:
    """A property of a fitted clusterer, kept until it is fitted again."""
    name = f"_kept_{compute.__name__.strip('_')}"

    @wraps(compute)
    def kept(self: Any) -> Any:
        check_is_fitted(self, "labels_")
        labels, value = vars(self).get(name, (None, None))
        if labels is not self.labels_:  # a fit makes new labels
            value = compute(self)
            setattr(self, name, (self.labels_, value))
        return value

    return property(kept)


class PeakInsights:
    """New samples, confidence, reasons, sweeps and hierarchy of a fit, for `DensityPeaks`."""

    def predict(self: Any, X: Any) -> NDArray[np.int64]:
        """The clusters that new samples belong to; nothing that was fitted changes.

        A sample goes to its nearest denser neighbour among the fitted samples that the fit would have
        looked at, or to its nearest neighbour if none is denser. It is noise if the cut drops links to all
        of them, if they are noise, or if the fit leaves out the halo and it lies there. A fitted sample has
        its label of the fit. Where the density is given as values or a function, the nearest sample
        decides.

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
        >>> model.predict([[0.0, 1.0], [1.0, -0.5]]).tolist()
        [0, 1]
        """
        check_is_fitted(self, "labels_")
        density = self.density_estimator_
        X = new_samples(self, density, X)
        around = Surroundings(
            density,
            self._places.of_first(self.labels_),
            self._link_shares.nearest,
            self.cut_.longest_link,
            at_least=int(self.cut_.is_of_all_samples),
        )
        return predicted_labels(X, self._points, self.labels_, around, self._rule(), self._moved)

    def score_samples(self: Any, X: Any) -> NDArray[np.float64]:
        """Density at new samples, on the scale of `density_`; refused where it was given as values."""
        check_is_fitted(self, "labels_")
        X = new_samples(self, self.density_estimator_, X)
        return self.density_estimator_.score_samples(self._moved(X))

    def _moved(self: Any, X: Any) -> Any:
        """New samples where the density sees them."""
        if self.smoothing_ is None:
            return X
        return smoothed_samples(X, self._given_places, self._places, self.smoothing_)

    @once_a_fit
    def _given_places(self: Any) -> PointSet:
        """The places of samples before they were moved."""
        first = self._places.first
        return self._points if first is None else self._points.restricted(first)

    def _rule(self: Any) -> Rule:
        """How neighbours decide about new samples."""
        density = self.density_estimator_
        if not density.known_at_new_samples:
            return nearest_rule(self.labels_)
        if not self._fitted["halo"] or self._fitted["noise"] == "assign":
            return HillRule(density, self._places.of_first(self.labels_))
        before, noise = self._found_before_noise()
        border = border_density(before.labels, self._linked(), self.density_, self.cut_.longest_link)
        numbers = np.where(noise.small[before.peaks], NOISE, self.labels_[before.peaks])
        return HillRule(density, self._places.of_first(before.labels), border, numbers)

    @once_a_fit
    def probabilities_(self: Any) -> NDArray[np.float64]:
        """How surely each sample belongs to its cluster, in [0, 1]: its share in `memberships`; 0 for noise.

        It is the share of all clusters that one step of the walk reaches, not only of the largest ones.
        """
        graph, labels = self._judged()
        found = confidence.probabilities(graph, labels, self.n_clusters_)
        return found if graph is self.graph_ else self._places.of_samples(found)

    @once_a_fit
    def outlier_scores_(self: Any) -> NDArray[np.float64]:
        """How far each density falls below that of the sample's neighbours, in [0, 1].

        It is 1 - density / mean density of the neighbours, weighted as in `memberships`; 0 for samples as
        dense as their neighbours, 1 for those without any. Clusters and noise have no part in it.
        """
        density = self.density_estimator_
        return self._places.of_samples(confidence.outlier_scores(density.graph_, density.density_))

    def memberships(self: Any, top: int = 3) -> sp.csr_array:
        """The share of each sample in the clusters where one step of the random walk leads.

        From a sample the walk goes to itself or to one of its neighbours in `graph_`, with a chance in
        proportion to exp(-d^2 / h), h the squared distance to its last neighbour. The largest share is
        always that of `labels_`: where the walk prefers another cluster, the label's share is raised a hair
        above that one's, and the shares are divided by their sum.

        Parameters
        ----------
        top : int
            How many clusters a row has at most, the largest shares. They sum to one.

        Returns
        -------
        csr_array with a row for each sample and a column for each cluster
            Rows of noise are empty.
        """
        check_is_fitted(self, "labels_")
        top = check_integer("top", top, 1)
        graph, labels = self._judged()
        found = confidence.memberships(graph, labels, self.n_clusters_, top)
        return found if graph is self.graph_ else self._places.of_samples(found)

    def _judged(self: Any) -> tuple[NeighborGraph, NDArray[np.int64]]:
        """Where the walk of `memberships` goes: over places, unless samples at one have different labels."""
        labels = self._places.of_first(self.labels_)
        if np.array_equal(self._places.of_samples(labels), self.labels_):
            return self.density_estimator_.graph_, labels
        return self.graph_, self.labels_

    def explain(self: Any, sample: int) -> Explanation:
        """Why a sample has its label: the path to its peak, what the peak stands on, and the rule."""
        check_is_fitted(self, "labels_")
        sample = check_integer("sample", sample, 0, len(self.labels_) - 1)
        before, noise = self._before_noise
        is_assigned = noise.samples[sample] and self._fitted["noise"] == "assign"
        links = self._links_out_of(noise.samples) if is_assigned else None
        clusters = Clusters(self.labels_, self.peak_indices_)
        return explanation(sample, clusters, self.density_, self.forest_, before, noise, links)

    def sweep(self: Any, y_true: Any, rule: str = "max_link") -> Sweep:
        """Scores of every cut by one rule against the truth, all from one sorted pass.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
        rule : {"max_link", "n_clusters", "min_prominence"}
            The parameter that takes all its values; the others are not used.
        """
        check_is_fitted(self, "labels_")
        check_consistent_length(self.labels_, y_true)
        if rule == "max_link":
            return link_sweep(self._forest_within(np.inf), y_true)
        if rule == "n_clusters":
            return peak_sweep(self._complete_forest(), self.density_, y_true)
        if rule == "min_prominence":
            return prominence_sweep(self._forest_within(np.inf), y_true)
        raise ValueError(f"rule={rule!r} is unknown; use 'max_link', 'n_clusters' or 'min_prominence'")

    def decision_graph(self: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Density and exact delta of each sample; the densest sample's delta is infinite."""
        check_is_fitted(self, "labels_")
        return self.density_, self._complete_forest().delta

    def hierarchy(self: Any, max_link: float | None = None) -> Hierarchy:
        """All clusterings by `min_prominence` of the same density, as a tree of hills.

        `hierarchy().labels_at(p)` is `recut(min_prominence=p)` before noise is told apart. With `max_link`
        links of that length or longer are dropped first; `cut_.max_link` is that of the fit.
        """
        check_is_fitted(self, "labels_")
        check_params(self, max_link=max_link)
        if not self.cut_.is_of_all_samples and max_link == self.cut_.max_link:
            return Hierarchy(self.forest_, self.density_)
        return Hierarchy(self._forest_within(np.inf if max_link is None else max_link), self.density_)

    @once_a_fit
    def _before_noise(self: Any) -> tuple[Clusters, Noise]:
        return self._found_before_noise()

    def _found_before_noise(self: Any) -> tuple[Clusters, Noise]:
        """The clusters of the fit while noise was in them, and which samples it was."""
        peaks = self._peaks(self.forest_, self.cut_)
        before = Clusters(peak_labels(self.forest_, peaks), peaks)
        return before, self._noise(before.labels, self.cut_, self._noise_policy())
