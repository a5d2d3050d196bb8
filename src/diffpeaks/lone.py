"""Samples that no short link reaches, and clusters that most of their neighbours belong to.

An unrelated sample has its nearest neighbours in many clusters; a poor one of a cluster has them there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.contract import Neighbors, leading
from diffpeaks.order import NO_POINT, NOISE
from diffpeaks.peaks import PeakForest


def agreed_labels(rows: Neighbors, labels: NDArray[np.int64], max_link: float) -> NDArray[np.int64]:
    """The label of more than half of each row's entries, all nearer than `max_link`; NOISE without one.

    Entries that are noise agree with none.
    """
    lengths = np.diff(rows.indptr)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    found = labels[rows.indices]
    counts = (found != NOISE) & (rows.distances < np.atleast_1d(max_link))
    pairs, number = np.unique(np.column_stack((owners[counts], found[counts])), axis=0, return_counts=True)
    agreed = np.full(len(lengths), NOISE, np.int64)
    most = 2 * number > lengths[pairs[:, 0]]
    agreed[pairs[most, 0]] = pairs[most, 1]
    return agreed


def lone_samples_linked(
    forest: PeakForest, graph: NeighborGraph, labels: NDArray[Any], max_link: float
) -> PeakForest:
    """The forest in which lone samples are linked into the cluster that most of their neighbours agree on.

    A lone sample is a cluster by itself in `labels`. It is linked to its nearest denser neighbour in that
    cluster.
    """
    alone = (np.bincount(labels) == 1)[labels]
    lone = np.flatnonzero(alone)
    rows = _others(graph, lone)
    agreed = agreed_labels(rows, np.where(alone, NOISE, labels), max_link)
    owners = np.repeat(np.arange(len(lone)), np.diff(rows.indptr))
    fits = labels[rows.indices] == agreed[owners]
    fits &= forest.rank[rows.indices] < forest.rank[lone[owners]]
    linked, first = np.unique(owners[fits], return_index=True)  # rows are sorted: the first is the nearest
    entries = np.flatnonzero(fits)[first]
    values = {
        "parent": rows.indices[entries],
        "delta": rows.distances[entries],
        "prominence": 0.0,
        "saddle": NO_POINT,
        "crossing": NO_POINT,
    }
    changed = {name: getattr(forest, name).copy() for name in values}
    for name, value in values.items():
        changed[name][lone[linked]] = value
    return replace(forest, **changed)


def _others(graph: NeighborGraph, samples: NDArray[Any]) -> Neighbors:
    """The rows of some samples, without themselves."""
    rows = Neighbors(graph.indptr, graph.indices, graph.distances)
    whole = leading(rows, samples, graph.degrees[samples])
    others = np.ones(len(whole.indices), bool)
    others[whole.indptr[:-1]] = False
    indptr = whole.indptr - np.arange(len(whole.indptr))
    return Neighbors(indptr, whole.indices[others], whole.distances[others])
