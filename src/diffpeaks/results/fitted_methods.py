"""What a fitted DensityPeaks can be asked beyond its labels: all of it follows from one clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from diffpeaks._base.sklearn_parts import check_params
from diffpeaks._base.validation import check_integer
from diffpeaks.cuts import RULES, Cut, cut_by, given_cut
from diffpeaks.cuts.noise import NoisePolicy
from diffpeaks.density.base import new_samples
from diffpeaks.density.weights import check_none_absent
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import PointsEstimator
from diffpeaks.results.absent import WithAbsent
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.explanation import Explanation
from diffpeaks.results.hierarchy import Hierarchy
from diffpeaks.results.landscape import Landscape
from diffpeaks.results.model_file import FileName, read_model_file, write_model_file
from diffpeaks.results.sweeps import Sweep


class FittedMethods(PointsEstimator):
    """Other cuts, new samples, confidence, reasons, sweeps, hierarchy and files, for `DensityPeaks`."""

    _clustering: Clustering | WithAbsent

    def _fitted(self) -> Clustering | WithAbsent:
        check_is_fitted(self, "labels_")
        return self._clustering

    def _whole(self) -> Clustering:
        """The clustering, for what shows or edits all samples; refused where some are not in the fit."""
        found = self._fitted()
        if isinstance(found, WithAbsent):
            check_none_absent(found.absent)
        return found.of_present

    @property
    def _landscape(self) -> Landscape:
        return self._whole().landscape

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
        Lengths are those between samples as they were moved, where `smoothing_` says that they were.
        Graph and density are kept, and the fitted attributes stay as they are. `halo`, `min_cluster_size`
        and `noise` are those of the fit where they are None. The first cut by `n_clusters` or `peaks`, and
        the first that assigns noise, looks for the nearest denser samples of the hilltops, however far.
        """
        policy = self._noise_policy(halo=halo, min_cluster_size=min_cluster_size, noise=noise)
        cut = given_cut(cut, peaks, cut_by(n_clusters, max_link, min_prominence))
        if cut is not None:
            check_params(self, **{name: getattr(cut, name) for name in RULES})
        return self._fitted().recut(cut, policy)

    def _noise_policy(self, **given: Any) -> NoisePolicy:
        """What is given, and the rest as at the fit."""
        given = {name: value for name, value in given.items() if value is not None}
        check_params(self, **given)
        return replace(self._fitted().policy, **given)

    def predict(self, X: Any) -> NDArray[np.int64]:
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
        clustering = self._fitted()
        X = new_samples(self, clustering.landscape.estimator, X)
        return clustering.predicted(clustering.as_fitted(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Density at new samples, on the scale of `density_`; refused where it was given as values."""
        clustering = self._fitted()
        landscape = clustering.landscape
        X = clustering.as_fitted(new_samples(self, landscape.estimator, X))
        return landscape.estimator.score_samples(landscape.moved(X))

    @property
    def density_(self) -> NDArray[np.float64]:
        """The density of each sample."""
        return self._fitted().density

    @property
    def graph_(self) -> NeighborGraph:
        """The graph of the samples, as the density sees them."""
        return self._fitted().graph

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """How surely each sample belongs to its cluster, in [0, 1]: its share in `memberships`; 0 for noise.

        It is the share of all clusters that one step of the walk reaches, not only of the largest ones.
        """
        return self._fitted().probabilities

    @property
    def outlier_scores_(self) -> NDArray[np.float64]:
        """How far each density falls below that of the sample's neighbours, in [0, 1].

        It is 1 - density / mean density of the neighbours, weighted as in `memberships`; 0 for samples as
        dense as their neighbours, 1 for those without any. Clusters and noise have no part in it.
        """
        return self._fitted().outlier_scores

    def memberships(self, top: int = 3) -> sp.csr_array:
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
        return self._fitted().memberships(check_integer("top", top, 1))

    def explain(self, sample: int) -> Explanation:
        """Why a sample has its label: the path to its peak, what the peak stands on, and the rule."""
        clustering = self._fitted()
        return clustering.explain(check_integer("sample", sample, 0, len(clustering.labels) - 1))

    def sweep(self, y_true: Any, rule: str = "max_link") -> Sweep:
        """Scores of every cut by one rule against the truth, all from one sorted pass.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
        rule : {"max_link", "n_clusters", "min_prominence"}
            The parameter that takes all its values; the others are not used.
        """
        clustering = self._fitted()
        check_consistent_length(clustering.density, y_true)
        return clustering.sweep(y_true, rule)

    def decision_graph(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Density and exact delta of each sample; the densest sample's delta is infinite."""
        clustering = self._fitted()
        return clustering.density, clustering.deltas()

    def hierarchy(self, max_link: float | None = None) -> Hierarchy:
        """All clusterings by `min_prominence` of the same density, as a tree of hills.

        `hierarchy().labels_at(p)` is `recut(min_prominence=p)` before noise is told apart. With `max_link`
        links of that length or longer are dropped first. `hierarchy(cut_.max_link)` is the tree of the fit's
        own cut: if flow or size counts there, it counts in the tree.
        """
        clustering = self._fitted()
        check_params(self, max_link=max_link)
        return clustering.hierarchy(max_link)

    def save(self, path: FileName) -> None:
        """Write the fitted model to a file, under exactly that name, for `load`.

        The file holds all that the model needs, the samples too, and no code: a metric, kernel or density
        that is a function is refused. `verbose` and `callback`, on which nothing that was fitted depends,
        are left out: a loaded model has their defaults. A file of that name is replaced in one step.
        """
        self._fitted()
        write_model_file(path, self)

    @classmethod
    def load(cls, path: FileName, mmap: bool = True) -> Self:
        """A saved model, on this machine or another; a file that is damaged is refused.

        Parameters
        ----------
        path : path of a file that `save` wrote
        mmap : bool
            Map the file into memory instead of keeping a copy there: processes share it. It may be
            replaced or deleted meanwhile, but not written into.

        Examples
        --------
        >>> import tempfile
        >>> from diffpeaks import DensityPeaks
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     DensityPeaks(max_link=1.5).fit([[0.0], [1.0], [5.0]]).save(f"{folder}/line.model")
        ...     model = DensityPeaks.load(f"{folder}/line.model")
        >>> model.predict([[0.5], [5.5]]).tolist()
        [0, 1]
        """
        model: Self = read_model_file(path, cls, mmap)
        return model
