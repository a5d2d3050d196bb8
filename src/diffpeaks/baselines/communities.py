"""Communities of the neighbour graph: Infomap and Leiden, by their authors' libraries."""

from __future__ import annotations

import importlib
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks.baselines.base import GraphClusterer, check_cosines
from diffpeaks.cuts.linking import component_labels
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.graph import NeighborGraph, csr

SEED: list[Any] = [Interval(Integral, 0, 2**31 - 2, closed="both")]  # of Infomap and Leiden
N_TRIALS: list[Any] = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    "n_neighbors": N_NEIGHBORS,
    "max_distance": [Interval(Real, 0, None, closed="right")],
    "weights": [StrOptions({"auto", "uniform", "cosine"})],
    "random_state": SEED,
    **SEARCH_CONSTRAINTS,
}
_COSINES = ("cosine", "inner_product")


class _Communities(GraphClusterer):
    """Links of the graph with their weights; a subclass finds the communities."""

    max_distance: float
    weights: str

    def _check(self) -> None:
        if self.weights == "cosine" and self.metric not in (*_COSINES, "precomputed"):
            raise ValueError(
                f"weights='cosine' is 1 - distance, which is no cosine with metric={self.metric!r}; use "
                "metric='cosine', or weights='uniform'"
            )

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        self.weights_ = self.weights
        if self.weights == "auto":
            self.weights_ = "cosine" if self.metric in _COSINES else "uniform"
        if self.weights_ == "cosine":
            check_cosines(graph)
        links = _links(graph.up_to(self.max_distance), self.weights_ == "cosine")
        return by_first_sample(self._memberships(links))

    def _memberships(self, links: sp.csr_array) -> NDArray[Any]:
        raise NotImplementedError


class Infomap(_Communities):
    """The map equation on the neighbour graph (Rosvall and Bergstrom, 2008), in two levels.

    Needs `pip install diffpeaks[communities]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    max_distance : float
        Longer links are left out.
    weights : {"auto", "uniform", "cosine"}
        What a link weighs: 1, or 1 - distance, where links that are not positive are left out. "auto" is the
        latter with `metric="cosine"` or `"inner_product"`, else the former.
    directed : bool
        Whether a walker follows links from a sample to those it lists only. Otherwise in both directions,
        wherever one of the two lists the other.
    n_trials : int
        Runs, the best of which is kept.
    random_state : int
        The seed: the same one gives the same clusters.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    weights_ : str
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        **_CONSTRAINTS,
        "directed": ["boolean"],
        "n_trials": N_TRIALS,
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        max_distance: float = np.inf,
        weights: str = "auto",
        *,
        directed: bool = False,
        n_trials: int = 1,
        random_state: int = 0,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_distance = max_distance
        self.weights = weights
        self.directed = directed
        self.n_trials = n_trials
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _memberships(self, links: sp.csr_array) -> NDArray[Any]:
        network = links if self.directed else _undirected(links)
        return infomap_modules(network, self.directed, self.n_trials, self.random_state)


class Leiden(_Communities):
    """Modularity by the Leiden algorithm on the neighbour graph (Traag, Waltman and van Eck, 2019).

    Links go in both directions, wherever one of two samples lists the other. Needs
    `pip install diffpeaks[communities]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    max_distance : float
        Longer links are left out.
    weights : {"auto", "uniform", "cosine"}
        What a link weighs: 1, or 1 - distance, where links that are not positive are left out. "auto" is the
        latter with `metric="cosine"` or `"inner_product"`, else the former.
    resolution : float
        More gives more clusters; 1 is modularity.
    n_iterations : int
        Rounds of the algorithm; -1 until nothing changes.
    random_state : int
        The seed: the same one gives the same clusters.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    weights_ : str
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        **_CONSTRAINTS,
        "resolution": [Interval(Real, 0, None, closed="neither")],
        "n_iterations": [Interval(Integral, -1, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        max_distance: float = np.inf,
        weights: str = "auto",
        *,
        resolution: float = 1.0,
        n_iterations: int = 2,
        random_state: int = 0,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_distance = max_distance
        self.weights = weights
        self.resolution = resolution
        self.n_iterations = n_iterations
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _memberships(self, links: sp.csr_array) -> NDArray[Any]:
        igraph, leidenalg = _imported("igraph"), _imported("leidenalg")
        entries = _undirected(links).tocoo()
        network = igraph.Graph(links.shape[0], np.column_stack((entries.row, entries.col)))
        found = leidenalg.find_partition(
            network,
            leidenalg.RBConfigurationVertexPartition,
            weights=entries.data,
            resolution_parameter=float(self.resolution),
            n_iterations=int(self.n_iterations),
            seed=int(self.random_state),
        )
        return np.asarray(found.membership)


def infomap_modules(
    links: sp.csr_array, directed: bool, n_trials: int, random_state: int
) -> NDArray[np.int64]:
    """The module of each sample by the two-level map equation; undirected links are each given once."""
    infomap = _imported("infomap")
    network = infomap.Network.from_scipy_sparse_matrix(links, directed=directed)
    seed = int(random_state) + 1  # it counts seeds from 1
    found = infomap.run(network, seed=seed, num_trials=int(n_trials), two_level=True).modules()
    return np.array([found[sample] for sample in range(links.shape[0])])


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed: pip install 'diffpeaks[communities]'") from error


def _links(graph: NeighborGraph, cosine: bool) -> sp.csr_array:
    """The weight of each link from a sample to another that it lists."""
    weights = 1.0 - graph.distances.astype(np.float64) if cosine else np.ones(len(graph.indices))
    np.maximum(weights, 0, out=weights)
    weights[graph.indptr[:-1]] = 0  # from a sample to itself
    links = csr(graph, weights).copy()
    links.eliminate_zeros()
    return links


def _undirected(links: sp.csr_array) -> sp.csr_array:
    """Each pair of which one lists the other, once."""
    return sp.triu(links.maximum(links.T), format="csr")


def by_first_sample(memberships: NDArray[Any]) -> NDArray[np.int64]:
    """Labels in the order of the clusters' first samples."""
    _, first, cluster = np.unique(memberships, return_index=True, return_inverse=True)
    return component_labels(first[cluster])
