"""Noise: which samples belong to no cluster, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT, NOISE
from diffpeaks._native import follow_links, mark_border
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet

NOISE_ACTIONS = {"keep", "assign", "singletons"}


@dataclass(frozen=True)
class NoisePolicy:
    """Which samples are noise, and what becomes of them.

    Attributes
    ----------
    halo : bool
        Samples below the densest border sample of their cluster are noise.
    min_cluster_size : int
        Samples of clusters with fewer samples, halo included, are noise.
    noise : {"keep", "assign", "singletons"}
        Noise keeps the label NOISE, joins the cluster that its links to denser samples lead to, or makes
        clusters of one sample.
    """

    halo: bool = False
    min_cluster_size: int = 1
    noise: str = "keep"


class Noise(NamedTuple):
    """Samples of clusters that are too small, and those of the halo."""

    small: NDArray[np.bool_]
    halo: NDArray[np.bool_]

    @property
    def samples(self) -> NDArray[np.bool_]:
        return self.small | self.halo


class Clusters(NamedTuple):
    """A label for each sample, and the peak of each label."""

    labels: NDArray[np.int64]
    peaks: NDArray[np.int64]


def noise_in(labels: NDArray[np.int64], cores: NDArray[np.int64], min_cluster_size: int) -> Noise:
    """Which samples are noise: those of small clusters, and the halo, noise in `cores`."""
    small = (np.bincount(labels) < min_cluster_size)[labels]
    return Noise(small, cores == NOISE)


def resolved_noise(
    clusters: Clusters,
    is_noise: NDArray[np.bool_],
    action: str,
    rank: NDArray[np.int32],
    links: NDArray[np.int32] | None,
) -> Clusters:
    """The clusters whose peak is not noise, in the same order, after the action on noise.

    Singletons come after the clusters, in the order of density. Assigned noise follows the links out of it.
    """
    remain = ~is_noise[clusters.peaks]
    number = np.cumsum(remain) - 1
    labels, peaks = np.where(is_noise, NOISE, number[clusters.labels]), clusters.peaks[remain]
    if action == "singletons":
        alone = np.flatnonzero(is_noise)
        alone = alone[np.argsort(rank[alone])]
        labels[alone] = len(peaks) + np.arange(len(alone))
        peaks = np.concatenate([peaks, alone])
    elif links is not None:
        ends = np.empty_like(links)
        follow_links(links, ends)
        labels = labels[ends]
    return Clusters(labels, peaks)


def links_out_of_noise(
    is_noise: NDArray[np.bool_], complete: PeakForest, points: PointSet | GivenGraph, n_neighbors: int
) -> NDArray[np.int32]:
    """Links from noise to the nearest denser sample, at any distance; samples of clusters link to themselves.

    The densest sample of all has no denser one. If it is noise, it links to the nearest sample of a cluster.
    """
    samples = np.arange(len(is_noise), dtype=np.int32)
    links = np.where(is_noise, complete.parent, samples)
    stranded = np.flatnonzero(links == NO_POINT)
    if len(stranded):
        if is_noise.all():
            raise ValueError(
                "noise='assign' finds no cluster to assign to, because every cluster has fewer than "
                "min_cluster_size samples; lower min_cluster_size, or use noise='keep'"
            )
        behind = is_noise.astype(np.int32)  # samples of clusters count as denser than all noise
        links[stranded] = points.nearest_denser(stranded, behind, n_neighbors)[0]
    if np.any(links == NO_POINT):
        raise ValueError(
            f"noise='assign' finds no cluster for sample {stranded[0]}: it is the densest of all, its "
            "cluster is too small, and a precomputed graph does not tell which other is near; lower "
            "min_cluster_size, or fit on points or a dense matrix of distances"
        )
    return links


def without_halo(
    labels: NDArray[np.int64],
    graph: NeighborGraph,
    density: NDArray[np.float64],
    max_link: float = np.inf,
) -> NDArray[np.int64]:
    """Labels with NOISE for samples less dense than the densest border sample of their cluster."""
    return np.where(density < border_density(labels, graph, density, max_link)[labels], NOISE, labels)


def border_density(
    labels: NDArray[np.int64],
    graph: NeighborGraph,
    density: NDArray[np.float64],
    max_link: float = np.inf,
) -> NDArray[np.float64]:
    """The density of the densest border sample of each cluster; minus infinity without one.

    A border sample has a neighbour in another cluster, in either direction and nearer than `max_link`.
    """
    border = np.zeros(len(labels), bool)
    mark_border(graph, float(max_link), labels.astype(np.int32), border)
    highest_border = np.full(labels.max() + 1, -np.inf)
    np.maximum.at(highest_border, labels[border], density[border])
    return highest_border
