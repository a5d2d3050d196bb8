"""Colours of clusters on a map: neighbours differ for every eye, also where clusters outnumber colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import HUES, N_COLORS, color_differences

_MOST_SAMPLES = 100_000  # of all clusters together, by which the gaps between them are found
_N_BESIDE = 12  # clusters around each that matter
_EASILY_TOLD = 0.25  # a difference in Oklab from which on more hardly helps
_TONE_COST = 0.1  # of lighter and darker tones: plain hues come first
# Of a colour that other clusters have: more than any likeness where there are colours for all, else by how
# many have it, in units of their mean.
_NEVER, _SELDOM = 1e3, 0.3
_SWEEPS = 4


def color_indices(coordinates: Any, labels: Any) -> NDArray[np.int64]:
    """A colour for each cluster, as its number in the palette, so that neighbours on a map differ.

    Up to seven clusters have the seven hues in their order. Of more, the largest choose first, then each
    chooses again, knowing the others: as different as can be from those beside it, for all kinds of colour
    vision. Up to 21 clusters have colours of their own, and more share them as far apart as can be.

    Parameters
    ----------
    coordinates : array of shape (n_samples, 2)
    labels : array of shape (n_samples,)
        0 to `n_clusters` - 1, and -1 for noise.

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
    places, labels = np.asarray(coordinates, np.float64), np.asarray(labels)
    chosen = np.arange(int(labels.max(initial=NOISE)) + 1)
    in_cluster = labels != NOISE
    clusters, cluster_of = np.unique(labels[in_cluster], return_inverse=True)
    if len(clusters) > len(HUES):
        chosen[clusters] = _colors_apart(places[in_cluster], cluster_of)
    return chosen


def _colors_apart(places: NDArray[np.float64], cluster_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """A colour for each cluster; each has samples."""
    sizes = np.bincount(cluster_of)
    beside, nearness = _clusters_beside(places, cluster_of, sizes)
    # of two colours that look alike to some eyes: the mean over kinds of colour vision
    likeness = np.mean(np.maximum(0, 1 - color_differences() / _EASILY_TOLD) ** 2, axis=0)
    reuse_cost = _SELDOM * N_COLORS / len(sizes) if len(sizes) > N_COLORS else _NEVER
    tone_cost = _TONE_COST * (np.arange(N_COLORS) >= len(HUES))
    chosen = np.full(len(sizes), NOISE)
    n_users = np.zeros(N_COLORS)
    for _ in range(_SWEEPS):
        for cluster in np.argsort(-sizes, kind="stable"):
            if chosen[cluster] != NOISE:
                n_users[chosen[cluster]] -= 1
            known = chosen[beside[cluster]] != NOISE
            clash = nearness[cluster, known] @ likeness[chosen[beside[cluster, known]]]
            chosen[cluster] = np.argmin(clash + tone_cost + reuse_cost * n_users)
            n_users[chosen[cluster]] += 1
    return chosen


def _clusters_beside(
    places: NDArray[np.float64], cluster_of: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The clusters with the nearest middles, and how near they are: one without a gap, zero for itself."""
    members = np.split(np.argsort(cluster_of, kind="stable"), np.cumsum(sizes)[:-1])
    every = 1 + len(places) // _MOST_SAMPLES
    some = [places[which[::every]] for which in members]
    middles = np.array([np.median(within, axis=0) for within in some])
    widths = np.array([2 * np.median(np.abs(within - m)) for within, m in zip(some, middles, strict=True)])
    distances, beside = KDTree(middles).query(middles, min(_N_BESIDE + 1, len(sizes)))
    gaps = np.maximum(0, distances - widths[:, None] - widths[beside])
    scale = float(np.median(distances[:, 1]))
    nearness = 1 / (1 + (gaps / (scale if scale > 0 else 1.0)) ** 2)
    nearness[beside == np.arange(len(sizes))[:, None]] = 0
    return beside, nearness
