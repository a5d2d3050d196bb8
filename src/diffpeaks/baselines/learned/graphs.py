"""Graph code that the learned methods share: links, small graphs side by side, and graph convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks.graph import NeighborGraph, csr


def cosine_links(graph: NeighborGraph) -> sp.csr_array:
    """The cosine of each pair of which one lists the other, 1 for a sample itself; none below 0."""
    cosines = np.maximum(1.0 - graph.distances.astype(np.float32), 0)
    cosines[graph.indptr[:-1]] = 1
    return _both_ways(graph, cosines)


def nearest_links(graph: NeighborGraph, n_links: int) -> sp.csr_array:
    """1 for each pair of which one is among the `n_links` nearest others of the other."""
    near = graph.nearest(n_links + 1)
    ones = np.ones(len(near.indices), np.float32)
    ones[near.indptr[:-1]] = 0
    return _both_ways(near, ones)


def _both_ways(graph: NeighborGraph, weights: NDArray[np.float32]) -> sp.csr_array:
    links = csr(graph, weights).copy()
    links.eliminate_zeros()
    links = links.maximum(links.T).tocsr()
    links.sort_indices()
    return links


def neighbor_means(links: sp.csr_array, X: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the rows of X that each sample is linked to, by the weights of the links."""
    means = links @ X
    means /= np.maximum(links.sum(axis=1), np.finfo(np.float32).tiny)[:, None]
    return means


@dataclass(frozen=True)
class Links:
    """Links of all samples on a device, row by row."""

    indptr: Tensor
    indices: Tensor
    weights: Tensor

    @classmethod
    def of_matrix(cls, links: sp.csr_array, device: torch.device) -> Links:
        parts = (links.indptr.astype(np.int64), links.indices.astype(np.int64), links.data)
        return cls(*(torch.from_numpy(part).to(device) for part in parts))

    @property
    def n_samples(self) -> int:
        return len(self.indptr) - 1


@dataclass(frozen=True)
class Nodes:
    """Small graphs side by side: a node is a sample in one of them.

    Nodes are sorted by (graph, sample), and no graph has a sample twice.
    """

    graph: Tensor
    sample: Tensor
    n_samples: int

    @classmethod
    def of_pairs(cls, graph: Tensor, sample: Tensor, n_samples: int) -> Nodes:
        """The nodes of any pairs, in any order, where a pair may come more than once."""
        keys = torch.unique(graph * n_samples + sample)
        return cls(keys // n_samples, keys % n_samples, n_samples)

    @property
    def keys(self) -> Tensor:
        return self.graph * self.n_samples + self.sample

    def places(self, graph: Tensor, sample: Tensor) -> Tensor:
        """Where the nodes of these pairs, which must be nodes, stand."""
        return torch.searchsorted(self.keys, graph * self.n_samples + sample)

    def means(self, links: Links) -> NeighborMeans:
        """Means over the linked nodes of the same graph, by the weights of the links."""
        keys, n_nodes = self.keys, len(self.sample)
        starts = links.indptr[self.sample]
        lengths = links.indptr[self.sample + 1] - starts
        row = torch.repeat_interleave(lengths)
        before = torch.cumsum(lengths, 0) - lengths
        entries = torch.arange(len(row), device=row.device) + (starts - before)[row]
        wanted = self.graph[row] * self.n_samples + links.indices[entries]
        column = torch.searchsorted(keys, wanted).clamp(max=n_nodes - 1)
        inside = keys[column] == wanted
        row, column, weight = row[inside], column[inside], links.weights[entries[inside]]
        sizes = torch.bincount(self.graph)
        place = torch.arange(n_nodes, device=row.device) - (torch.cumsum(sizes, 0) - sizes)[self.graph]
        width = int(sizes.max())
        slots = self.graph * width + place
        matrices = torch.zeros(len(sizes) * width * width, device=row.device)
        matrices[slots[row] * width + place[column]] = weight
        matrices = matrices.view(len(sizes), width, width)
        total = matrices.sum(dim=2, keepdim=True).clamp(min=torch.finfo(matrices.dtype).tiny)
        return NeighborMeans(matrices / total, slots)


@dataclass(frozen=True)
class NeighborMeans:
    """The mean over the neighbours of each node; 0 for a node without any.

    Small graphs have a dense matrix each, padded to one size: sums of sparse products on a GPU come in any
    order, and so would differ from run to run.
    """

    matrices: Tensor  # of shape (n_graphs, width, width)
    slots: Tensor  # the row of each node, where the rows of all matrices are counted

    def __call__(self, x: Tensor) -> Tensor:
        return _Mean.apply(x, self.matrices, self.slots)


class _Mean(torch.autograd.Function):
    """Nodes are copied into the rows of their matrices and back, so that neither way adds anything up."""

    @staticmethod
    def forward(context: Any, x: Tensor, matrices: Tensor, slots: Tensor) -> Tensor:
        context.save_for_backward(matrices, slots)
        return _product(matrices, slots, x)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        matrices, slots = context.saved_tensors
        return _product(matrices.transpose(1, 2), slots, gradients[0]), None, None


def _product(matrices: Tensor, slots: Tensor, x: Tensor) -> Tensor:
    n_graphs, width, _ = matrices.shape
    padded = x.new_zeros(n_graphs * width, x.shape[1]).index_copy_(0, slots, x)
    return (matrices @ padded.view(n_graphs, width, -1)).flatten(0, 1)[slots]


class GraphConvolution(nn.Module):
    """max(0, [x, mean] W + b): a node's own features beside the mean of its neighbours'.

    Without `own` it is max(0, mean W).
    """

    def __init__(self, n_in: int, n_out: int, own: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2 * n_in if own else n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out)) if own else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor, mean: Tensor) -> Tensor:
        if self.bias is None:
            return torch.relu(mean @ self.weight)
        return torch.relu(torch.cat((x, mean), dim=1) @ self.weight + self.bias)


class GraphNetwork(nn.Module):
    """Graph convolutions of the given widths, and two linear layers with a PReLU between them.

    With `normalized` the features are first brought to mean 0 and variance 1 over a batch.
    """

    def __init__(self, widths: tuple[int, ...], n_outputs: int, normalized: bool = False) -> None:
        super().__init__()
        self.normalization = nn.BatchNorm1d(widths[0], affine=False) if normalized else nn.Identity()
        self.convolutions = nn.ModuleList(GraphConvolution(*pair) for pair in pairwise(widths))
        last = widths[-1]
        self.head = nn.Sequential(nn.Linear(last, last), nn.PReLU(last), nn.Linear(last, n_outputs))

    def forward(self, x: Tensor, means: NeighborMeans, asked: Tensor) -> Tensor:
        """The outputs of the nodes that are asked for."""
        x = self.normalization(x)
        for convolution in self.convolutions:
            x = convolution(x, means(x))
        return self.head(x[asked])
