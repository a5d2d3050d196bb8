"""LTC: clusters are proposed by propagation, rated by a network, and cleaned by another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks._base.sklearn_parts import Interval
from diffpeaks.baselines.learned.base import CONSTRAINTS, COUNT, SHARE, LearnedClusterer, Real, Samples
from diffpeaks.baselines.learned.graphs import GraphConvolution, Links, NeighborMeans, Nodes, cosine_links
from diffpeaks.baselines.learned.training import on_device, outputs, train
from diffpeaks.baselines.propagation import CDP

_BATCH = 32  # proposals of a step
_MEMBER = 0.5  # a sample is of the seed's identity from this chance on
_STEP = 0.05  # of the thresholds by which a proposal that is too large is cut
_LAST = 64  # width of the second convolution


class LTC(LearnedClusterer):
    """LTC (Yang, Zhan, Chen, Yan, Loy and Lin, 2019): proposals that are detected and segmented.

    `CDP` at several thresholds proposes clusters, each a graph of its samples linked as they list each
    other. GCN-D, two graph convolutions and the maximum over the samples, tells of a proposal its IoU, the
    samples that it shares with its most frequent identity among all samples of either, and, by another
    network, its IoP, the share of its samples that are of that identity. GCN-S cleans proposals of medium
    IoP: given a sample as a seed it tells which others are of the same identity. Several seeds are tried,
    and the one that keeps most samples counts. From the highest IoU on, proposals take their samples, unless
    one before has taken them; a sample that none takes is a cluster of its own.

    As published are the widths, the sizes of proposals and their thresholds; all lists have one length here,
    and proposals of proposals are left out. Networks are trained by Adam, without dropout.

    Needs `pip install diffpeaks[learned]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    thresholds : tuple of float
        Cosines from which `CDP` proposes clusters.
    min_size, max_size : int
        Of a proposal.
    min_purity, max_purity : float in [0, 1]
        IoP of the proposals that are cleaned, and on which GCN-S is trained; on all, where none has it.
    n_seeds : int
    n_hidden : int
        Width of the first convolution.
    n_epochs : int
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
        The torch modules "iou", "iop" and "members".
    losses_ : dict
        Their mean losses in the last epoch.
    device_ : torch.device
    n_features_in_ : int
    """

    _parameter_constraints = {
        **CONSTRAINTS,
        "thresholds": [tuple],
        "min_size": [Interval(Real, 2, None, closed="left")],
        "max_size": COUNT,
        "min_purity": SHARE,
        "max_purity": SHARE,
        "n_seeds": COUNT,
    }
    _published_files: ClassVar[dict[str, str]] = {
        "iou": "pretrained_gcn_d_ms1m.pth",
        "iop": "pretrained_gcn_d_iop_ms1m.pth",
        "members": "pretrained_gcn_s_ms1m.pth",
    }

    def __init__(
        self,
        n_neighbors: int = 80,
        thresholds: tuple[float, ...] = (0.6, 0.65, 0.7, 0.75),
        min_size: int = 3,
        max_size: int = 300,
        min_purity: float = 0.2,
        max_purity: float = 0.8,
        n_seeds: int = 3,
        *,
        n_hidden: int = 512,
        n_epochs: int = 30,
        learning_rate: float = 1e-3,
        random_state: int = 0,
        device: str = "auto",
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.thresholds = thresholds
        self.min_size = min_size
        self.max_size = max_size
        self.min_purity = min_purity
        self.max_purity = max_purity
        self.n_seeds = n_seeds
        self.n_hidden = n_hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.device = device
        self.search = search
        self.n_jobs = n_jobs

    def _new_networks(self, n_features: int) -> dict[str, nn.Module]:
        widths = self.n_hidden, min(_LAST, self.n_hidden)
        return {
            "iou": ProposalNetwork(n_features, widths, 1),
            "iop": ProposalNetwork(n_features, widths, 1),
            "members": ProposalNetwork(n_features + 1, widths, 2),
        }

    def _train(self, samples: Samples, y: NDArray[np.int64]) -> dict[str, float]:
        proposals = self._proposals(samples)
        if not proposals.n:
            raise ValueError(
                f"thresholds={self.thresholds} propose no cluster of {self.min_size} samples or more; use "
                "lower ones"
            )
        ratings = dict(zip(("iou", "iop"), proposals.true_ratings(y), strict=True))
        losses = {name: self._rated(name, proposals, wanted) for name, wanted in ratings.items()}
        medium = np.flatnonzero(self._is_medium(ratings["iop"]))
        taught = medium if len(medium) else np.arange(proposals.n)  # so that it keeps all of a pure one
        return {**losses, "members": self._segmented(proposals, taught, y)}

    def _rated(self, name: str, proposals: Proposals, wanted: NDArray[np.float64]) -> float:
        """Train GCN-D on the ratings of proposals."""
        network = self.networks_[name]

        def loss_of(items: NDArray[np.int64]) -> Tensor:
            told = proposals.rated(network, items)
            return nn.functional.mse_loss(told, on_device(wanted[items].astype(np.float32), self.device_))

        return train(network, loss_of, proposals.n, _BATCH, self.n_epochs, self.learning_rate)

    def _segmented(self, proposals: Proposals, taught: NDArray[np.int64], y: NDArray[np.int64]) -> float:
        """Train GCN-S on some proposals, each time from a seed drawn at random."""
        network = self.networks_["members"]

        def loss_of(items: NDArray[np.int64]) -> Tensor:
            chosen = taught[items]
            seeds = proposals.drawn(chosen)
            nodes, told = proposals.segmented(network, chosen, seeds)
            same = y[nodes.sample.cpu().numpy()] == y[seeds][nodes.graph.cpu().numpy()]
            return nn.functional.cross_entropy(told, on_device(same.astype(np.int64), self.device_))

        return train(network, loss_of, len(taught), _BATCH, self.n_epochs, self.learning_rate)

    def _labels(self, samples: Samples) -> NDArray[np.int64]:
        proposals = self._proposals(samples)
        if not proposals.n:
            return np.arange(samples.n_samples)
        iou, iop = (
            outputs(self.networks_[name], self._rating_of(name, proposals), proposals.n, _BATCH)
            for name in ("iou", "iop")
        )
        kept = self._cleaned(proposals, np.flatnonzero(self._is_medium(iop)))
        return without_overlap(proposals.members, kept, iou, samples.n_samples)

    def _rating_of(self, name: str, proposals: Proposals) -> Any:
        return lambda items: proposals.rated(self.networks_[name], items)

    def _is_medium(self, iop: NDArray[Any]) -> NDArray[np.bool_]:
        return (iop >= self.min_purity) & (iop <= self.max_purity)

    def _cleaned(self, proposals: Proposals, medium: NDArray[np.int64]) -> dict[int, NDArray[np.bool_]]:
        """Which samples GCN-S keeps of some proposals."""
        network, kept = self.networks_["members"], dict[int, NDArray[np.bool_]]()
        for items in np.array_split(medium, -(-len(medium) // _BATCH)) if len(medium) else []:
            for _ in range(self.n_seeds):
                with torch.no_grad():
                    nodes, told = proposals.segmented(network, items, proposals.drawn(items))
                is_member = (torch.softmax(told, dim=1)[:, 1] >= _MEMBER).cpu().numpy()
                of = nodes.graph.cpu().numpy()
                for number, item in enumerate(items.tolist()):
                    found = is_member[of == number]
                    if item not in kept or found.sum() > kept[item].sum():
                        kept[item] = found
        return kept

    def _proposals(self, samples: Samples) -> Proposals:
        """Clusters of the propagation at every threshold, of some size, each set of samples once."""
        found: dict[bytes, NDArray[np.int64]] = {}
        for threshold in self.thresholds:
            model = CDP(self.n_neighbors, threshold, self.max_size, _STEP, metric="precomputed")
            labels = model.fit_predict(samples.graph)
            order = np.argsort(labels, kind="stable")
            for members in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
                if self.min_size <= len(members) <= self.max_size:
                    found[members.tobytes()] = members
        links = Links.of_matrix(cosine_links(samples.graph), self.device_)
        return Proposals(list(found.values()), on_device(samples.X, self.device_), links)


class ProposalNetwork(nn.Module):
    """Graph convolutions of the neighbours' means alone, and a linear layer."""

    def __init__(self, n_features: int, widths: tuple[int, ...], n_outputs: int) -> None:
        super().__init__()
        pairs = pairwise((n_features, *widths))
        self.convolutions = nn.ModuleList(GraphConvolution(*pair, own=False) for pair in pairs)
        self.head = nn.Linear(widths[-1], n_outputs)

    def forward(self, x: Tensor, means: NeighborMeans) -> Tensor:
        """What the convolutions make of each node."""
        for convolution in self.convolutions:
            x = convolution(x, means(x))
        return x


@dataclass(frozen=True)
class Proposals:
    """Sets of samples, each sorted, and what they are made of."""

    members: list[NDArray[np.int64]]
    features: Tensor
    links: Links

    @property
    def n(self) -> int:
        return len(self.members)

    def nodes(self, items: NDArray[np.int64]) -> Nodes:
        device = self.features.device
        graph = np.repeat(np.arange(len(items)), [len(self.members[item]) for item in items])
        sample = np.concatenate([self.members[item] for item in items])
        return Nodes(on_device(graph, device), on_device(sample, device), self.links.n_samples)

    def rated(self, network: ProposalNetwork, items: NDArray[np.int64]) -> Tensor:
        """One number for each proposal."""
        nodes = self.nodes(items)
        x = network(self.features[nodes.sample], nodes.means(self.links))
        parts = torch.split(x, [len(self.members[item]) for item in items])
        return network.head(torch.stack([part.amax(dim=0) for part in parts]))[:, 0]

    def segmented(
        self, network: ProposalNetwork, items: NDArray[np.int64], seeds: NDArray[np.int64]
    ) -> tuple[Nodes, Tensor]:
        """Two logits for each sample of each proposal, given one of its samples."""
        nodes = self.nodes(items)
        is_seed = nodes.sample == on_device(seeds, self.features.device)[nodes.graph]
        x = torch.cat((self.features[nodes.sample], is_seed[:, None].float()), dim=1)
        return nodes, network.head(network(x, nodes.means(self.links)))

    def drawn(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """A sample of each proposal, at random by torch's seed."""
        chances = torch.rand(len(items)).numpy()
        return np.array(
            [
                self.members[item][int(chance * len(self.members[item]))]
                for item, chance in zip(items, chances, strict=True)
            ]
        )

    def true_ratings(self, y: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """IoU and IoP of each proposal with its most frequent identity; of equal ones the first."""
        sizes = np.bincount(y)
        iou, iop = np.empty(self.n), np.empty(self.n)
        for item, members in enumerate(self.members):
            found, counts = np.unique(y[members], return_counts=True)
            most = int(counts.argmax())
            shared = counts[most]
            iou[item] = shared / (len(members) + sizes[found[most]] - shared)
            iop[item] = shared / len(members)
        return iou, iop


def without_overlap(
    members: list[NDArray[np.int64]],
    kept: dict[int, NDArray[np.bool_]],
    iou: NDArray[Any],
    n_samples: int,
) -> NDArray[np.int64]:
    """Labels: from the highest IoU on each proposal takes its samples, unless they are taken."""
    owner = np.arange(n_samples)  # the first sample of its cluster
    is_free = np.ones(n_samples, bool)
    for item in np.argsort(-iou, kind="stable").tolist():
        proposed = members[item][kept[item]] if item in kept else members[item]
        proposed = proposed[is_free[proposed]]
        if len(proposed):
            owner[proposed] = proposed[0]
            is_free[proposed] = False
    return np.unique(owner, return_inverse=True)[1].astype(np.int64)
