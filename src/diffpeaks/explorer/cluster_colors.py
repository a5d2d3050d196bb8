"""Colours by which people know clusters: chosen by where they lie on the map, then theirs for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.explorer.session import Session
from diffpeaks.maps import color_indices


class ClusterColors:
    """Gives the clusters of a session their colours, once for each revision."""

    def __init__(self, session: Session, on_map: NDArray[Any]) -> None:
        self._session, self._on_map = session, on_map
        self._known: tuple[int, NDArray[np.int64]] | None = None

    def by_label(self) -> NDArray[np.int64]:
        """The colour of each cluster, as its number in the palette."""
        session = self._session
        if self._known is None or self._known[0] != session.revision:
            now = session.now
            colors = colors_beside(self._on_map, now.labels, now.numbers, session.colors)
            session.keep_colors(colors)
            self._known = session.revision, colors
        return self._known[1]


def colors_beside(
    on_map: NDArray[Any], labels: NDArray[np.int64], numbers: NDArray[np.int64], known: Mapping[int, int]
) -> NDArray[np.int64]:
    """A colour for each cluster: that of its number, or else one that differs from those beside it."""
    fixed = np.array([known.get(number, NOISE) for number in numbers.tolist()], np.int64)
    places = np.asarray(on_map, np.float32)  # as the page has them
    return color_indices(places, labels, fixed if known else None)
