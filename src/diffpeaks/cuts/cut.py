"""How clusters are taken from the forest: the rules, and what the automatic choice asks of far samples.

Among faces a sample far from all others is a person seen once, among cells it is a poor measurement of a
common type. The distances to nearest neighbours tell which. Strangers are about as far as random pairs are,
hardly ever farther, and make a peak of their own in the histogram. Outliers are the tail of one peak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_integers
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.recipes import DEFAULT, Recipe

_N_BINS = 20  # of the histogram, from zero to the length of random pairs
RULES = ("n_clusters", "max_link", "min_prominence")  # of a cut, as parameters are called


@dataclass(frozen=True)
class Cut:
    """Which samples are peaks.

    Attributes
    ----------
    n_clusters : int or None
        That many, with the largest density x delta.
    max_link : float
        No link is that long or longer.
    min_prominence : float
        No hill rises less above its saddle, in log density; with a `flow_weight` no hill is less apart.
    peaks : tuple of int, optional
        These samples, chosen by hand, in the place of all rules.
    flow_weight : float
        How much the flow of the walk over a saddle counts beside its height (`weighed_by_flow`).
    """

    n_clusters: int | None = None
    max_link: float = np.inf
    min_prominence: float = 0.0
    peaks: tuple[int, ...] | None = None
    flow_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.peaks is not None and Cut() != replace(self, peaks=None):
            raise ValueError(f"{self} has peaks and rules that choose them; give either")
        weight: Any = self.flow_weight
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise ValueError(f"flow_weight={weight!r} must be a finite number of at least 0")
        for name, none in (("max_link", "inf"), ("min_prominence", "0.0")):
            if not isinstance(getattr(self, name), Real):
                raise TypeError(f"{name}={getattr(self, name)!r} is no number; without the rule it is {none}")

    @property
    def is_of_all_samples(self) -> bool:
        """Whether any sample may be a peak, and links are as long as need be, as in a complete forest."""
        return self.n_clusters is not None or self.peaks is not None

    @property
    def longest_link(self) -> float:
        """What a link must stay below; where any sample may be a peak, nothing."""
        return np.inf if self.is_of_all_samples else self.max_link


def check_one_of(cut: Any, peaks: Any, *rules: float | None) -> None:
    """Refuse two ways to cut at once, and a cut that is none."""
    if cut is not None and not isinstance(cut, Cut):
        raise TypeError(f"cut={cut!r} is no Cut; use dataclasses.replace(model.cut_, ...)")
    by_rules = any(rule is not None for rule in rules)
    if (cut is not None) + (peaks is not None) + by_rules > 1:
        raise ValueError(
            f"cut={cut} or peaks={peaks} comes with others; give either a cut or rules, or peaks"
        )


def select_peaks(
    forest: PeakForest,
    density: NDArray[np.float64],
    cut: Cut,
    best_first: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """The peaks that a cut leaves, densest first.

    With `n_clusters` or `peaks` the forest must be complete; beside `n_clusters` the other rules say who may
    be a peak. `best_first` are all samples by density x delta, where they are known.
    """
    if cut.peaks is not None:
        return _given_peaks(cut.peaks, forest)
    if cut.n_clusters is None:
        roots = forest.roots
        return roots[forest.prominence[roots] >= cut.min_prominence]
    if cut.n_clusters > len(density):
        raise ValueError(f"n_clusters={cut.n_clusters} is more than n_samples={len(density)}; ask for fewer")
    may_be = np.ones(len(density), bool)
    if np.isfinite(cut.max_link):
        may_be &= forest.delta >= cut.max_link
    if cut.min_prominence > 0:
        may_be &= forest.prominence >= cut.min_prominence
    n_candidates = np.count_nonzero(may_be)
    if n_candidates < cut.n_clusters:
        raise ValueError(
            f"n_clusters={cut.n_clusters}, but only {n_candidates} of {len(density)} samples may be "
            f"peaks with max_link={cut.max_link} and min_prominence={cut.min_prominence}; lower these "
            "or n_clusters"
        )
    best_first = best_peaks_first(forest, density) if best_first is None else best_first
    peaks = best_first[may_be[best_first]][: cut.n_clusters]
    return peaks[np.argsort(forest.rank[peaks])]


def _given_peaks(peaks: tuple[int, ...], forest: PeakForest) -> NDArray[np.int64]:
    """Peaks that were chosen by hand, densest first."""
    chosen = check_integers("peaks", np.array(peaks, dtype=None if len(peaks) else np.int64))
    n_samples, densest = len(forest.rank), int(np.argmin(forest.rank))
    outside = chosen[(chosen < 0) | (chosen >= n_samples)]
    if len(outside):
        raise ValueError(f"peaks name sample {outside[0]}; samples are 0 .. {n_samples - 1}")
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"peaks name a sample twice among {len(chosen)}; name each once")
    if densest not in chosen:
        raise ValueError(
            f"peaks lack sample {densest}, the densest of all, which has no denser sample to follow; add it"
        )
    return chosen[np.argsort(forest.rank[chosen])].astype(np.int64)


def best_peaks_first(forest: PeakForest, density: NDArray[np.float64]) -> NDArray[np.int64]:
    """All samples by density x delta, largest first, then by density; the forest must be complete."""
    score = np.full(len(density), np.inf)  # the densest sample has no delta and always is a peak
    known = np.isfinite(forest.delta)
    score[known] = density[known] * forest.delta[known]
    return np.lexsort((forest.rank, -score))


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
    max_link : float
        What a link must stay below: among strangers a share of the distance of random pairs.
    is_given : bool
        Whether the recipe says what they are, and not the distances.
    """

    kind: str
    far_share: float = 0.0
    beyond_share: float = 0.0
    peak_to_valley: float = 0.0
    max_link: float = np.inf
    is_given: bool = False

    @property
    def are_strangers(self) -> bool:
        return self.kind == "strangers"

    def __str__(self) -> str:
        if self.is_given:
            return f"samples far from all others are taken for {self.kind}, as the recipe says"
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
    if typical == np.inf and recipe.isolated == "strangers":
        raise ValueError(
            "isolated='strangers' asks for the distance of random pairs, which a precomputed graph does not "
            "tell; give max_link, or use isolated='auto'"
        )
    if not 0 < typical < np.inf:
        return Isolation("unknown")
    nearest = graph.indptr[:-1][graph.degrees > 1] + 1  # rows begin with the sample itself
    ratio = graph.distances[nearest].astype(np.float64) / typical
    found = isolation_by(ratio ** (1 / points.distance_power), recipe)
    kind = found.kind if recipe.isolated == "auto" else recipe.isolated
    max_link = recipe.link_share**points.distance_power * typical if kind == "strangers" else np.inf
    return replace(found, kind=kind, max_link=max_link, is_given=recipe.isolated != "auto")


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
