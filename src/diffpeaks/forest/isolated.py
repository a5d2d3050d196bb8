"""Isolated samples among strangers: one that is near to the mean of a cluster joins the cluster.

A poor photograph of a person is far from every other photograph of that person, and yet nearer to their mean
than photographs of strangers are, because the mean has less noise. The clusters themselves tell how near is
near enough: to the mean of any other cluster, a member is a stranger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.forest.peaks import PeakForest, peak_labels
from diffpeaks.neighbors import DistinctSamples, PointSet
from diffpeaks.neighbors.euclidean import squared_norms

# Fewer clusters tell too little of how near strangers come. Among generated faces up to 13% of the strangers
# joined one of ten clusters, and up to 1.3% one of twenty or more.
_FEWEST_CLUSTERS = 20
_SAMPLE = 4096  # members of clusters whose distances to means are measured
_BLOCK = 1 << 16  # isolated samples that are compared with means at a time


def with_isolated_joined(
    forest: PeakForest, peaks: NDArray[np.int64], distinct: DistinctSamples, length: float | None
) -> PeakForest:
    """The forest in which isolated samples, clusters of one sample, touch the cluster that they join.

    The clusters are those of the `peaks`. Where all points have the same `length`, means are scaled to it.
    """
    labels = distinct.of_first(peak_labels(forest, peaks))
    sizes = np.bincount(labels, minlength=len(peaks))
    isolated, members = np.flatnonzero(sizes[labels] == 1), np.flatnonzero(sizes[labels] > 1)
    clusters = np.flatnonzero(sizes > 1)
    if not len(isolated) or len(clusters) < _FEWEST_CLUSTERS:
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
    to_own = _lengths_of(vectors - _of_length(others / (together[own] - weight)[:, None], length))
    nearest = searched.nearest_to(vectors, 2).indices.reshape(-1, 2)
    other = np.where(nearest[:, 0] == own, nearest[:, 1], nearest[:, 0])
    bound = _best_bound(to_own, _lengths_of(vectors - means[other]))
    nearest_mean, is_near = np.empty(len(isolated), np.int32), np.empty(len(isolated), bool)
    for some in (slice(first, first + _BLOCK) for first in range(0, len(isolated), _BLOCK)):
        vectors = space.rows(isolated[some])
        nearest_mean[some] = searched.nearest_to(vectors, 1).indices
        is_near[some] = _lengths_of(vectors - means[nearest_mean[some]]) < bound
    joining = isolated[is_near] if distinct.first is None else distinct.first[isolated[is_near]]
    return _touching(forest, forest.hill[joining], peaks[clusters[nearest_mean[is_near]]])


def _touching(forest: PeakForest, roots: NDArray[Any], others: NDArray[Any]) -> PeakForest:
    """The forest in which some roots have no prominence and touch other samples."""
    prominence, saddle, crossing = forest.prominence.copy(), forest.saddle.copy(), forest.crossing.copy()
    prominence[roots], saddle[roots], crossing[roots] = 0.0, roots, others
    return replace(forest, prominence=prominence, saddle=saddle, crossing=crossing)


def _best_bound(to_own: NDArray[np.float64], to_other: NDArray[np.float64]) -> float:
    """The distance to a mean that tells members from others with the fewest mistakes, as shares of either.

    Of all such bounds it is the largest, the distance of the next other: members that are known already are
    the nearer ones. It is zero where no distance tells them apart.
    """
    lengths, others = np.sort(to_own), np.sort(to_other)
    n_taken = np.searchsorted(others, lengths, side="right")
    n_lost = np.arange(len(lengths) - 1, -1, -1)
    best = int(np.argmin(n_lost / len(lengths) + n_taken / len(to_other)))
    return 0.0 if n_taken[best] == len(others) else float(others[n_taken[best]])


def _of_length(vectors: NDArray[np.float64], length: float | None) -> NDArray[np.float64]:
    """Vectors scaled to that length, if there is one; a zero vector stays as it is."""
    if length is None:
        return vectors
    lengths = _lengths_of(vectors)[:, None]
    return vectors * np.divide(length, lengths, out=np.ones_like(lengths), where=lengths > 0)


def _lengths_of(vectors: NDArray[Any]) -> NDArray[np.float64]:
    return np.sqrt(squared_norms(vectors))
