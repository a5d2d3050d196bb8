"""Scores of every cut of a forest: thresholds are sorted, and clusters merge from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import score_merges
from diffpeaks.cuts import best_peaks_first
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.metrics import Scores, classes_of, f_of


@dataclass(frozen=True, eq=False)
class Sweep:
    """Every clustering that one rule can make, from the most clusters to the fewest.

    Attributes
    ----------
    thresholds : array of shape (n_cuts,)
        A value of the rule's parameter that makes the clustering.
    n_clusters : array of shape (n_cuts,)
        Noise is not counted.
    pairwise, bcubed : Scores
        Each of precision, recall and f is an array of shape (n_cuts,).
    """

    thresholds: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    pairwise: Scores
    bcubed: Scores


def link_sweep(forest: PeakForest, y_true: Any) -> Sweep:
    """All values of `max_link`: links from the shortest on are kept, the longer ones dropped."""
    linked = np.flatnonzero(forest.parent != NO_POINT)
    linked = linked[np.argsort(forest.delta[linked], kind="stable")]
    cuts, thresholds = _cuts_between(forest.delta[linked])
    cuts, thresholds = cuts[thresholds > 0], thresholds[thresholds > 0]  # duplicates are never cut apart
    scores = _scores_after(linked, forest.parent[linked], cuts, y_true)
    return Sweep(thresholds, len(forest.parent) - cuts, *scores)


def peak_sweep(forest: PeakForest, density: NDArray[np.float64], y_true: Any) -> Sweep:
    """All values of `n_clusters`, on a complete forest: peaks from the least on follow their link."""
    least_first = best_peaks_first(forest, density)[:0:-1]  # the best of all has no link to follow
    cuts = np.arange(len(density))
    scores = _scores_after(least_first, forest.parent[least_first], cuts, y_true)
    n_clusters = len(density) - cuts
    return Sweep(n_clusters.astype(np.float64), n_clusters, *scores)


def prominence_sweep(forest: PeakForest, y_true: Any) -> Sweep:
    """All values of `min_prominence`: hills from the least on are absorbed by the one that they touch."""
    linked = np.flatnonzero(forest.parent != NO_POINT)
    roots = forest.roots
    absorbed = roots[np.isfinite(forest.prominence[roots])]
    absorbed = absorbed[np.argsort(forest.prominence[absorbed], kind="stable")]
    cuts, thresholds = _cuts_between(forest.prominence[absorbed])
    merging = np.concatenate([linked, absorbed])
    into = np.concatenate([forest.parent[linked], forest.crossing[absorbed]])
    scores = _scores_after(merging, into, len(linked) + cuts, y_true)
    return Sweep(thresholds, len(roots) - cuts, *scores)


def core_sweep(forest: PeakForest, density: NDArray[np.float64], y_true: Any) -> Sweep:
    """All values of `min_density` without border: a sample that becomes a core joins the cores around it.

    The forest's links and crossings join the same samples as all edges of the graph would.
    """
    linked = np.flatnonzero(forest.parent != NO_POINT)
    met = np.flatnonzero(forest.crossing != NO_POINT)
    merging = np.concatenate([linked, met])
    into = np.concatenate([forest.parent[linked], forest.crossing[met]])
    level = np.concatenate([density[linked], density[forest.saddle[met]]])
    densest_first = np.argsort(-level, kind="stable")
    thresholds = np.unique(density)[::-1]
    cuts = np.searchsorted(-level[densest_first], -thresholds, side="right")
    n_cores = np.searchsorted(np.sort(-density), -thresholds, side="right")
    scores = _scores_after(merging[densest_first], into[densest_first], cuts, y_true)
    return Sweep(thresholds, n_cores - cuts, *scores)


def _cuts_between(levels: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """After how many of the sorted merges there is a cut, and the largest threshold that makes it.

    Equal levels merge at once. What is below the threshold has merged.
    """
    above = np.append(levels, np.inf)
    cuts = np.flatnonzero(np.append(-np.inf, levels) < above)
    return cuts, above[cuts]


def _scores_after(
    merging: NDArray[Any], into: NDArray[Any], cuts: NDArray[np.int64], y_true: Any
) -> tuple[Scores, Scores]:
    """Pairwise and BCubed scores after the first merges, as many as each cut says."""
    classes, sizes = classes_of("y_true", y_true)
    pairs = np.empty((len(merging) + 1, 2), np.int64)
    shares = np.empty((len(merging) + 1, 2))
    score_merges(
        classes.astype(np.int32), len(sizes), merging.astype(np.int32), into.astype(np.int32), pairs, shares
    )
    right, joined = pairs[cuts].T
    belonging = np.sum(sizes * (sizes - 1))
    precision = np.divide(right, joined, out=np.ones(len(cuts)), where=joined > 0)
    recall = right / belonging if belonging else np.ones(len(cuts))
    purity, completeness = shares[cuts].T / len(classes)
    return (
        Scores(precision, recall, f_of(precision, recall)),
        Scores(purity, completeness, f_of(purity, completeness)),
    )
