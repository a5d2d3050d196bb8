"""What the clusters of a page are called: their numbers, names given by hand, and what sets them apart."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.captions import Captions, Characteristics, Trait
from diffpeaks.captions.characteristics import short_name
from diffpeaks.explorer.cluster_colors import colors_beside
from diffpeaks.explorer.saved import read_session, replay
from diffpeaks.explorer.session import Session


@dataclass(frozen=True, eq=False)
class NamedClusters:
    """Clusters of a fit, by label.

    Attributes
    ----------
    model : DensityPeaks
    numbers : array of shape (n_clusters,)
        The labels, or what the clusters of a session are known by.
    names : list of str
        Given by hand, or else made of words or columns; "" without either.
    words, traits : lists with one list for each cluster
    colors : mapping from numbers to colours of the palette
        Those that clusters of a session have already.
    """

    model: DensityPeaks
    numbers: NDArray[np.int64]
    names: list[str]
    words: list[list[str]]
    traits: list[list[Trait]]
    colors: Mapping[int, int]

    @classmethod
    def of(cls, model: DensityPeaks, captions: Captions, session: str | os.PathLike[str] | None) -> Self:
        """Those of a fit, or of a session that was saved in the explorer."""
        explored = Session(model)
        if session is not None:
            replay(explored, captions, read_session(session))
            model = explored.model_now
        characteristics = Characteristics(captions)
        words = characteristics.words(model.labels_, model.n_clusters_)
        traits = characteristics.traits(model.labels_, model.n_clusters_)
        numbers, given = explored.now.numbers, explored.names
        names = [
            given.get(number, short_name(own, differing))
            for number, own, differing in zip(numbers.tolist(), words, traits, strict=True)
        ]
        return cls(model, numbers, names, words, traits, explored.colors)

    def color_indices(self, coordinates: NDArray[Any] | None) -> NDArray[np.int64]:
        """The colour of each number: as in the explorer, or chosen on a map; without one, the number."""
        by_number = np.arange(self.numbers.max(initial=NOISE) + 1)
        if coordinates is not None:
            by_number[self.numbers] = colors_beside(
                coordinates, self.model.labels_, self.numbers, self.colors
            )
        return by_number
