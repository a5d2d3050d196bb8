"""How clusters are taken from the forest: the rules, and the automatic choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from diffpeaks._validation import check_integers
from diffpeaks.density import GraphDensity
from diffpeaks.isolation import Isolation, longest_link
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.peaks import PeakForest
from diffpeaks.progress import stage
from diffpeaks.recipes import DEFAULT, Recipe
from diffpeaks.smoothing import intrinsic_dimension

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
        How much the flow of the walk over a saddle counts beside its height (`passes.weighed_by_flow`).
    least_rise : float
        Hills that rise less above their saddle are absorbed before flow counts.
    """

    n_clusters: int | None = None
    max_link: float = np.inf
    min_prominence: float = 0.0
    peaks: tuple[int, ...] | None = None
    flow_weight: float = 0.0
    least_rise: float = 0.0

    def __post_init__(self) -> None:
        if self.peaks is not None and Cut() != replace(self, peaks=None):
            raise ValueError(f"{self} has peaks and rules that choose them; give either")
        for name in ("flow_weight", "least_rise"):
            value: Any = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
                raise ValueError(f"{name}={value!r} must be a finite number of at least 0")

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


@stage("cut")
def automatic_cut(
    points: PointSet | GivenGraph,
    density: GraphDensity,
    isolation: Isolation,
    random_state: object = None,
    *,
    flow_counts: bool = False,
    recipe: Recipe = DEFAULT,
) -> Cut:
    """Links against the distance of random pairs, prominence against sampling noise, and flow.

    Lengths count only where far samples are strangers. Flow counts only if it is said to.
    """
    random = check_random_state(0 if random_state is None else random_state)
    chance = rise_by_chance(density.log_error(random), points.n_samples)
    cut = Cut(None, longest_link(points, isolation, recipe), recipe.rise + chance)
    dimension = intrinsic_dimension(density.graph_, points.degree) if flow_counts else np.inf
    weight = flow_weight_in(dimension, recipe)
    return replace(cut, flow_weight=weight, least_rise=chance) if weight else cut


def flow_weight_in(dimension: float, recipe: Recipe = DEFAULT) -> float:
    """None in the plane, where a hill may be long and thin, and more the more dimensions there are.

    An infinite dimension is that of rows that tell none.
    """
    # in thousandths: the order of samples, which rounds sums in its way, has no part in it
    counts = recipe.flow_dimension <= dimension < np.inf
    return round(recipe.flow_weight * (1 - 2 / dimension), 3) if counts else 0.0


def rise_by_chance(log_error: float, n_samples: int) -> float:
    """How far the highest of the hills that chance makes would rise above its saddle.

    A density with that error is an average over 1 / error^2 samples, so that it varies freely over
    n error^2 patches. The largest of m normal deviates is about sqrt(2 log m); the rise is a
    difference of two values, which has sqrt(2) of the error of one.
    """
    n_patches = max(n_samples * log_error**2, 2.0)
    return float(np.sqrt(2) * log_error * np.sqrt(2 * np.log(n_patches)))


def select_peaks(forest: PeakForest, density: NDArray[np.float64], cut: Cut) -> NDArray[np.int64]:
    """The peaks that a cut leaves, densest first.

    With `n_clusters` or `peaks` the forest must be complete; beside `n_clusters` the other rules say who may
    be a peak.
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
    best_first = best_peaks_first(forest, density)
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
