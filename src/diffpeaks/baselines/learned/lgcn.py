"""L-GCN: around each sample a network tells which of its neighbours are of the same identity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks._base.sklearn_parts import Interval
from diffpeaks.baselines.learned.base import CONSTRAINTS, COUNT, LearnedClusterer, Real, Samples
from diffpeaks.baselines.learned.graphs import GraphNetwork, Links, Nodes, nearest_links
from diffpeaks.baselines.learned.training import on_device, outputs, train
from diffpeaks.baselines.propagation import bounded_components
from diffpeaks.cuts.linking import component_labels
from diffpeaks.graph import NeighborGraph, csr

_BATCH = 32  # samples of a step
_ASKED = 64  # samples that are asked for at once
_LEAST = np.finfo(np.float32).tiny  # a chance of 0 would be no entry of a sparse matrix


class LGCN(LearnedClusterer):
    """L-GCN (Wang, Zheng, Li and Wang, 2019): links that are learned on the graph around each sample.

    The nodes of the graph around a sample are itself, its neighbours, and the `n_second` nearest of each of
    these; two nodes are linked where one is among the `n_links` nearest of the other. A node has the
    difference of its features to those of the sample in the middle. A network of four graph convolutions
    tells for each neighbour of that sample how likely both are of one identity.

    The chances of a pair from both sides are averaged. What is linked at all is a component; one of more
    than `max_size` samples is cut again along likelier links: 1 - chance falls by the factor 1 - `step` each
    time.

    The network is trained by Adam; published are 4 epochs of gradient descent, with 200 neighbours.

    Needs `pip install diffpeaks[learned]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    n_second, n_links : int
        At most `n_neighbors` - 1.
    max_size : int
    step : float
    n_hidden : int
        Width of the first two convolutions; the others have half of it.
    n_epochs : int
    learning_rate : float
    random_state : int
        The same seed gives the same network and labels, on one kind of device and number of threads.
    device : {"auto", "cpu", "cuda"}
        Where networks run; "auto" takes a GPU where there is one.
    search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    networks_ : dict
        The torch module "linkage".
    losses_ : dict
        Its mean loss in the last epoch.
    device_ : torch.device
    n_features_in_ : int
    """

    _parameter_constraints = {
        **CONSTRAINTS,
        "n_second": COUNT,
        "n_links": COUNT,
        "max_size": COUNT,
        "step": [Interval(Real, 0, 1, closed="neither")],
    }
    _published_files: ClassVar[dict[str, str]] = {"linkage": "pretrained_lgcn_ms1m.pth"}

    def __init__(
        self,
        n_neighbors: int = 80,
        n_second: int = 10,
        n_links: int = 10,
        max_size: int = 300,
        step: float = 0.6,
        *,
        n_hidden: int = 512,
        n_epochs: int = 4,
        learning_rate: float = 1e-3,
        random_state: int = 0,
        device: str = "auto",
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_second = n_second
        self.n_links = n_links
        self.max_size = max_size
        self.step = step
        self.n_hidden = n_hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.device = device
        self.search = search
        self.n_jobs = n_jobs

    def _new_networks(self, n_features: int) -> dict[str, nn.Module]:
        width, half = self.n_hidden, self.n_hidden // 2
        return {"linkage": GraphNetwork((n_features, width, width, half, half), 2, normalized=True)}

    def _train(self, samples: Samples, y: NDArray[np.int64]) -> dict[str, float]:
        around = _Around(samples, self)

        def loss_of(items: NDArray[np.int64]) -> Tensor:
            same = y[samples.lists[items, 1:]] == y[items][:, None]
            told = around.asked(self.networks_["linkage"], items)
            return nn.functional.cross_entropy(told, on_device(same.ravel().astype(np.int64), self.device_))

        n_samples, n_epochs = samples.n_samples, self.n_epochs
        loss = train(self.networks_["linkage"], loss_of, n_samples, _BATCH, n_epochs, self.learning_rate)
        return {"linkage": loss}

    def _labels(self, samples: Samples) -> NDArray[np.int64]:
        network, around = self.networks_["linkage"], _Around(samples, self)

        def output_of(items: NDArray[np.int64]) -> Tensor:
            return torch.softmax(around.asked(network, items), dim=1)[:, 1]

        chances = outputs(network, output_of, samples.n_samples, _ASKED).reshape(samples.n_samples, -1)
        own = np.ones((samples.n_samples, 1), np.float32)
        lengths = 1 - mean_of_both(samples.graph, np.hstack((own, chances)).ravel())
        every_link = float(np.nextafter(lengths.max(), np.inf))
        found, _ = bounded_components(samples.graph, lengths, every_link, self.max_size, self.step)
        return component_labels(found)


class _Around:
    """The graphs around samples, made when they are asked for."""

    def __init__(self, samples: Samples, model: LGCN) -> None:
        for name in ("n_second", "n_links"):
            if getattr(model, name) >= model.n_neighbors:
                raise ValueError(
                    f"{name}={getattr(model, name)} must be at most n_neighbors - 1 = {model.n_neighbors - 1}"
                )
        device = model.device_
        self._n_second = model.n_second
        self._features = on_device(samples.X, device)
        self._lists = on_device(samples.lists.astype(np.int64), device)
        self._links = Links.of_matrix(nearest_links(samples.graph, model.n_links), device)

    def asked(self, network: nn.Module, items: NDArray[np.int64]) -> Tensor:
        """Two logits for each neighbour of each sample, in the order of the lists."""
        pivots = on_device(items, self._features.device)
        first = self._lists[pivots, 1:]
        second = self._lists[first, 1 : self._n_second + 1].flatten(1)
        members = torch.cat((pivots[:, None], first, second), dim=1)
        graph = torch.arange(len(pivots), device=pivots.device)[:, None]
        nodes = Nodes.of_pairs(graph, members, self._links.n_samples)
        x = self._features[nodes.sample] - self._features[pivots[nodes.graph]]
        return network(x, nodes.means(self._links), nodes.places(graph, first).flatten())


def mean_of_both(graph: NeighborGraph, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each entry of the graph its value, or the mean of the two where both samples list each other."""
    means, counts = (
        _sum_of_both(csr(graph, part)) for part in (np.maximum(values, _LEAST), np.ones_like(values))
    )
    means.data /= counts.data  # of the same pairs, in the same order
    owners = np.repeat(np.arange(graph.n_samples), graph.degrees)
    return np.asarray(means[owners, graph.indices]).ravel()


def _sum_of_both(values: sp.csr_array) -> sp.csr_array:
    both = values.copy()
    both.sort_indices()
    both = (both + both.T).tocsr()
    both.sort_indices()
    return both
