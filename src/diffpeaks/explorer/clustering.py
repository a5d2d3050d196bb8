"""Clusterings of one fit, one after the other; what they share is computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from threading import RLock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.sklearn_parts import check_params
from diffpeaks._base.validation import check_integer
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cuts import RULES, Cut
from diffpeaks.cuts.noise import NoisePolicy
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.edits import Edit, densest_members, edited

FORESTS_KEPT = 6


class Forests:
    """The forests of one landscape for many cuts: the last few are kept.

    Whoever asks for what another thread is making waits for it.
    """

    def __init__(self, fitted: Clustering) -> None:
        self._landscape, cut = fitted.landscape, fitted.cut
        self._kept: dict[Cut, PeakForest] = {}  # one forest has the peaks of every bound on prominence
        if not cut.is_of_all_samples:
            self._kept[replace(cut, min_prominence=0.0)] = fitted.forest
        self._weighs_flow = bool(cut.flow_weight or self._landscape.automatic_cut.flow_weight)
        self._along_links, self._of_all_samples = RLock(), RLock()

    def of(self, cut: Cut) -> PeakForest:
        if cut.is_of_all_samples:
            with self._of_all_samples:
                return self._landscape.complete_forest
        with self._along_links:
            key = replace(cut, min_prominence=0.0)
            if key not in self._kept:
                made = self._landscape.forest(cut)
                while len(self._kept) >= FORESTS_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = made
            return self._kept[key]

    def prepare(self) -> None:
        """What other values of the rules begin with."""
        with self._along_links:
            if self._weighs_flow:
                self._landscape.keep_flow()
        self.of(Cut(n_clusters=1))


@dataclass(frozen=True, eq=False)
class Shown:
    """Labels, and what a list of clusters says of them.

    Attributes
    ----------
    model : DensityPeaks
        The fit with the cut of this clustering, before edits.
    labels : array of shape (n_samples,)
        0, 1, ..., as Python gives them.
    peaks : array of shape (n_clusters,)
        The peak of each cluster; after edits its densest sample.
    numbers : array of shape (n_clusters,)
        What people know each cluster by.
    """

    model: DensityPeaks
    labels: NDArray[np.int64]
    peaks: NDArray[np.int64]
    numbers: NDArray[np.int64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.labels + 1, minlength=len(self.peaks) + 1)[1:]

    @cached_property
    def numbered_labels(self) -> NDArray[np.int64]:
        """The number of the cluster of each sample."""
        if np.array_equal(self.numbers, np.arange(len(self.numbers))):
            return self.labels
        return np.append(self.numbers, NOISE)[self.labels]

    def label_of(self, number: int) -> int:
        """The label of the cluster with a number."""
        check_integer("cluster", number, 0)
        found = np.flatnonzero(self.numbers == number)
        if not len(found):
            raise ValueError(f"cluster {number} is not there any more; choose one of the list")
        return int(found[0])

    @property
    def n_noise(self) -> int:
        return len(self.labels) - int(self.sizes.sum())


def _in_order(model: DensityPeaks, labels: NDArray[np.int64], peaks: NDArray[np.int64]) -> Shown:
    """A clustering whose numbers are its labels."""
    return Shown(model, labels, peaks, np.arange(len(peaks)))


class Cuts:
    """Makes clusterings of one fit."""

    def __init__(self, model: DensityPeaks) -> None:
        self._model, self._last = model, model._whole()
        self.landscape = self._last.landscape
        self.forests = Forests(self._last)
        self._preparing = Thread(target=self._prepare, name="diffpeaks-prepare", daemon=True)

    def shown(self, cut: Cut, policy: NoisePolicy, edits: tuple[Edit, ...]) -> Shown:
        """What `recut` and then `edited` would give."""
        model = self._model._with(self._clustering(cut, policy))
        if not edits:
            return _in_order(model, model.labels_, model.peak_indices_)
        labels = edited(model, model.labels_, edits)
        tops = np.unique(densest_members(labels, model.forest_.rank)[labels != NOISE])
        return _in_order(model, labels, tops[np.argsort(model.forest_.rank[tops])].astype(np.int64))

    def _clustering(self, cut: Cut, policy: NoisePolicy) -> Clustering:
        if (self._last.cut, self._last.policy) != (cut, policy):
            rules: dict[str, Any] = {name: getattr(cut, name) for name in RULES}
            check_params(self._model, **rules)
            self._last = Clustering.of(self.landscape, cut, policy, self.forests.of(cut))
        return self._last

    def start_preparing(self) -> None:
        """Begin with what takes long, so that it is there when it is asked for; once."""
        if self._preparing.ident is None:
            self._preparing.start()

    @property
    def is_preparing(self) -> bool:
        return self._preparing.is_alive()

    @property
    def knows_delta(self) -> bool:
        """Whether the nearest denser sample is known of hilltops too."""
        return self.landscape.knows_denser_samples

    def _prepare(self) -> None:
        try:
            self.forests.prepare()
        except ValueError:
            return  # a graph that does not know far samples; whoever asks for it is told
