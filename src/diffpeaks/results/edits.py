"""Clusters changed by hand: merged, split where the density has its next hill, or made of chosen samples.

An edit names clusters by samples in them, so that it means the same however clusters are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.constants import NO_POINT, NOISE
from diffpeaks._base.validation import check_integer
from diffpeaks.forest.peaks import PeakForest, labels_by_peak, peak_forest, peak_labels
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.ragged_rows import leading


@dataclass(frozen=True)
class Merge:
    """The clusters of these samples become one; if they are one already, nothing changes."""

    samples: Sequence[int]

    def applied(self, model: Any, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(self.samples) < 2:
            raise ValueError(f"{self} names {len(self.samples)} samples; name at least two")
        clusters = np.unique([_cluster_of(sample, labels, self) for sample in self.samples])
        return np.where(np.isin(labels, clusters), clusters[0], labels)


@dataclass(frozen=True)
class Split:
    """The cluster of this sample falls into two, at the most prominent hill in it beside its top.

    The hills are those of the cluster alone: links that lead out of it do not count, and none is too long.
    The hill that rises most above its saddle becomes a cluster, with all lower hills that would be absorbed
    into it; of equal ones, and of parts that no link joins, the densest. The rest stays what it was.
    """

    sample: int

    def applied(self, model: Any, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        members = np.flatnonzero(labels == _cluster_of(self.sample, labels, self))
        forest = _forest_of(members, model)
        others = forest.roots[1:]  # without the top
        others = others[forest.prominence[others] > 0]
        if not len(others):
            raise ValueError(f"{self} finds one hill in that cluster, which cannot be split; name another")
        hill = others[np.argmax(forest.prominence[others])]
        remain = others[forest.prominence[others] >= forest.prominence[hill]]
        remain = np.append(forest.roots[0], remain)
        sides = peak_labels(forest, remain)
        split = labels.copy()
        split[members[sides == sides[hill]]] = labels.max() + 1
        return split


@dataclass(frozen=True)
class Gather:
    """These samples leave their clusters, or noise, and become a cluster of their own."""

    samples: Sequence[int]

    def applied(self, model: Any, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        if not len(self.samples):
            raise ValueError("Gather names no samples; name at least one")
        for sample in (min(self.samples), max(self.samples)):
            check_integer("sample", sample, 0, len(labels) - 1)
        gathered = labels.copy()
        gathered[list(self.samples)] = labels.max(initial=NOISE) + 1
        return gathered


Edit = Merge | Split | Gather


def edited(model: Any, labels: ArrayLike, edits: Iterable[Edit]) -> NDArray[np.int64]:
    """Labels after these edits, one after the other.

    They are 0, 1, ... in the order of the densest sample of each cluster; noise stays noise.

    Parameters
    ----------
    model : fitted DensityPeaks
    labels : array of shape (n_samples,)
        A clustering of its samples, such as `model.labels_` or what `model.recut` returns.
    edits : iterable of Merge, Split and Gather

    Examples
    --------
    >>> from diffpeaks import DensityPeaks, Gather, Merge, Split, edited
    >>> model = DensityPeaks(max_link=1.5, n_neighbors=2).fit([[0.0], [1.0], [5.0], [6.0], [10.0]])
    >>> edited(model, model.labels_, [Merge((0, 2))]).tolist()
    [0, 0, 0, 0, 1]
    >>> edited(model, model.labels_, [Merge((0, 2)), Split(0)]).tolist() == model.labels_.tolist()
    True
    >>> edited(model, model.labels_, [Gather((1, 4))]).tolist()
    [1, 2, 0, 0, 2]
    """
    check_is_fitted(model, "forest_")
    labels = np.asarray(labels, np.int64)
    n_samples = len(model.density_)
    if labels.shape != (n_samples,):
        raise ValueError(f"labels have shape {labels.shape} instead of ({n_samples},), one for each sample")
    for edit in edits:
        labels = edit.applied(model, labels)
    return labels_by_peak(densest_members(labels, model.forest_.rank), model.forest_.rank)


def densest_members(labels: NDArray[np.int64], rank: NDArray[np.int32]) -> NDArray[np.int32]:
    """The densest sample of each sample's cluster; NO_POINT for noise."""
    clustered = labels != NOISE
    first = np.full(labels.max(initial=NOISE) + 1, len(rank), np.int64)
    np.minimum.at(first, labels[clustered], rank[clustered])
    order = np.empty(len(rank) + 1, np.int32)
    order[rank] = np.arange(len(rank))
    order[len(rank)] = NO_POINT  # of numbers without samples
    return np.where(clustered, order[first[labels]], NO_POINT).astype(np.int32)


def _cluster_of(sample: int, labels: NDArray[np.int64], edit: Edit) -> int:
    sample = check_integer("sample", sample, 0, len(labels) - 1)
    if labels[sample] == NOISE:
        raise ValueError(f"{edit} names sample {sample}, which is noise; name samples of clusters")
    return int(labels[sample])


def _forest_of(members: NDArray[np.int64], model: Any) -> PeakForest:
    """The forest of some samples, numbered from 0, along the links among them."""
    order = np.argsort(model.forest_.rank[members]).astype(np.int32)
    landscape = model._landscape
    links = _graph_among(members, landscape.links)
    return peak_forest(links, model.density_[members], order=order, n_threads=landscape.n_threads)


def _graph_among(members: NDArray[np.int64], graph: NeighborGraph) -> NeighborGraph:
    rows = leading(RaggedRows(graph.indptr, graph.indices, graph.distances), members, graph.degrees[members])
    place = np.full(graph.n_samples, NO_POINT, np.int32)
    place[members] = np.arange(len(members))
    keep = place[rows.indices] != NO_POINT
    indptr = offsets(keep)[rows.indptr]
    return NeighborGraph(indptr, place[rows.indices[keep]], rows.distances[keep], 1, 0.0)
