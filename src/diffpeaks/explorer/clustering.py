"""Clusterings of one fit, one after the other; what they share is computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock, RLock, Thread
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cuts import Cut, best_peaks_first
from diffpeaks.edits import Edit, densest_members, edited
from diffpeaks.graph import NeighborGraph
from diffpeaks.noise import NoisePolicy
from diffpeaks.order import NOISE
from diffpeaks.peaks import PeakForest
from diffpeaks.ranked_links import RankedLinks

FORESTS_KEPT = 6
Value = TypeVar("Value")


class Once(Generic[Value]):
    """A value that is computed by whoever asks first; others wait for it."""

    def __init__(self, compute: Callable[[], Value]) -> None:
        self._compute = compute
        self._lock = Lock()
        self._found: list[Value] = []

    def __call__(self) -> Value:
        with self._lock:
            if not self._found:
                self._found.append(self._compute())
            return self._found[0]

    @property
    def is_known(self) -> bool:
        return bool(self._found)


class KeepingPeaks(DensityPeaks):
    """A fit of which many cuts are taken: links, forests and the order of peaks are kept in memory."""

    _links: Once[NeighborGraph]
    _ranked: Once[RankedLinks]
    _whole: Once[PeakForest]
    _best_first: Once[NDArray[np.int64]]
    _forests: dict[Any, PeakForest]
    _forests_lock: Any
    _preparing: Thread

    @classmethod
    def of(cls, model: DensityPeaks) -> Self:
        kept = cls.__new__(cls)
        kept.__dict__.update(vars(model))
        kept._links = Once(model._linked)
        kept._ranked = Once(
            lambda: RankedLinks(
                kept._links(), kept.density_, kept.density_estimator_.tie_break(), kept._fitted["n_jobs"]
            )
        )
        kept._whole = Once(model._complete_forest)
        kept._best_first = Once(lambda: best_peaks_first(kept._whole(), kept.density_))
        kept._forests, kept._forests_lock = {}, RLock()
        kept._preparing = Thread(target=kept._prepare, name="diffpeaks-prepare", daemon=True)
        return kept

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
        return self._whole.is_known

    def _prepare(self) -> None:
        self._hills(self._links(), self.cut_)
        try:
            self._best_first()
        except ValueError:
            return  # a graph that does not know far samples; whoever asks for it is told

    def _linked(self) -> NeighborGraph:
        return self._links()

    def _complete_forest(self) -> PeakForest:
        return self._whole()

    def _forest_along(self, links: NeighborGraph, max_link: float) -> PeakForest:
        return self._kept(max_link, lambda: self._ranked().forest(max_link))

    def _hills(self, links: NeighborGraph, cut: Cut) -> PeakForest:
        found = super()._hills
        return self._kept((cut.max_link, cut.flow_weight), lambda: found(links, cut))

    def _kept(self, key: Any, make: Callable[[], PeakForest]) -> PeakForest:
        """A forest of the last few."""
        with self._forests_lock:
            if key not in self._forests:
                made = make()
                while len(self._forests) >= FORESTS_KEPT:
                    self._forests.pop(next(iter(self._forests)))
                self._forests[key] = made
            return self._forests[key]

    def _peaks(self, forest: PeakForest, cut: Cut) -> NDArray[np.int64]:
        if cut != Cut(n_clusters=cut.n_clusters) or not 0 < (cut.n_clusters or 0) <= len(self.density_):
            return super()._peaks(forest, cut)
        best = self._best_first()[: cut.n_clusters]
        return best[np.argsort(forest.rank[best])]


KeepingPeaks.__name__ = DensityPeaks.__name__  # errors name the class that users know


@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels, and what a list of clusters says of them.

    Attributes
    ----------
    model : DensityPeaks
        The fit with the cut of this clustering, before edits.
    labels : array of shape (n_samples,)
    peaks : array of shape (n_clusters,)
        The peak of each cluster; after edits its densest sample.
    """

    model: Any
    labels: NDArray[np.int64]
    peaks: NDArray[np.int64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.labels + 1, minlength=len(self.peaks) + 1)[1:]

    @property
    def n_noise(self) -> int:
        return len(self.labels) - int(self.sizes.sum())


class Cuts:
    """Makes clusterings of one fit."""

    def __init__(self, model: KeepingPeaks) -> None:
        self._model = model
        self._last: tuple[Any, Any] = (model.cut_, model._noise_policy()), model

    def clustering(self, cut: Cut, policy: NoisePolicy, edits: tuple[Edit, ...]) -> Clustering:
        """What `recut` and then `edited` would give."""
        model = self._with_cut(cut, policy)
        if not edits:
            return Clustering(model, model.labels_, model.peak_indices_)
        labels = edited(model, model.labels_, edits)
        tops = np.unique(densest_members(labels, model.forest_.rank)[labels != NOISE])
        return Clustering(model, labels, tops[np.argsort(model.forest_.rank[tops])].astype(np.int64))

    def _with_cut(self, cut: Cut, policy: NoisePolicy) -> Any:
        if self._last[0] != (cut, policy):
            self._last = (cut, policy), self._model._with_cut(cut, policy)
        return self._last[1]
