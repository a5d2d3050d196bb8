"""Why a sample has its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT, NOISE
from diffpeaks.cuts.noise import Clusters, Noise
from diffpeaks.forest.peaks import PeakForest

SHOWN_AT_EITHER_END = 6  # samples of a long path that are printed


class Reason(StrEnum):
    """The rule that settled a sample."""

    PEAK = "peak"
    LINKED = "linked"  # denser samples lead to the peak
    ABSORBED = "absorbed"  # so they do, after the hill was handed over a saddle
    RESEMBLES = "resembles"  # alone among strangers, but near to the mean of its cluster
    HALO = "halo"  # noise: less dense than the densest border sample of its cluster
    SMALL_CLUSTER = "small cluster"  # noise: fewer samples than min_cluster_size


@dataclass(frozen=True)
class Explanation:
    """The way from a sample to its peak, and what the peak stands on.

    Attributes
    ----------
    sample, label : int
    reason : Reason
        A sample that was noise keeps that reason where it was assigned or became a singleton.
    density, delta : float
        `delta` is the distance to the nearest denser neighbour along which hills are linked; infinite where
        the forest has none.
    path : tuple of int
        Samples from this one to a peak: each the denser neighbour that the one before follows, or reached
        over a saddle. Assigned noise reaches its cluster first; other noise goes to the peak that it had.
    saddles : tuple of int
        The samples of the path where a hill was handed over.
    prominence : float
        How far the peak at the end rises above the saddle to a denser hill, in log density, or is apart from
        it where flow counts; zero where the peak is no hilltop of the graph.
    next_saddle, next_label : int or None
        Where the peak's hill meets a denser one, and the label there; None where it meets none.
    next_saddle_density : float or None
    """

    sample: int
    label: int
    reason: Reason
    density: float
    delta: float
    path: tuple[int, ...]
    saddles: tuple[int, ...]
    prominence: float
    next_saddle: int | None
    next_label: int | None
    next_saddle_density: float | None

    @property
    def peak(self) -> int:
        return self.path[-1]

    def __str__(self) -> str:
        where = "noise" if self.label == NOISE else f"cluster {self.label}"
        steps = [f"{sample} (saddle)" if sample in self.saddles else f"{sample}" for sample in self.path]
        if len(steps) > 2 * SHOWN_AT_EITHER_END + 1:
            between = f"... {len(steps) - 2 * SHOWN_AT_EITHER_END} more ..."
            steps = [*steps[:SHOWN_AT_EITHER_END], between, *steps[-SHOWN_AT_EITHER_END:]]
        meets = "no denser hill is met"
        if self.next_saddle is not None:
            other = "noise" if self.next_label == NOISE else f"cluster {self.next_label}"
            meets = f"meets {other} at sample {self.next_saddle}, density {self.next_saddle_density:.4g}"
        return (
            f"sample {self.sample}: {where} ({self.reason})\n"
            f"  density {self.density:.4g}, delta {self.delta:.4g}\n"
            f"  path {' > '.join(steps)} (peak)\n"
            f"  peak {self.peak}: prominence {self.prominence:.4g}, {meets}"
        )


def explanation(
    sample: int,
    clusters: Clusters,
    density: NDArray[np.float64],
    forest: PeakForest,
    before: Clusters,
    noise: Noise,
    are_linked: Callable[[int, int], bool],
    links: NDArray[np.int32] | None = None,
) -> Explanation:
    """Why a sample has its label in `clusters`, which were `before` the noise was settled.

    `are_linked` tells whether hills may meet at two samples; `links` lead out of noise that was assigned.
    """
    start = [sample]
    while links is not None and links[start[-1]] != start[-1]:
        start.append(int(links[start[-1]]))
    climbed, saddles, by_mean = path_to_peak(start[-1], forest, before, are_linked)
    peak, crossing = climbed[-1], forest.crossing[climbed[-1]]
    saddle = None if forest.saddle[peak] == NO_POINT else int(forest.saddle[peak])
    return Explanation(
        sample=sample,
        label=int(clusters.labels[sample]),
        reason=_reason(sample, before, noise, bool(saddles), by_mean),
        density=float(density[sample]),
        delta=float(forest.delta[sample]),
        path=(*start[:-1], *climbed),
        saddles=saddles,
        prominence=float(forest.prominence[peak]),
        next_saddle=saddle,
        next_label=None if saddle is None else int(clusters.labels[crossing]),
        next_saddle_density=None if saddle is None else float(density[saddle]),
    )


def path_to_peak(
    sample: int, forest: PeakForest, clusters: Clusters, are_linked: Callable[[int, int], bool]
) -> tuple[list[int], tuple[int, ...], bool]:
    """The samples from one to its peak as labels follow them, the saddles among them, and if by a mean.

    Where a sample joined a cluster by its mean there is no saddle: the forest has it touch the peak.
    No sample comes twice: where the way leads back over one, what lies between is left out.
    """
    peak = clusters.peaks[clusters.labels[sample]]
    path, saddles, by_mean = [sample], [], False
    while path[-1] != peak:
        here = path[-1]
        if forest.parent[here] != NO_POINT:
            path.append(int(forest.parent[here]))
            continue
        saddle, crossing = int(forest.saddle[here]), int(forest.crossing[here])
        if saddle == here and not are_linked(here, crossing):
            by_mean = True
        else:
            saddles.append(saddle)
        over = [here, saddle, crossing]
        path += [after for before, after in pairwise(over) if after != before]
    path = without_loops(path)
    return path, tuple(dict.fromkeys(saddle for saddle in saddles if saddle in set(path))), by_mean


def without_loops(path: list[int]) -> list[int]:
    """A path without the parts that lead back to where it was before.

    >>> from diffpeaks.results.explanation import without_loops
    >>> without_loops([5, 1, 2, 1, 3])
    [5, 1, 3]
    """
    last = {sample: place for place, sample in enumerate(path)}
    found, place = [], 0
    while place < len(path):
        found.append(path[place])
        place = last[path[place]] + 1
    return found


def _reason(sample: int, before: Clusters, noise: Noise, over_saddles: bool, by_mean: bool) -> Reason:
    if noise.small[sample]:
        return Reason.SMALL_CLUSTER
    if noise.halo[sample]:
        return Reason.HALO
    if sample == before.peaks[before.labels[sample]]:
        return Reason.PEAK
    if by_mean:
        return Reason.RESEMBLES
    return Reason.ABSORBED if over_saddles else Reason.LINKED
