"""Clusterings of one fit, one after the other; what they share is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.cuts import Cut
from diffpeaks.edits import Edit, densest_members, edited
from diffpeaks.noise import NoisePolicy
from diffpeaks.order import NOISE


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

    def __init__(self, model: Any) -> None:
        self._model = model
        self._last: tuple[Any, Any] = (None, None)

    def clustering(self, cut: Cut, policy: NoisePolicy, edits: tuple[Edit, ...]) -> Clustering:
        """What `recut` and then `edited` would give."""
        model = self._with_cut(cut, policy)
        if not edits:
            return Clustering(model, model.labels_, model.peak_indices_)
        labels = edited(model, model.labels_, edits)
        tops = np.unique(densest_members(labels, model.forest_.rank)[labels != NOISE])
        return Clustering(model, labels, tops[np.argsort(model.forest_.rank[tops])])

    def _with_cut(self, cut: Cut, policy: NoisePolicy) -> Any:
        if self._last[0] != (cut, policy):
            self._last = (cut, policy), self._model._with_cut(cut, policy)
        return self._last[1]
