"""Samples far from all others: strangers, who belong to nobody, or outliers of a cluster.

Among faces a sample far from all others is a person seen once, among cells it is a poor measurement of a
common type. The distances to nearest neighbours tell which. Strangers are about as far as random pairs are,
hardly ever farther, and make a peak of their own in the histogram. Outliers are the tail of one peak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.recipes import DEFAULT, Recipe

_N_BINS = 20  # of the histogram, from zero to the length of random pairs


@dataclass(frozen=True)
class Isolation:
    """What samples are that lie far from all others, and why.

    Attributes
    ----------
    kind : {"none", "strangers", "outliers", "unknown"}
        "none" where hardly any sample is far. "unknown" where nearly all are, since distances have
        concentrated, or where the distance of random pairs is not known.
    far_share : float
        Samples whose nearest neighbour is at least `link_share` of the length of random pairs away.
    beyond_share : float
        Those of them whose nearest neighbour is farther than random pairs are.
    peak_to_valley : float
        How high the lower one of the peaks of near and of far samples is in the histogram, in units of the
        valley between them.
    """

    kind: str
    far_share: float = 0.0
    beyond_share: float = 0.0
    peak_to_valley: float = 0.0

    @property
    def are_strangers(self) -> bool:
        return self.kind == "strangers"

    def __str__(self) -> str:
        if self.kind == "unknown":
            return "distances do not tell which samples are far from all others"
        if self.kind == "none":
            return "hardly any sample is far from all others"
        if self.are_strangers:
            valley = f"a valley {self.peak_to_valley:.1f} times lower than either side"
            return f"{self.far_share:.1%} of the samples are strangers: {valley} parts them from the others"
        beyond = f"{self.beyond_share:.0%} of them are farther from all than random pairs are"
        why = beyond if self.beyond_share else "no valley parts them from the others"
        return f"{self.far_share:.1%} of the samples are far, and outliers: {why}"


def isolation_of(
    points: PointSet | GivenGraph,
    graph: NeighborGraph,
    recipe: Recipe = DEFAULT,
    seed: int = 0,
) -> Isolation:
    """What far samples are, by a graph of the points and by the distance of random pairs among them."""
    typical = points.typical_distance(seed)
    if not 0 < typical < np.inf:
        return Isolation("unknown")
    nearest = graph.indptr[:-1][graph.degrees > 1] + 1  # rows begin with the sample itself
    ratio = graph.distances[nearest].astype(np.float64) / typical
    found = isolation_by(ratio ** (1 / points.degree), recipe)
    return found if recipe.isolated == "auto" else replace(found, kind=recipe.isolated)


def isolation_by(lengths: NDArray[np.float64], recipe: Recipe = DEFAULT) -> Isolation:
    """What far samples are, by the lengths to nearest neighbours in units of that of random pairs."""
    far = lengths >= recipe.link_share
    far_share = float(np.mean(far)) if len(far) else 0.0
    if far_share > 1 - recipe.few:
        return Isolation("unknown", far_share)
    if far_share < recipe.few:
        return Isolation("none", far_share)
    beyond_share = float(np.mean(lengths[far] >= 1))
    height = _peak_to_valley(lengths, recipe.link_share)
    two_peaks = height >= recipe.valley and beyond_share < recipe.few
    return Isolation("strangers" if two_peaks else "outliers", far_share, beyond_share, height)


def _peak_to_valley(lengths: NDArray[np.float64], border: float) -> float:
    """The lower one of the highest peaks on both sides of the border, in units of the valley between them."""
    counts, edges = np.histogram(lengths, _N_BINS, (0.0, 1.0))
    heights = np.convolve(counts, [0.25, 0.5, 0.25], "same")
    first_far = int(np.searchsorted(edges[:-1], border - 0.5 / _N_BINS))
    near, far = int(np.argmax(heights[:first_far])), first_far + int(np.argmax(heights[first_far:]))
    return float(min(heights[near], heights[far]) / max(heights[near : far + 1].min(), 0.5))


def longest_link(
    points: PointSet | GivenGraph,
    isolation: Isolation,
    recipe: Recipe = DEFAULT,
    seed: int = 0,
) -> float:
    """What a link must stay below: a share of the distance of random pairs among strangers, else nothing."""
    if not isolation.are_strangers:
        return np.inf
    return float(recipe.link_share**points.degree * points.typical_distance(seed))
