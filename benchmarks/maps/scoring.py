"""What a map keeps: neighbours, as recall and trustworthiness, and classes."""

import numpy as np
from sklearn.metrics import pairwise_distances

from diffpeaks import neighbor_graph

N_NEIGHBORS = 15  # others than the sample itself
_N_RANKED = 2000  # samples whose true ranks of all others are found
_BLOCK = 200


def nearest(X, n_neighbors=N_NEIGHBORS):
    """Others than the sample itself, the nearest first."""
    graph = neighbor_graph(X, n_neighbors + 1, search="exact")
    return graph.indices.reshape(len(X), n_neighbors + 1)[:, 1:]


def recall(true, found):
    """The share of the true neighbours that are neighbours in the map."""
    shared = [len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(true, found, strict=True)]
    return float(np.mean(shared) / true.shape[1])


def trustworthiness(X, found, n_ranked=_N_RANKED):
    """Venna and Kaski's, over some of the samples: neighbours in the map that are far by their true rank."""
    n_samples, k = found.shape
    sample = np.random.default_rng(0).permutation(n_samples)[:n_ranked]
    too_far = 0
    for block in np.array_split(sample, max(1, len(sample) // _BLOCK)):
        distances = pairwise_distances(X[block], X)
        distances[np.arange(len(block)), block] = -1
        order = np.argsort(distances, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(n_samples)[None, :], axis=1)
        too_far += int(np.maximum(np.take_along_axis(ranks, found[block], axis=1) - k, 0).sum())
    return 1 - 2 * too_far / (len(sample) * k * (2 * n_samples - 3 * k - 1))


def accuracy(y, found):
    """The share of samples whose class most of their neighbours in the map have."""
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((len(y), len(classes)), np.uint8)
    np.add.at(votes, (np.arange(len(y))[:, None], codes[found]), 1)
    return float(np.mean(votes.argmax(axis=1) == codes))


def scores(X, y):
    """A judge of maps of some points, whose neighbours are found once."""
    true = nearest(X)

    def judged(places):
        found = nearest(np.asarray(places, np.float64))
        return {
            "recall": round(recall(true, found), 4),
            "trustworthiness": round(trustworthiness(X, found), 4),
            "accuracy": round(accuracy(y, found), 4),
        }

    return judged
