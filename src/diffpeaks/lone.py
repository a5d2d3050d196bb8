"""Samples that no short link reaches, and clusters that most of their neighbours belong to.

An unrelated sample has its nearest neighbours in many clusters; a poor one of a cluster has them there, and
one that noise in many dimensions has carried far has all of them there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.contract import Neighbors
from diffpeaks.order import NO_POINT, NOISE
from diffpeaks.peaks import PeakForest, forest_with_links
from diffpeaks.rows import offsets

# Neighbours that all agree are believed from farther away, in lengths, if they are few of a cluster: a small
# one may be the nearest of a stranger as a whole.
FARTHER_IF_ALL_AGREE = 1.25
_FEW = 1 / 8
_ALL = 1 - 1e-9  # a share that only all entries of a row are more than


def agreed_labels(
    rows: Neighbors, labels: NDArray[np.int64], max_link: float, share: float = 0.5
) -> NDArray[np.int64]:
    """The label of more than that share of each row's entries, all nearer than `max_link`; NOISE without one.

    Entries that are noise agree with none.
    """
    lengths = np.diff(rows.indptr)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    found = labels[rows.indices]
    counts = (found != NOISE) & (rows.distances < np.atleast_1d(max_link))
    n_labels = labels.max(initial=0) + 1
    pairs, number = np.unique(owners[counts] * n_labels + found[counts], return_counts=True)
    agreed = np.full(len(lengths), NOISE, np.int64)
    most = pairs[number > share * lengths[pairs // n_labels]]
    agreed[most // n_labels] = most % n_labels
    return agreed


def lone_samples_linked(
    forest: PeakForest,
    graph: NeighborGraph,
    labels: NDArray[np.int64],
    max_link: float,
    first: NDArray[np.int32] | None = None,
    *,
    all_agree: bool = False,
) -> PeakForest:
    """The forest in which lone samples are linked into the cluster that their neighbours agree on.

    More than half of the graph's row must be in it, and nearer than `max_link`. Or all of the row must be in
    it, however far, be few of it, and the one to link to nearer than `max_link`.

    A lone sample is a cluster by itself in `labels`, or with its copies alone; `first` are the first samples
    at each place, None where no place has several. It is linked to its nearest denser neighbour in that
    cluster, and then counts as one of it for the lone samples that are left, until none is linked.
    """
    parent, delta = forest.parent.copy(), forest.delta.copy()
    n_places = np.bincount(labels if first is None else labels[first])
    alone = (n_places == 1)[labels]
    agreed_upon = np.where(alone, NOISE, labels)  # a lone sample speaks for no cluster
    lone = np.flatnonzero(alone & (parent == NO_POINT))  # copies follow the first of them
    rows = _others(graph, lone)[1]
    owners = np.repeat(lone, np.diff(rows.indptr))
    asked = lone
    while len(asked):
        linked, entries = _followed(
            forest.rank, graph, asked, agreed_upon, max_link, n_places if all_agree else None
        )
        parent[linked], delta[linked] = graph.indices[entries], graph.distances[entries]
        agreed_upon[linked] = agreed_upon[parent[linked]]
        # only who has one of these among its neighbours may have found an agreement
        is_linked = np.zeros(len(parent), bool)
        is_linked[linked] = True
        asked = np.unique(owners[is_linked[rows.indices]])
        asked = asked[agreed_upon[asked] == NOISE]
    return forest_with_links(forest, parent, delta)


def _followed(
    rank: NDArray[np.int32],
    graph: NeighborGraph,
    samples: NDArray[np.int64],
    labels: NDArray[np.int64],
    max_link: float,
    n_places: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Those of the samples that follow most of their neighbours, and the entries of the graph to take.

    Or all of them, where `n_places` has the size of each cluster.
    """
    entries, rows = _others(graph, samples)
    agreed = agreed_labels(rows, labels, *((max_link, 0.5) if n_places is None else (np.inf, _ALL)))
    owners = np.repeat(np.arange(len(samples)), np.diff(rows.indptr))
    fits = (labels[rows.indices] == agreed[owners]) & (agreed[owners] != NOISE)
    fits &= rank[rows.indices] < rank[samples[owners]]
    if n_places is not None:
        fits &= rows.distances < np.atleast_1d(max_link)
        fits &= np.diff(rows.indptr)[owners] <= _FEW * n_places[agreed[owners]]
    which, first = np.unique(owners[fits], return_index=True)  # rows are sorted: the first is the nearest
    return samples[which], entries[fits][first]


def _others(graph: NeighborGraph, samples: NDArray[Any]) -> tuple[NDArray[np.int64], Neighbors]:
    """The rows of some samples, without themselves, and the places of their entries in the graph."""
    lengths = graph.indptr[samples + 1] - graph.indptr[samples] - 1
    indptr = offsets(lengths)
    entries = np.arange(indptr[-1]) + np.repeat(graph.indptr[samples] + 1 - indptr[:-1], lengths)
    return entries, Neighbors(indptr, graph.indices[entries], graph.distances[entries])
