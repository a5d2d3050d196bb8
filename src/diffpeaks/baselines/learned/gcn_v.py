"""GCN-V: a network tells how sure a sample is of its neighbours, and density peaks do the rest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import nn

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.sklearn_parts import Interval, StrOptions, check_params
from diffpeaks._base.validation import n_threads
from diffpeaks.baselines.communities import by_first_sample
from diffpeaks.baselines.learned.base import CONSTRAINTS, LearnedClusterer, Real, Samples
from diffpeaks.baselines.learned.graphs import GraphNetwork, cosine_links, neighbor_means
from diffpeaks.baselines.learned.training import on_device, outputs, train
from diffpeaks.datasets.face_files import unit_rows
from diffpeaks.forest.peaks import DenserLinks, denser_neighbors, hills_of
from diffpeaks.graph import NeighborGraph

_BATCH = 512  # samples of a step
_BLOCK = 16_384  # samples that are asked for at once


class GCNV(LearnedClusterer):
    """GCN-V (Yang, Chen, Zhan, Zhao, Loy and Lin, 2020): density peaks on a confidence that is learned.

    The confidence of a sample is the mean, over its list, of the cosines to samples of its identity, less
    those to others. A network of one graph convolution is trained to tell it from the features of the
    sample and the mean of its neighbours'. A sample is then linked to the nearest in its list that has more
    confidence, if the cosine is above `min_similarity`; what is linked is a cluster.

    As published, lists and cosines of the links are those of what the convolution makes of the samples, and
    the threshold is 0.8. The network is trained by Adam on batches, in the place of 80,000 steps on the
    whole graph.

    Needs `pip install diffpeaks[learned]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    min_similarity : float
    links : {"embedding", "input"}
        Whether links are looked for among the outputs of the convolution, or among the samples as they are.
    n_hidden : int
        Width of the network.
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
        The torch module "confidence".
    losses_ : dict
        Its mean loss in the last epoch.
    links_ : DenserLinks
        Of the samples that were clustered last, each one's nearest of more confidence, and 1 - cosine.
    device_ : torch.device
    n_features_in_ : int

    Examples
    --------
    >>> from diffpeaks.baselines.learned import GCNV
    >>> from diffpeaks.datasets import make_faces
    >>> X, y = make_faces(300, 20, n_features=32, random_state=0)
    >>> X_new, y_new = make_faces(300, 20, n_features=32, random_state=1)  # of other identities
    >>> model = GCNV(n_neighbors=10, n_hidden=32, n_epochs=5, device="cpu").fit(X, y)
    >>> model.cluster(X_new).shape
    (300,)
    """

    _parameter_constraints = {
        **CONSTRAINTS,
        "min_similarity": [Interval(Real, -1, 1, closed="both")],
        "links": [StrOptions({"embedding", "input"})],
    }
    _published_files: ClassVar[dict[str, str]] = {"confidence": "pretrained_gcn_v_ms1m.pth"}

    def __init__(
        self,
        n_neighbors: int = 80,
        min_similarity: float = 0.8,
        *,
        links: str = "embedding",
        n_hidden: int = 512,
        n_epochs: int = 20,
        learning_rate: float = 1e-3,
        random_state: int = 0,
        device: str = "auto",
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_similarity = min_similarity
        self.links = links
        self.n_hidden = n_hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.device = device
        self.search = search
        self.n_jobs = n_jobs

    def _new_networks(self, n_features: int) -> dict[str, nn.Module]:
        return {"confidence": GraphNetwork((n_features, self.n_hidden), 1)}

    def _train(self, samples: Samples, y: NDArray[np.int64]) -> dict[str, float]:
        network = self.networks_["confidence"]
        wanted = true_confidence(samples.graph, y).astype(np.float32)
        x, mean = samples.X, neighbor_means(cosine_links(samples.graph), samples.X)

        def loss_of(items: NDArray[np.int64]) -> torch.Tensor:
            told = self._embedded(x[items], mean[items])
            return nn.functional.mse_loss(network.head(told)[:, 0], on_device(wanted[items], self.device_))

        n_samples, n_epochs = samples.n_samples, self.n_epochs
        return {"confidence": train(network, loss_of, n_samples, _BATCH, n_epochs, self.learning_rate)}

    def _labels(self, samples: Samples) -> NDArray[np.int64]:
        confidence, embedding = self._confidence(samples)
        graph = samples.graph
        if self.links == "embedding":
            graph = self._searched(embedding, self.n_neighbors)
        self.links_ = self._links(graph, confidence)
        return linked_labels(self.links_, self.min_similarity)

    def recut(self, min_similarity: float) -> NDArray[np.int64]:
        """Labels of the samples that were clustered last, at another threshold; no network is asked again."""
        check_is_fitted(self, "links_")
        check_params(self, min_similarity=min_similarity)
        return linked_labels(self.links_, min_similarity)

    def _links(self, graph: NeighborGraph, confidence: NDArray[np.float32]) -> DenserLinks:
        """The nearest of more confidence in each list."""
        rank = np.unique(-confidence, return_inverse=True)[1].astype(np.int32)  # equal ones have no link
        return denser_neighbors(graph, rank, n_threads(self.n_jobs))

    def _confidence(self, samples: Samples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What the network says of each sample, and the unit vectors that its convolution makes of them."""
        network = self.networks_["confidence"]
        x, mean = samples.X, neighbor_means(cosine_links(samples.graph), samples.X)

        def output_of(items: NDArray[np.int64]) -> torch.Tensor:
            told = self._embedded(x[items], mean[items])
            return torch.cat((network.head(told), told), dim=1)

        found = outputs(network, output_of, samples.n_samples, _BLOCK)
        return found[:, 0], _directions(found[:, 1:])

    def _embedded(self, x: NDArray[np.float32], mean: NDArray[np.float32]) -> torch.Tensor:
        """The convolution alone, whose neighbours' means are computed once for all batches."""
        convolution = self.networks_["confidence"].convolutions[0]
        return convolution(on_device(x, self.device_), on_device(mean, self.device_))


def _directions(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors; a row of zeros, which has no direction, gets one that is like no other row's."""
    embedding = np.ascontiguousarray(embedding)
    zero = np.flatnonzero(~embedding.any(axis=1))
    embedding[zero, zero % embedding.shape[1]] = -1  # no other value is negative
    return unit_rows(embedding)


def true_confidence(graph: NeighborGraph, y: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean cosine in each list, where those to other identities count as negative."""
    lists = graph.indices.reshape(graph.n_samples, -1)
    cosines = 1.0 - graph.distances.reshape(lists.shape)
    return np.where(y[lists] == y[:, None], cosines, -cosines).mean(axis=1)


def linked_labels(links: DenserLinks, min_similarity: float) -> NDArray[np.int64]:
    """Clusters of the links whose cosine is above a threshold."""
    is_short = links.delta < 1.0 - min_similarity
    return by_first_sample(hills_of(np.where(is_short, links.parent, np.int32(NO_POINT))))
