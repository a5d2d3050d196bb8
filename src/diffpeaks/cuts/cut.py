"""How clusters are taken from the forest: the rules of a cut, and the peaks that it selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_integers
from diffpeaks.forest.peaks import PeakForest

RULES = ("n_clusters", "max_link", "min_prominence")  # of a cut, as parameters are called


@dataclass(frozen=True)
class Cut:
    """The rules by which samples are peaks.

    Attributes
    ----------
    n_clusters : int or None
        The number of peaks: the samples with the largest density x delta.
    max_link : float
        Links of that length or longer are dropped.
    min_prominence : float
        Hills that rise less above their saddle, in log density, are merged; with a `flow_weight` those of a
        smaller separation, with a `size_weight` large ones that rise a little more, too.
    peaks : tuple of int, optional
        Samples chosen by hand, in the place of all rules.
    flow_weight : float
        How much the flow of the walk across a saddle counts beside its height (`HillFlow`).
    size_weight : float
        How much farther large hills must rise than others (`weighed_by_size`); not beside a `flow_weight`.
    """

    n_clusters: int | None = None
    max_link: float = np.inf
    min_prominence: float = 0.0
    peaks: tuple[int, ...] | None = None
    flow_weight: float = 0.0
    size_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.peaks is not None and Cut() != replace(self, peaks=None):
            raise ValueError(f"{self} has peaks and rules that choose them; give either")
        weights: dict[str, object] = {"flow_weight": self.flow_weight, "size_weight": self.size_weight}
        for name, weight in weights.items():
            if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
                raise ValueError(f"{name}={weight!r} must be a finite number of at least 0")
            if weight and self.n_clusters is not None:
                raise ValueError(
                    f"{self} weighs hills, but n_clusters chooses among all samples; use {name}=0, or "
                    "n_clusters alone, as in recut(n_clusters=...)"
                )
        if self.flow_weight and self.size_weight:
            raise ValueError(f"{self} weighs hills by flow and by size; set flow_weight=0 or size_weight=0")
        for name, none in (("max_link", "inf"), ("min_prominence", "0.0")):
            if not isinstance(getattr(self, name), Real):
                raise TypeError(f"{name}={getattr(self, name)!r} is no number; without the rule it is {none}")

    @property
    def is_of_all_samples(self) -> bool:
        """Whether any sample may be a peak, so that the cut needs a complete forest."""
        return self.n_clusters is not None or self.peaks is not None

    @property
    def longest_link(self) -> float:
        """The bound on the length of links; none where any sample may be a peak."""
        return np.inf if self.is_of_all_samples else self.max_link


def cut_by(n_clusters: int | None, max_link: float | None, min_prominence: float | None) -> Cut | None:
    """The cut by rules that are given; without any None, which stands for the automatic cut."""
    if n_clusters is None and max_link is None and min_prominence is None:
        return None
    return Cut(n_clusters, np.inf if max_link is None else max_link, min_prominence or 0.0)


def given_cut(cut: Cut | None, peaks: Sequence[int] | None, by_rules: Cut | None) -> Cut | None:
    """The cut that is given: as one, by its peaks, or by rules; None where none is."""
    if cut is not None and not isinstance(cut, Cut):
        raise TypeError(f"cut={cut!r} is no Cut; use dataclasses.replace(model.cut_, ...)")
    if (cut is not None) + (peaks is not None) + (by_rules is not None) > 1:
        raise ValueError(
            "a cut is given in two ways; give one of cut, peaks, and rules (n_clusters, max_link, "
            "min_prominence)"
        )
    if peaks is None:
        return by_rules if cut is None else cut
    if np.ndim(peaks) != 1:
        raise ValueError(f"peaks has {np.ndim(peaks)} dimensions; give a list or an array of samples")
    return Cut(peaks=tuple(peaks))


def select_peaks(
    forest: PeakForest,
    density: NDArray[np.float64],
    cut: Cut,
) -> NDArray[np.int64]:
    """The peaks that a cut selects, densest first.

    With `n_clusters` or `peaks` the forest must be complete; with `n_clusters` the other rules say which
    samples may be peaks.
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
    score = np.where(may_be, peak_scores(forest, density), -np.inf)
    least = np.partition(score, -cut.n_clusters)[-cut.n_clusters]
    best = np.flatnonzero(score >= least)  # with all that tie with the last
    peaks = best[np.lexsort((forest.rank[best], -score[best]))][: cut.n_clusters]
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


def peak_scores(forest: PeakForest, density: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density x delta of each sample; the forest must be complete."""
    score = np.full(len(density), np.inf)  # the densest sample has no delta and always is a peak
    known = np.isfinite(forest.delta)
    score[known] = density[known] * forest.delta[known]
    return score


def best_peaks_first(forest: PeakForest, density: NDArray[np.float64]) -> NDArray[np.int64]:
    """All samples by density x delta, largest first, then by density; the forest must be complete."""
    return np.lexsort((forest.rank, -peak_scores(forest, density)))
