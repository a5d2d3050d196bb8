"""FC-ES: the map equation on neighbour lists that end where little of the walk is shared."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks._base.validation import n_threads
from diffpeaks.baselines.base import GraphClusterer, check_cosines
from diffpeaks.baselines.communities import N_TRIALS, SEED, by_first_sample, infomap_modules
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.density.walk import walk_on
from diffpeaks.graph import NeighborGraph, csr


class FCES(GraphClusterer):
    """FC-ES, face clustering by early stopping (Liu, 2024): each list ends where little is shared.

    The walk of the asymmetric kernel goes from a sample to the members of its list, itself included, with
    chances P in proportion to exp(-d^2 / h), where d^2 = 2 (1 - cosine). Two samples share the mass that
    both give to the members of both lists, on average

        shared(a, b) = sum over c in N(a) and N(b) of (P(a, c) + P(b, c)) / 2

    In each list, from the nearest on, neighbours are kept up to the first of less than `min_shared`; those
    after it are left out whatever they share. Infomap in two levels clusters the directed graph of the
    neighbours that are kept, weighted by what they share. A sample that keeps none is a cluster of its own,
    even where others keep it.

    Needs `pip install diffpeaks[communities]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    min_shared : float in (0, 1]
    bandwidth : float
        The h of the kernel.
    n_trials : int
        Runs of Infomap, the best of which is kept.
    random_state : int
        The seed: the same one gives the same clusters.
    metric : {"cosine", "inner_product", "precomputed"}
        Precomputed distances are taken as 1 - cosine.
    metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 to `n_clusters_` - 1 in the order of the clusters' first samples.
    n_clusters_ : int
    n_kept_ : array of shape (n_samples,)
        How many neighbours of each list were kept, the sample itself not counted.
    graph_ : NeighborGraph
    """

    _parameter_constraints = {
        "n_neighbors": N_NEIGHBORS,
        "min_shared": [Interval(Real, 0, 1, closed="right")],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "n_trials": N_TRIALS,
        "random_state": SEED,
        **SEARCH_CONSTRAINTS,
        "metric": [StrOptions({"cosine", "inner_product", "precomputed"})],
    }

    def __init__(
        self,
        n_neighbors: int = 80,
        min_shared: float = 0.22,
        bandwidth: float = 0.5,
        *,
        n_trials: int = 1,
        random_state: int = 0,
        metric: Any = "cosine",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_shared = min_shared
        self.bandwidth = bandwidth
        self.n_trials = n_trials
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        check_cosines(graph)
        walk = walk_on(graph, self._kernel, n_threads=n_threads(self.n_jobs))
        links = kept_links(walk.transition, graph, float(self.min_shared))
        self.n_kept_ = np.diff(links.indptr).astype(np.int64)
        modules = infomap_modules(links, True, self.n_trials, self.random_state)
        alone = self.n_kept_ == 0
        modules[alone] = modules.max() + 1 + np.arange(alone.sum())
        return by_first_sample(modules)

    def _kernel(self, lengths: NDArray[Any]) -> NDArray[np.float64]:
        """The Gaussian kernel of unit vectors, given 1 - cosine: half of their squared distance."""
        return np.exp(-2.0 * lengths.astype(np.float64) / self.bandwidth)


def kept_links(transition: sp.csr_array, graph: NeighborGraph, min_shared: float) -> sp.csr_array:
    """The mass that a sample shares with each neighbour, up to the first that shares less."""
    chances = transition.copy()
    chances.sort_indices()
    members = sp.csr_array((np.ones_like(chances.data), chances.indices, chances.indptr), chances.shape)
    lists = graph.indices.reshape(graph.n_samples, -1)
    shared = np.zeros(lists.shape)
    for rows, _ in graph.blocks():
        going_on = np.arange(rows.start, rows.stop)
        for rank in range(1, lists.shape[1]):  # few lists go on to their end
            found = _shared_mass(chances, members, going_on, lists[going_on, rank])
            going_on, found = (values[found >= min_shared] for values in (going_on, found))
            if not len(going_on):
                break
            shared[going_on, rank] = found
    links = csr(graph, shared.ravel()).copy()
    links.eliminate_zeros()
    return links


def _shared_mass(
    chances: sp.csr_array, members: sp.csr_array, first: NDArray[Any], second: NDArray[Any]
) -> NDArray[np.float64]:
    """The mean mass that both samples of each pair give to the members of both lists."""
    ours = chances[first].multiply(members[second]).sum(axis=1)
    theirs = members[first].multiply(chances[second]).sum(axis=1)
    return (ours + theirs) / 2
