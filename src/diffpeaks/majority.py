"""Samples that follow most of their neighbours.

The nearest denser neighbour may lie across a border. In many dimensions it often does, where some samples
are among the nearest of very many others. Neighbours that have a sample among theirs in turn seldom do, and
most of them are right more often than one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import follow_majority, majority_labels
from diffpeaks._validation import n_threads
from diffpeaks.graph import NeighborGraph
from diffpeaks.order import NO_POINT, rank_of
from diffpeaks.peaks import PeakForest
from diffpeaks.places import Places
from diffpeaks.progress import stage


@stage("majority")
def majority_followed(
    forest: PeakForest,
    labels: NDArray[np.int64],
    places: Places,
    graph: NeighborGraph,
    max_link: float,
    n_jobs: int | None = None,
) -> PeakForest:
    """The forest in which samples are linked to where most of their mutual neighbours belong.

    Neighbours that have the sample among their own count with their weight, as the sample itself does. Where
    most are of another cluster than the parent, the nearest denser one of that cluster becomes the parent;
    without one the parent stays. Tops of hills stay what they are, and a hill that is handed on goes to the
    top of the one that it touched, whomever the samples there follow now.

    Parameters
    ----------
    forest, labels : of samples
    places, graph : of their places
    """
    labels_there = np.ascontiguousarray(places.of_first(labels).astype(np.int32))
    rows = (graph.indptr, graph.indices, graph.distances, float(max_link))
    wanted = np.empty_like(labels_there)
    majority_labels(*rows, places.masses, labels_there, wanted, n_threads(n_jobs))
    parent, delta, rank = _of_places(forest, places)
    follow_majority(*rows, rank_of(rank), rank, wanted, labels_there, parent, delta)
    met = forest.crossing
    crossing = np.where(met == NO_POINT, np.int32(NO_POINT), forest.hill[met])
    followed = replace(forest, crossing=crossing, parent=forest.parent.copy(), delta=forest.delta.copy())
    samples: Any = slice(None) if places.first is None else places.first
    followed.parent[samples] = parent if places.first is None else _samples_at(parent, places.first)
    followed.delta[samples] = delta
    return followed


def _of_places(
    forest: PeakForest, places: Places
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Parent, delta and rank of places: of the first samples there, whose parents are first ones too."""
    parent, delta, rank = (places.of_first(values) for values in (forest.parent, forest.delta, forest.rank))
    if places.number is None:
        return parent.copy(), delta.copy(), rank
    linked = np.where(parent == NO_POINT, np.int32(NO_POINT), places.number[parent])
    return linked, delta.copy(), rank_of(np.argsort(rank).astype(np.int32))


def _samples_at(place: NDArray[np.int32], first: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(place == NO_POINT, np.int32(NO_POINT), first[place])
