"""30 Gaussians of unit variance in 2, 5, 10 and 20 dimensions, and what can be found of them.

Some of them coincide, so that no clustering finds all 30: the density that the samples are drawn from has
fewer modes, and even who knows all centres takes one Gaussian for another.
"""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from scoring import scores
from sklearn.metrics import pairwise_distances_argmin

SPREAD = {2: 10.0, 5: 3.0, 10: 1.9, 20: 1.2}  # of the centres, in units of each Gaussian's, by dimension
N_GAUSSIANS, N_DRAWN = 30, 300_000
RISES = (0.3, 0.85)


def drawn(n_features):
    """Samples, the Gaussian of each, and the centres."""
    random = np.random.default_rng(0)
    centers = SPREAD[n_features] * random.normal(size=(N_GAUSSIANS, n_features))
    y = random.integers(0, N_GAUSSIANS, N_DRAWN)
    return (centers[y] + random.normal(size=(N_DRAWN, n_features))).astype(np.float32), y, centers


def ceiling(n_features):
    """Scores of the nearest true centre, modes of the true density, and how many of these rise by `RISES`."""
    X, y, centers = drawn(n_features)
    found = modes(centers)
    rise = rises(found, centers)
    risen = {f"modes_{least}": int(np.sum(rise >= least)) for least in RISES}
    return {**scores(y, pairwise_distances_argmin(X, centers)), "modes": len(found), **risen}


def modes(centers):
    """Where the mean shift from each centre ends."""
    points, shift = centers, np.inf
    while shift > 1e-10:
        shifted = softmax(-cdist(points, centers, "sqeuclidean") / 2, axis=1) @ centers
        points, shift = shifted, np.abs(shifted - points).max()
    _, first = np.unique(np.round(points, 2), axis=0, return_index=True)
    return points[first]


def rises(found, centers):
    """How far modes rise above the highest straight path to a denser one: no less than their prominence."""
    heights = log_density(found, centers)
    along = np.linspace(0, 1, 201)[:, None]
    rise = np.full(len(found), np.inf)
    for number, mode in enumerate(found):
        denser = found[heights > heights[number]]
        saddles = [log_density(mode + along * (other - mode), centers).min() for other in denser]
        rise[number] = heights[number] - max(saddles, default=-np.inf)
    return rise


def log_density(points, centers):
    """Of the mixture, up to a constant."""
    return logsumexp(-cdist(points, centers, "sqeuclidean") / 2, axis=1)
