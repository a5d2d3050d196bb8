"""How labels are scored. A sample of noise is a cluster of its own in all scores, but counts as none."""

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from diffpeaks import NOISE
from diffpeaks.metrics import bcubed_scores, pairwise_scores


def noise_alone(labels):
    """Labels in which each sample of noise is a cluster of its own."""
    labels = np.asarray(labels)
    noise = labels == NOISE
    alone = labels.copy()
    alone[noise] = labels.max() + 1 + np.arange(noise.sum())
    return alone


def scores(y, labels):
    """In percent, but for the number of clusters."""
    labels, alone = np.asarray(labels), noise_alone(labels)
    noise = labels == NOISE
    found = {
        "bcubed": bcubed_scores(y, labels).f,
        "pairwise": pairwise_scores(y, labels).f,
        "ami": adjusted_mutual_info_score(y, alone),
        "ari": adjusted_rand_score(y, alone),
        "noise": noise.mean(),
    }
    percent = {name: round(100 * float(value), 2) for name, value in found.items()}
    return {**percent, "n_clusters": len(np.unique(labels[~noise]))}
