"""Every clustering by prominence at once: the hills of one forest, and which joins which.

Raising `min_prominence` absorbs hills one after the other, each into the hill that it touches at its saddle.
What was joined stays joined, so that the clusterings are nested and make a tree. Prominences are those of the
forest, in which flow may count beside heights (`Cut.flow_weight`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.validation import check_integer, is_number
from diffpeaks.forest.peaks import PeakForest, peak_labels


class Merges(NamedTuple):
    """Hills that are absorbed, least prominent first; a hill is named by its top, a sample.

    Attributes
    ----------
    absorbed, into : arrays of shape (n_merges,)
        The hill that ends, and the one that it becomes part of, which is at least as prominent.
    saddle : array of shape (n_merges,)
        The sample where they meet.
    saddle_density, prominence : arrays of shape (n_merges,)
        The hill ends where `min_prominence` is above its prominence.
    """

    absorbed: NDArray[np.int64]
    into: NDArray[np.int64]
    saddle: NDArray[np.int64]
    saddle_density: NDArray[np.float64]
    prominence: NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """One clustering and the values of `min_prominence` that make it: above `low`, up to `high`.

    The finest one is made at zero too, its `low`.
    """

    low: float
    high: float
    n_clusters: int

    @property
    def min_prominence(self) -> float:
        """A value that makes the clustering."""
        return self.high

    @property
    def stability(self) -> float:
        """The range of prominence, which is in log density, over which the clustering persists."""
        return self.high - self.low


class Hierarchy:
    """The merge tree of the hills of a forest.

    Hills of infinite prominence, which meet no denser one or meet it at density zero, are never joined.

    Attributes
    ----------
    hills : array of shape (n_hills,)
        The tops of all hills, densest first.
    merges : Merges
    """

    def __init__(self, forest: PeakForest, density: NDArray[np.float64]) -> None:
        self._forest = forest
        self.hills = forest.roots
        self._hill = peak_labels(forest, self.hills)
        self.merges = _merges(forest, self._hill, density)

    def labels_at(self, min_prominence: float) -> NDArray[np.int64]:
        """Labels of the clustering in which no hill is less prominent, in the order of peak density."""
        if not is_number(min_prominence):
            raise TypeError(f"min_prominence must be a number, got {min_prominence!r}")
        if not min_prominence >= 0:
            raise ValueError(f"min_prominence={min_prominence} must be a number of at least 0")
        remain = self._forest.prominence[self.hills] >= min_prominence
        return peak_labels(self._forest, self.hills[remain])

    def scales(self, n_scales: int | None = 3) -> list[Scale]:
        """The most persistent clusterings, finest first; None for all.

        The coarsest persists for ever. It is listed unless it is one cluster of everything.
        """
        if n_scales is not None:
            n_scales = check_integer("n_scales", n_scales, 1)
        levels = np.unique(self.merges.prominence)
        lows, highs = np.append(0.0, levels), np.append(levels, np.inf)
        joined = np.searchsorted(self.merges.prominence, highs, side="left")
        numbers = (len(self.hills) - joined).tolist()
        found = map(Scale, lows.tolist(), highs.tolist(), numbers)
        proper = [scale for scale in found if scale.n_clusters > 1]
        most_stable = sorted(proper, key=lambda scale: -scale.stability)[:n_scales]
        return sorted(most_stable, key=lambda scale: scale.high)

    def to_scipy_linkage(self, leaves: str = "samples") -> NDArray[np.float64]:
        """The tree as `scipy.cluster.hierarchy` takes it; heights are prominences.

        `fcluster(Z, t, "distance")` makes the clustering in which hills of prominence t and less are
        absorbed. Hills of infinite prominence are joined last, to the densest, at `height_apart`.

        Parameters
        ----------
        leaves : {"samples", "hills"}
            All samples, those of a hill joined at height zero; or `hills`, in this order.
        """
        if leaves not in ("samples", "hills"):
            raise ValueError(f"leaves={leaves!r} is unknown; use 'samples' or 'hills'")
        n_hills = len(self.hills)
        hill = self._hill if leaves == "samples" else np.arange(n_hills)
        rows, nodes, sizes = _joined_within(hill, n_hills)
        apart = np.flatnonzero(np.isinf(self._forest.prominence[self.hills]))[1:]
        place = np.full(len(self._hill), NO_POINT)
        place[self.hills] = np.arange(n_hills)
        ends = np.append(place[self.merges.absorbed], apart)
        into = np.append(place[self.merges.into], np.zeros_like(apart))
        heights = np.append(self.merges.prominence, np.full(len(apart), self.height_apart))
        return _join_hills(rows, nodes, sizes, zip(ends, into, heights, strict=True))

    def most_prominent(
        self, max_hills: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The tops of the most prominent hills, the places of those that absorb them, and their prominence.

        They come in an order in which a tree can be drawn: a hill is followed by those that it absorbs, with
        all that is theirs, least prominent first. A hill that is never absorbed has its own place.
        """
        max_hills = check_integer("max_hills", max_hills, 1)
        apart = self.hills[np.isinf(self._forest.prominence[self.hills])]
        absorbs: dict[int, list[int]] = {top: [] for top in apart[:max_hills].tolist()}
        waiting = [(top, top) for top in reversed(absorbs)]
        pairs = list(zip(self.merges.absorbed.tolist(), self.merges.into.tolist(), strict=True))
        for absorbed, into in reversed(pairs):  # most prominent first
            if into in absorbs and len(absorbs) < max_hills:
                absorbs[absorbed] = []
                absorbs[into].append(absorbed)
        order: list[tuple[int, int]] = []
        place: dict[int, int] = {}
        while waiting:
            top, into = waiting.pop()
            place[top] = len(order)
            order.append((top, place[into]))
            waiting += [(absorbed, top) for absorbed in absorbs[top]]
        tops, places = np.array(order).T
        return tops, places, self._forest.prominence[tops]

    @property
    def height_apart(self) -> float:
        """Twice the largest finite prominence, or 1: where a linkage joins what never meets."""
        return 2 * float(self.merges.prominence.max(initial=0.0)) or 1.0


def _merges(forest: PeakForest, hill: NDArray[np.int64], density: NDArray[np.float64]) -> Merges:
    hills = forest.roots
    finite = np.flatnonzero(np.isfinite(forest.prominence[hills]))
    ends = finite[np.argsort(forest.prominence[hills[finite]], kind="stable")]
    touched = hill[forest.crossing[hills[ends]]]
    up = list(range(len(hills)))
    into = np.empty_like(ends)
    for merge, (end, other) in enumerate(zip(ends.tolist(), touched.tolist(), strict=True)):
        while up[other] != other:
            up[other] = up[up[other]]
            other = up[other]
        up[end] = into[merge] = other
    saddle = forest.saddle[hills[ends]].astype(np.int64)
    return Merges(hills[ends], hills[into], saddle, density[saddle], forest.prominence[hills[ends]])


def _joined_within(
    hill: NDArray[np.int64], n_hills: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows of a linkage that join the leaves of each hill at height zero; each hill's node and size."""
    n_leaves = len(hill)
    sizes = np.bincount(hill, minlength=n_hills)
    leaves = np.argsort(hill, kind="stable")
    first = np.cumsum(sizes) - sizes
    place = np.arange(n_leaves) - np.repeat(first, sizes)  # of a leaf within its hill
    joins = np.flatnonzero(place > 0)
    left = np.where(place[joins] == 1, leaves[joins - 1], n_leaves + np.arange(len(joins)) - 1)
    rows = np.column_stack([left, leaves[joins], np.zeros(len(joins)), place[joins] + 1.0])
    last_row = np.cumsum(sizes - 1) - 1
    return rows, np.where(sizes > 1, n_leaves + last_row, leaves[first]), sizes


def _join_hills(
    rows: NDArray[np.float64],
    nodes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    merges: Iterable[tuple[int, int, float]],
) -> NDArray[np.float64]:
    """The linkage with one row more for each (hill that ends, hill that goes on, height)."""
    next_node = len(rows) + int(sizes.sum())
    more = []
    for end, into, height in merges:
        sizes[into] += sizes[end]
        more.append((nodes[into], nodes[end], height, sizes[into]))
        nodes[into] = next_node
        next_node += 1
    linkage = np.concatenate([rows, np.array(more, np.float64).reshape(-1, 4)])
    linkage[:, :2].sort(axis=1)  # the older node first, as scipy has it
    return linkage
