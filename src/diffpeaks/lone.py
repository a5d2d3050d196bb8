"""Samples that no short link reaches, and clusters that most of their neighbours belong to.

An unrelated sample has its nearest neighbours in many clusters; a poor one of a cluster has them there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.contract import Neighbors, leading
from diffpeaks.order import NOISE
from diffpeaks.peaks import PeakForest, forest_with_links


def agreed_labels(rows: Neighbors, labels: NDArray[np.int64], max_link: float) -> NDArray[np.int64]:
    """The label of more than half of each row's entries, all nearer than `max_link`; NOISE without one.

    Entries that are noise agree with none.
    """
    lengths = np.diff(rows.indptr)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    found = labels[rows.indices]
    counts = (found != NOISE) & (rows.distances < np.atleast_1d(max_link))
    n_labels = labels.max(initial=0) + 1
    pairs, number = np.unique(owners[counts] * n_labels + found[counts], return_counts=True)
    agreed = np.full(len(lengths), NOISE, np.int64)
    most = pairs[2 * number > lengths[pairs // n_labels]]
    agreed[most // n_labels] = most % n_labels
    return agreed


def lone_samples_linked(
    forest: PeakForest, graph: NeighborGraph, labels: NDArray[np.int64], max_link: float
) -> PeakForest:
    """The forest in which lone samples are linked into the cluster that most of their neighbours agree on.

    A lone sample is a cluster by itself in `labels`. It is linked to its nearest denser neighbour in that
    cluster, and then counts as one of it for the lone samples that are left, until none is linked.
    """
    parent, delta, labels = forest.parent.copy(), forest.delta.copy(), labels.copy()
    while True:
        alone = (np.bincount(labels) == 1)[labels]
        lone = np.flatnonzero(alone)
        rows = _others(graph, lone)
        agreed = agreed_labels(rows, np.where(alone, NOISE, labels), max_link)
        owners = np.repeat(np.arange(len(lone)), np.diff(rows.indptr))
        fits = labels[rows.indices] == agreed[owners]
        fits &= forest.rank[rows.indices] < forest.rank[lone[owners]]
        which, first = np.unique(owners[fits], return_index=True)  # rows are sorted: the first is the nearest
        if not len(which):
            break
        entries, linked = np.flatnonzero(fits)[first], lone[which]
        parent[linked], delta[linked] = rows.indices[entries], rows.distances[entries]
        labels[linked] = agreed[which]
    return forest_with_links(forest, parent, delta)


def _others(graph: NeighborGraph, samples: NDArray[Any]) -> Neighbors:
    """The rows of some samples, without themselves."""
    rows = Neighbors(graph.indptr, graph.indices, graph.distances)
    whole = leading(rows, samples, graph.indptr[samples + 1] - graph.indptr[samples])
    others = np.ones(len(whole.indices), bool)
    others[whole.indptr[:-1]] = False
    indptr = whole.indptr - np.arange(len(whole.indptr))
    return Neighbors(indptr, whole.indices[others], whole.distances[others])
