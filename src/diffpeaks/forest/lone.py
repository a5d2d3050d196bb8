"""Samples without a link, where far samples are strangers: one that resembles a cluster as a whole joins it.

A poor photograph of a person is far from each other one of that person, and yet nearer to their mean than
strangers are, because the noise of the others is not in the mean. How near is near enough the clusters tell
themselves: members of one are strangers to the means of the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.density.samples import lengths_of
from diffpeaks.forest.peaks import PeakForest, peak_labels
from diffpeaks.neighbors import DistinctSamples, PointSet

# Clusters: fewer tell too little of how near strangers come. Of strangers among generated faces up to 13%
# joined with ten clusters, and up to 1.3% with twenty or more.
_FEWEST_CLUSTERS = 20
_SAMPLE = 4096  # members of clusters that tell how near is near
_BLOCK = 1 << 16  # lone samples that are looked at together


def with_lone_joined(
    forest: PeakForest, peaks: NDArray[np.int64], distinct: DistinctSamples, length: float | None
) -> PeakForest:
    """The forest in which hills of one distinct sample touch the cluster that they resemble, if there is one.

    The clusters are those of the `peaks`. Means are brought to the `length` of the points, if they have one.
    """
    labels = distinct.of_first(peak_labels(forest, peaks))
    sizes = np.bincount(labels, minlength=len(peaks))
    lone, members = np.flatnonzero(sizes[labels] == 1), np.flatnonzero(sizes[labels] > 1)
    clusters = np.flatnonzero(sizes > 1)
    if not len(lone) or len(clusters) < _FEWEST_CLUSTERS:
        return forest
    points = distinct.points
    assert isinstance(points, PointSet)  # of points that can move
    space, weights = points.vectors, distinct.weights
    weights = np.ones(len(labels)) if weights is None else weights
    # clusters are numbered without those of one sample
    number = np.cumsum(sizes > 1) - 1
    own, weight = number[labels[members]], weights[members]
    sums, together = space.sums_of(members, own, weight, len(clusters)), np.bincount(own, weight)
    means = _of_length(sums / together[:, None], length)
    searched = points.others(means.astype(space.dtype))
    if len(members) > _SAMPLE:
        members = np.sort(np.random.RandomState(0).choice(members, _SAMPLE, replace=False))
    # how far members are from the mean of the others of their cluster, and from that of another cluster
    own, weight, vectors = number[labels[members]], weights[members], space.rows(members)
    others = sums[own] - weight[:, None] * vectors
    to_own = lengths_of(vectors - _of_length(others / (together[own] - weight)[:, None], length))
    nearest = searched.nearest_to(vectors, 2).indices.reshape(-1, 2)
    other = np.where(nearest[:, 0] == own, nearest[:, 1], nearest[:, 0])
    bound = _best_bound(to_own, lengths_of(vectors - means[other]))
    nearest_mean, is_near = np.empty(len(lone), np.int32), np.empty(len(lone), bool)
    for some in (slice(first, first + _BLOCK) for first in range(0, len(lone), _BLOCK)):
        vectors = space.rows(lone[some])
        nearest_mean[some] = searched.nearest_to(vectors, 1).indices
        is_near[some] = lengths_of(vectors - means[nearest_mean[some]]) < bound
    joining = lone[is_near] if distinct.first is None else distinct.first[lone[is_near]]
    return _touching(forest, forest.hill[joining], peaks[clusters[nearest_mean[is_near]]])


def _touching(forest: PeakForest, roots: NDArray[Any], others: NDArray[Any]) -> PeakForest:
    """The forest with some roots that do not rise above other samples, which they touch."""
    prominence, saddle, crossing = forest.prominence.copy(), forest.saddle.copy(), forest.crossing.copy()
    prominence[roots], saddle[roots], crossing[roots] = 0.0, roots, others
    return replace(forest, prominence=prominence, saddle=saddle, crossing=crossing)


def _best_bound(to_own: NDArray[np.float64], to_other: NDArray[np.float64]) -> float:
    """The length below which there are members and hardly others: the fewest mistakes, either kind alike.

    It is the longest such, that of the next other, since whoever is a member already is one of the nearer. It
    is zero where no length tells them apart.
    """
    lengths, others = np.sort(to_own), np.sort(to_other)
    n_taken = np.searchsorted(others, lengths, side="right")
    n_lost = np.arange(len(lengths) - 1, -1, -1)
    best = int(np.argmin(n_lost / len(lengths) + n_taken / len(to_other)))
    return 0.0 if n_taken[best] == len(others) else float(others[n_taken[best]])


def _of_length(vectors: NDArray[np.float64], length: float | None) -> NDArray[np.float64]:
    """Vectors of that length, where it is known; one without a direction stays as it is."""
    if length is None:
        return vectors
    lengths = lengths_of(vectors)[:, None]
    return vectors * np.divide(length, lengths, out=np.ones_like(lengths), where=lengths > 0)
