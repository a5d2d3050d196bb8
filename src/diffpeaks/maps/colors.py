"""Colours of clusters on a map: neighbours differ for every eye, also where clusters outnumber colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import HUES, N_COLORS, color_differences
from diffpeaks._base.validation import check_integers

_MOST_SAMPLES = 20_000  # by which the gaps between clusters are found
_N_BESIDE = 12  # clusters around each that matter
_EASILY_TOLD = 0.25  # a difference in Oklab from which on more hardly helps
_TONE_COST = 0.1  # of lighter and darker tones: plain hues come first
# Of a colour that other clusters have: more than any likeness where there are colours for all, else by how
# many have it, in units of their mean.
_NEVER, _SELDOM = 1e3, 0.3
_SWEEPS = 2
_MOST_CHOOSING = 500  # clusters, the largest: colours of more help nobody


def color_indices(coordinates: Any, labels: Any, fixed: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """A colour for each cluster, as its number in the palette, so that neighbours on a map differ.

    Up to seven clusters have the seven hues in their order. Of more, the largest choose first, then each
    chooses again, knowing the others: as different as can be from those beside it, for all kinds of colour
    vision. Up to 21 clusters have colours of their own, and more share them as far apart as can be. Of more
    than 500 clusters the largest choose, and the others have the colour of their number.

    Parameters
    ----------
    coordinates : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
        0 to `n_clusters` - 1, and -1 for noise.
    fixed : array of shape (n_clusters,), optional
        Colours that clusters have already, which stay; -1 for one that is to choose.

    Returns
    -------
    array of shape (n_clusters,)
        For `diffpeaks.plotting.cluster_colors`.

    Examples
    --------
    >>> from diffpeaks.maps import color_indices
    >>> color_indices([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]], [0, 1, -1]).tolist()
    [0, 1]
    """
    places, labels = np.asarray(coordinates), check_integers("labels", labels)
    if places.shape != (len(labels), 2):
        raise ValueError(f"coordinates have shape {places.shape}; they must have {(len(labels), 2)}")
    if labels.min(initial=NOISE) < NOISE:
        raise ValueError(f"labels hold {labels.min()}; number the clusters 0, 1, ..., and noise -1")
    sizes = np.bincount(labels - NOISE)[1:]
    chosen = np.arange(len(sizes)) % N_COLORS
    if fixed is None and np.count_nonzero(sizes) <= len(HUES):
        return chosen
    is_free = sizes > 0
    if fixed is not None:
        fixed = check_integers("fixed", fixed)
        if fixed.shape != sizes.shape or np.any((fixed < NOISE) | (fixed >= N_COLORS)):
            raise ValueError(f"fixed must be {len(sizes)} colours in 0 .. {N_COLORS - 1}, or -1, got {fixed}")
        is_free &= fixed == NOISE
        chosen = np.where(is_free, chosen, fixed)
    free = np.flatnonzero(is_free)
    choosing = free[np.argsort(-sizes[free], kind="stable")][:_MOST_CHOOSING]
    chosen[choosing] = NOISE
    if len(choosing):
        _choose_apart(chosen, choosing, sizes > 0, *_clusters_beside(places, labels, len(sizes)))
    return chosen


def _choose_apart(
    chosen: NDArray[np.int64],
    choosing: NDArray[np.int64],
    is_there: NDArray[np.bool_],
    beside: NDArray[np.int64],
    nearness: NDArray[np.float64],
) -> None:
    """Fill in the colours of the clusters that choose, the first of them first."""
    # of two colours that look alike to some eyes: the mean over kinds of colour vision
    likeness = np.mean(np.maximum(0, 1 - color_differences() / _EASILY_TOLD) ** 2, axis=0)
    likeness = np.vstack([likeness, np.zeros(N_COLORS)])  # the last, NOISE, is like no colour
    n_clusters = np.count_nonzero(is_there)
    reuse_cost = _SELDOM * N_COLORS / n_clusters if n_clusters > N_COLORS else _NEVER
    tone_cost = _TONE_COST * (np.arange(N_COLORS) >= len(HUES))
    n_users = np.bincount(chosen[is_there & (chosen != NOISE)], minlength=N_COLORS).astype(np.float64)
    for _ in range(_SWEEPS):
        for cluster in choosing:
            if chosen[cluster] != NOISE:
                n_users[chosen[cluster]] -= 1
            clash = nearness[cluster] @ likeness[chosen[beside[cluster]]]
            chosen[cluster] = np.argmin(clash + tone_cost + reuse_cost * n_users)
            n_users[chosen[cluster]] += 1


def _clusters_beside(
    places: NDArray[Any], labels: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The clusters with the nearest middles, and how near they are: one without a gap, zero for itself.

    Clusters of which an even share of the samples has none are near to nobody.
    """
    every = 1 + len(places) // _MOST_SAMPLES
    places, labels = places[::every].astype(np.float64), labels[::every]
    places, labels = places[labels != NOISE], labels[labels != NOISE]
    seen = np.flatnonzero(np.bincount(labels, minlength=n_clusters))
    of_seen = np.searchsorted(seen, labels).astype(np.uint16)  # which numpy sorts fastest
    middles = np.column_stack([_medians(axis, of_seen) for axis in places.T])
    widths = 2 * _medians(np.abs(places - middles[of_seen]).ravel(), np.repeat(of_seen, 2))
    n_beside = min(_N_BESIDE + 1, len(seen))
    distances, near = (found.reshape(len(seen), -1) for found in KDTree(middles).query(middles, n_beside))
    gaps = np.maximum(0, distances - widths[:, None] - widths[near])
    scale = float(np.median(distances[:, min(1, n_beside - 1)]))
    beside, nearness = np.zeros((n_clusters, n_beside), np.int64), np.zeros((n_clusters, n_beside))
    beside[seen] = seen[near]
    nearness[seen] = np.where(beside[seen] == seen[:, None], 0, 1 / (1 + (gaps / (scale or 1.0)) ** 2))
    return beside, nearness


def _medians(values: NDArray[np.float64], group_of: NDArray[np.uint16]) -> NDArray[np.float64]:
    """The median of each group; each has values."""
    by_value = np.argsort(values)
    ordered = values[by_value[np.argsort(group_of[by_value], kind="stable")]]
    sizes = np.bincount(group_of)
    first = np.cumsum(sizes) - sizes
    return (ordered[first + (sizes - 1) // 2] + ordered[first + sizes // 2]) / 2
