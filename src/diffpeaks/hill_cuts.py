"""How a fit is cut into clusters, and cut again: forest, peaks, labels, noise."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._sklearn_compat import check_params
from diffpeaks.cuts import RULES, Cut, automatic_cut, check_one_of, select_peaks
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.noise import Clusters, Noise, NoisePolicy, links_out_of_noise, noise_in, settled
from diffpeaks.passes import weighed_by_flow
from diffpeaks.peaks import PeakForest, complete_forest, hill_links, peak_forest, peak_labels, without_halo
from diffpeaks.progress import stage


class HillCuts:
    """The hills of a fitted density and their cuts, for `DensityPeaks`."""

    _complete: PeakForest | None  # kept, once a cut has needed it
    _automatic: Cut | None

    def recut(
        self: Any,
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
        check_is_fitted(self, "forest_")
        policy = self._noise_policy(halo=halo, min_cluster_size=min_cluster_size, noise=noise)
        check_one_of(cut, peaks, n_clusters, max_link, min_prominence)
        if peaks is not None:
            cut = Cut(peaks=tuple(peaks))
        elif cut is None:
            cut = self._cut(n_clusters, max_link, min_prominence)
        return self._with_cut(cut, policy).labels_

    def _with_cut(self: Any, cut: Cut, policy: NoisePolicy) -> Any:
        """The same fit, cut in another way; what the cut does not decide is shared."""
        check_params(self, **{name: getattr(cut, name) for name in RULES})
        if cut.flow_weight and not self._by_default:
            raise ValueError(
                f"flow_weight={cut.flow_weight} asks for the walk of the default density, but the fit has "
                f"another; fit with density=None, or take flow_weight=0"
            )
        forest = self._forest(cut)
        labels, peaks = self._clusters(forest, self._peaks(forest, cut), cut, policy)
        other = copy(self)
        other.cut_, other.forest_, other._fitted = cut, forest, self._fitted | vars(policy)
        other.labels_, other.peak_indices_, other.n_clusters_ = labels, peaks, len(peaks)
        return other

    def _linked(self: Any) -> NeighborGraph:
        """The graph along which hills are linked: of the default density only its nearest neighbours."""
        if not self._by_default:
            return self.graph_
        links = hill_links(self.density_estimator_.graph_, self._link_shares, self._fitted["n_jobs"])
        return self._places.graph_of_samples(links)

    def _cut(self: Any, n_clusters: int | None, max_link: float | None, min_prominence: float | None) -> Cut:
        if n_clusters is None and max_link is None and min_prominence is None:
            if self._automatic is None:
                self._automatic = automatic_cut(
                    self._places.points,
                    self.isolation_,
                    self._dimension,
                    self._fitted["random_state"],
                    self._recipe,
                )
            return self._automatic
        return Cut(n_clusters, np.inf if max_link is None else max_link, min_prominence or 0.0)

    def _forest(self: Any, cut: Cut) -> PeakForest:
        if cut.is_of_all_samples:
            return self._complete_forest()
        return self._hills(self._linked(), cut)

    def _hills(self: Any, links: NeighborGraph, cut: Cut) -> PeakForest:
        """The forest along links, its saddles weighed as the cut says."""
        forest = self._forest_along(links, cut.max_link)
        if not cut.flow_weight:
            return forest
        density = self.density_estimator_
        return weighed_by_flow(
            forest, links, self.density_, self._places, density.graph_, density.walk(), cut, self._recipe
        )

    def _peaks(self: Any, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        return select_peaks(forest, self.density_, cut)

    def _forest_within(self: Any, max_link: float) -> PeakForest:
        return self._forest_along(self._linked(), max_link)

    def _forest_along(self: Any, links: NeighborGraph, max_link: float) -> PeakForest:
        return peak_forest(
            links,
            self.density_,
            tie_break=self.density_estimator_.tie_break(),
            max_link=max_link,
            n_jobs=self._fitted["n_jobs"],
        )

    def _complete_forest(self: Any) -> PeakForest:
        if self._complete is None:
            # along all neighbours: what links of hills leave out may be the nearest denser sample
            forest = self._forest_along(self.graph_, np.inf)
            self._complete = complete_forest(forest, self._seen(), self.graph_.n_neighbors or 1)
        return self._complete

    def _seen(self: Any) -> PointSet | GivenGraph:
        """The samples where the density sees them."""
        return self._points if self.smoothing_ is None else self._places.all_points()

    def _noise_policy(self: Any, **given: Any) -> NoisePolicy:
        """What is given, and the rest as at the fit."""
        at_fit = {field.name: self._fitted[field.name] for field in fields(NoisePolicy)}
        policy = at_fit | {name: value for name, value in given.items() if value is not None}
        check_params(self, **policy)
        return NoisePolicy(**policy)

    @stage("labels")
    def _clusters(
        self: Any, forest: PeakForest, peaks: NDArray[np.int64], cut: Cut, policy: NoisePolicy
    ) -> Clusters:
        clusters = Clusters(peak_labels(forest, peaks), peaks)
        is_noise = self._noise(clusters.labels, cut, policy).samples
        return settled(clusters, is_noise, policy.noise, forest.rank, self._links_out_of)

    def _noise(self: Any, labels: NDArray[np.int64], cut: Cut, policy: NoisePolicy) -> Noise:
        return noise_in(
            labels, policy, lambda: without_halo(labels, self._linked(), self.density_, cut.longest_link)
        )

    def _links_out_of(self: Any, is_noise: NDArray[np.bool_]) -> NDArray[np.int32]:
        complete = self._complete_forest()
        return links_out_of_noise(is_noise, complete, self._seen(), self.graph_.n_neighbors or 1)
