"""How surely a sample belongs to its cluster: where one step of the random walk leads.

From a sample the walk goes to a member of its row, itself included, with a chance that falls with the
distance: the Gaussian kernel, as wide as the row reaches, whatever density was clustered. The share of a
cluster is the chance to arrive in it; arrivals in noise are not counted.

Labels follow links to denser samples and not the majority of all neighbours, so that the walk may prefer
another cluster than the label. The share of the label is then raised to that of the rival, and a hair
above it, before the shares are made to sum to one: such a sample has a probability of about a half or less.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.density.walk import local_bandwidth, weight_blocks
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import offsets
from diffpeaks.progress import stage

LEAD_OF_THE_LABEL = 2.0**-20  # relative; more than rounding takes away, in single precision too


def memberships(graph: NeighborGraph, labels: NDArray[np.int64], n_clusters: int, top: int) -> sp.csr_array:
    """The `top` largest shares of each sample, made to sum to one; rows of noise are empty."""
    lengths, indices, data = [], [], []
    for _, shares in cluster_shares(graph, labels, n_clusters):
        owners = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
        largest_first = np.lexsort((shares.indices, -shares.data, owners))
        place = np.arange(shares.nnz) - shares.indptr[owners]
        kept = largest_first[place < top]
        total = np.bincount(owners[kept], shares.data[kept], minlength=shares.shape[0])
        lengths.append(np.minimum(np.diff(shares.indptr), top))
        indices.append(shares.indices[kept])
        data.append(shares.data[kept] / total[owners[kept]])
    entries = (np.concatenate(data), np.concatenate(indices), offsets(np.concatenate(lengths)))
    found = sp.csr_array(entries, (graph.n_samples, n_clusters))
    found.sort_indices()
    return found


@stage("probabilities")
def probabilities(graph: NeighborGraph, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.float64]:
    """The share of each sample's own cluster, of all shares; zero for noise."""
    own = np.zeros(graph.n_samples)
    for rows, shares in cluster_shares(graph, labels, n_clusters):
        owners = np.repeat(np.arange(rows.start, rows.stop), np.diff(shares.indptr))
        is_own = shares.indices == labels[owners]
        own[owners[is_own]] = shares.data[is_own]
    return own


def cluster_shares(
    graph: NeighborGraph, labels: NDArray[np.int64], n_clusters: int
) -> Iterator[tuple[slice, sp.csr_array]]:
    """Blocks of rows and their share in every cluster that they reach, the label's the largest."""
    for rows, entries, owners, weights in weight_blocks(graph, "gaussian", local_bandwidth(graph)):
        arrived = labels[graph.indices[entries]]
        counts = (arrived != NOISE) & (labels[owners] != NOISE)
        places = (owners[counts] - rows.start, arrived[counts])
        shares = sp.coo_array((weights[counts], places), (rows.stop - rows.start, n_clusters)).tocsr()
        yield rows, _led_by_the_label(shares, labels[rows])


def _led_by_the_label(shares: sp.csr_array, labels: NDArray[np.int64]) -> sp.csr_array:
    """Shares that sum to one in each row, after the label's was raised above any other."""
    owners = np.repeat(np.arange(len(labels)), np.diff(shares.indptr))
    own = shares.indices == labels[owners]
    rival = np.zeros(len(labels))
    np.maximum.at(rival, owners[~own], shares.data[~own])
    shares.data[own] = np.maximum(shares.data[own], (1 + LEAD_OF_THE_LABEL) * rival[owners[own]])
    shares.data /= np.bincount(owners, shares.data, minlength=len(labels))[owners]
    return shares


def outlier_scores(graph: NeighborGraph, density: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far a density falls below that around it: 1 - density / mean density of the neighbours.

    The mean is weighted as the walk goes, without the sample itself. A score is 0 where the sample is as
    dense as its neighbours or denser, and 1 where it has none.
    """
    around, total = np.empty(graph.n_samples), np.empty(graph.n_samples)
    for rows, entries, owners, weights in weight_blocks(graph, "gaussian", local_bandwidth(graph)):
        weights[graph.indptr[rows] - entries.start] = 0  # rows begin with the sample itself
        places, n_rows = owners - rows.start, rows.stop - rows.start
        total[rows] = np.bincount(places, weights, n_rows)
        around[rows] = np.bincount(places, weights * density[graph.indices[entries]], n_rows)
    # density / (around / total), where a product cannot divide by zero
    ratio = np.divide(density * total, around, out=np.ones(graph.n_samples), where=around > 0)
    return np.where(total > 0, np.clip(1 - ratio, 0, 1), 1.0)
