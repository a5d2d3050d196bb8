"""GCN-V+E: for the most confident samples another network chooses among the neighbours of more confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks.baselines.learned.base import COUNT, SHARE, Samples
from diffpeaks.baselines.learned.gcn_v import GCNV, linked_labels
from diffpeaks.baselines.learned.graphs import GraphNetwork, Links, Nodes, cosine_links
from diffpeaks.baselines.learned.training import on_device, outputs, train
from diffpeaks.forest.peaks import DenserLinks
from diffpeaks.graph import NeighborGraph

_BATCH = 32  # samples of a step


class GCNVE(GCNV):
    """GCN-V+E (Yang, Chen, Zhan, Zhao, Loy and Lin, 2020): GCN-V, and a network that chooses some links.

    Where the nearest of more confidence is another identity, GCN-V joins two clusters. Most of these
    mistakes are made by the most confident samples. For a share of them, each with all neighbours of more
    confidence as the nodes of a graph, a second network of four graph convolutions tells which are of the
    same identity, and the likeliest is linked. All else is as in `GCNV`.

    Needs `pip install diffpeaks[learned]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists that confidence is told from, the sample itself counted.
    min_similarity : float
        Links of a lower cosine, after the convolution of the first network, are cut.
    n_candidates : int
        Length of the lists, after that convolution, in which links are looked for.
    share : float in [0, 1]
        The second network chooses the links of that share of the samples.
    train_share : float in [0, 1]
        The same while it is trained.
    n_hidden : int
        Width of the networks.
    n_epochs, n_link_epochs : int
        Of the first network and of the second.
    learning_rate : float
    random_state : int
        The same seed gives the same networks and labels, on one kind of device and number of threads.
    device : {"auto", "cpu", "cuda"}
        Where networks run; "auto" takes a GPU where there is one.
    search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    networks_ : dict
        The torch modules "confidence" and "connectivity".
    losses_ : dict
        Their mean losses in the last epochs.
    links_ : DenserLinks
        Of the samples that were clustered last, the link of each, and 1 - cosine.
    device_ : torch.device
    n_features_in_ : int
    """

    _parameter_constraints = {
        **{name: rule for name, rule in GCNV._parameter_constraints.items() if name != "links"},
        "n_candidates": COUNT,
        "share": SHARE,
        "train_share": SHARE,
        "n_link_epochs": COUNT,
    }
    _published_files: ClassVar[dict[str, str]] = {
        "confidence": "pretrained_gcn_v_ms1m.pth",
        "connectivity": "pretrained_gcn_e_ms1m.pth",
    }

    def __init__(
        self,
        n_neighbors: int = 80,
        min_similarity: float = 0.8,
        *,
        n_candidates: int = 160,
        share: float = 0.2,
        train_share: float = 0.3,
        n_hidden: int = 512,
        n_epochs: int = 20,
        n_link_epochs: int = 4,
        learning_rate: float = 1e-3,
        random_state: int = 0,
        device: str = "auto",
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors,
            min_similarity,
            n_hidden=n_hidden,
            n_epochs=n_epochs,
            learning_rate=learning_rate,
            random_state=random_state,
            device=device,
            search=search,
            n_jobs=n_jobs,
        )
        self.n_candidates = n_candidates
        self.share = share
        self.train_share = train_share
        self.n_link_epochs = n_link_epochs

    def _new_networks(self, n_features: int) -> dict[str, nn.Module]:
        width, half = self.n_hidden, self.n_hidden // 2
        return {
            **super()._new_networks(n_features),
            "connectivity": GraphNetwork((width, width, width, half, half), 2),
        }

    def _train(self, samples: Samples, y: NDArray[np.int64]) -> dict[str, float]:
        losses = super()._train(samples, y)
        confidence, embedding = self._confidence(samples)
        candidates = self._candidates(embedding, confidence, self.train_share)
        network = self.networks_["connectivity"]

        def loss_of(items: NDArray[np.int64]) -> Tensor:
            pivots, nodes, told = candidates.asked(network, items)
            same = y[pivots] == y[nodes]
            return nn.functional.cross_entropy(told, on_device(same.astype(np.int64), self.device_))

        n_items, n_epochs = len(candidates.pivots), self.n_link_epochs
        if not n_items:
            raise ValueError(
                f"none of the {samples.n_samples} samples has two candidates with "
                f"n_candidates={self.n_candidates} and train_share={self.train_share}; use more of either"
            )
        return {
            **losses,
            "connectivity": train(network, loss_of, n_items, _BATCH, n_epochs, self.learning_rate),
        }

    def _labels(self, samples: Samples) -> NDArray[np.int64]:
        confidence, embedding = self._confidence(samples)
        candidates = self._candidates(embedding, confidence, self.share)
        links = self._links(candidates.graph, confidence)
        if len(candidates.pivots):
            links = candidates.chosen(self.networks_["connectivity"], links)
        self.links_ = links
        return linked_labels(links, self.min_similarity)

    def _candidates(
        self, embedding: NDArray[np.float32], confidence: NDArray[np.float32], share: float
    ) -> Candidates:
        """Neighbours of more confidence, two at least, for the share of the samples that have most."""
        graph = self._searched(embedding, self.n_candidates)
        lists = graph.indices.reshape(graph.n_samples, -1)
        n_pivots = round(share * graph.n_samples)
        pivots = np.sort(np.argsort(-confidence, kind="stable")[:n_pivots])
        higher = confidence[lists[pivots]] > confidence[pivots][:, None]
        several = higher.sum(axis=1) >= 2
        links = Links.of_matrix(cosine_links(graph), self.device_)
        return Candidates(graph, pivots[several], higher[several], on_device(embedding, self.device_), links)


@dataclass(frozen=True)
class Candidates:
    """For some samples, the pivots, the members of their lists that they may be linked to."""

    graph: NeighborGraph
    pivots: NDArray[np.int64]
    taken: NDArray[np.bool_]  # of each pivot, which members of its list
    features: Tensor
    links: Links

    def asked(
        self, network: nn.Module, items: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Tensor]:
        """For each candidate of some pivots, by pivot and nearness: the pivot, itself, and two logits."""
        row, rank = np.nonzero(self.taken[items])
        pivot = self.pivots[items][row]
        sample = self.graph.indices.reshape(self.graph.n_samples, -1)[pivot, rank].astype(np.int64)
        device = self.features.device
        of, member = on_device(row, device), on_device(sample, device)
        nodes = Nodes.of_pairs(of, member, self.graph.n_samples)
        x = self.features[nodes.sample] - self.features[on_device(self.pivots[items], device)[nodes.graph]]
        return pivot, sample, network(x, nodes.means(self.links), nodes.places(of, member))

    def chosen(self, network: nn.Module, links: DenserLinks) -> DenserLinks:
        """Links, in which those of the pivots go to the likeliest candidate; of equal ones to the nearest."""

        def output_of(items: NDArray[np.int64]) -> Tensor:
            return torch.log_softmax(self.asked(network, items)[2], dim=1)[:, 1]

        likely = np.full(self.taken.shape, -np.inf)
        likely[self.taken] = outputs(network, output_of, len(self.pivots), _BATCH)
        best = likely.argmax(axis=1)
        entries = self.graph.indptr[self.pivots] + best
        parent, delta = links.parent.copy(), links.delta.copy()
        parent[self.pivots], delta[self.pivots] = self.graph.indices[entries], self.graph.distances[entries]
        return DenserLinks(parent, delta)
