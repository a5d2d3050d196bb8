"""FaceMap: the map equation on neighbour lists that are cut where their cosines break."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks.baselines.base import GraphClusterer, check_cosines
from diffpeaks.baselines.communities import N_TRIALS, SEED, by_first_sample, infomap_modules
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.graph import NeighborGraph, csr


class FaceMap(GraphClusterer):
    """FaceMap (Yu, Yang, Wang, Xing, Yi, Lu and Wang, 2022): each list is cut where it breaks.

    A walker goes from a sample to a member of its list with a chance in proportion to the cosine, and the
    members come in order, so that the chances fall: first those of the same person, then a long even tail
    of strangers. The break is where the drops from one chance to the next stop looking like those of the
    tail. For every window of `window` drops, with the mean m of its drops, and with mean M and standard
    deviation S of all drops from its first to the end of the list,

        z = abs(m - M) / S

    and the break is the middle of the window of largest z, the nearest of equal ones. As many neighbours
    as stand before it are kept, with their chances. Infomap in two levels clusters the graph in which the
    link of two samples weighs what both give each other together.

    A cosine below 0 counts as 0. A list whose drops are all alike has no break and is kept whole.
    Needs `pip install diffpeaks[communities]`.

    Parameters
    ----------
    n_neighbors : int
        Length of the lists, the sample itself counted.
    window : int
        Drops in a window, at most `n_neighbors` - 2, so that there are two windows to compare.
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
        "window": [Interval(Integral, 1, None, closed="left")],
        "n_trials": N_TRIALS,
        "random_state": SEED,
        **SEARCH_CONSTRAINTS,
        "metric": [StrOptions({"cosine", "inner_product", "precomputed"})],
    }

    def __init__(
        self,
        n_neighbors: int = 256,
        window: int = 20,
        *,
        n_trials: int = 1,
        random_state: int = 0,
        metric: Any = "cosine",
        metric_params: dict[str, Any] | None = None,
        search: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.window = window
        self.n_trials = n_trials
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def _check(self) -> None:
        if self.window > self.n_neighbors - 2:
            raise ValueError(
                f"window={self.window} must be at most n_neighbors - 2 = {self.n_neighbors - 2}, so that "
                "there are two windows of drops to compare; use more neighbours or a smaller window"
            )

    def _labels(self, graph: NeighborGraph) -> NDArray[np.int64]:
        check_cosines(graph)
        self.n_kept_ = np.empty(graph.n_samples, np.int64)
        chances = np.empty(len(graph.distances))
        for rows, entries in graph.blocks():
            cosines = np.maximum(1.0 - graph.distances[entries].astype(np.float64), 0)
            cosines = cosines.reshape(rows.stop - rows.start, -1)
            self.n_kept_[rows] = row_breaks(cosines, int(self.window))
            rank = np.arange(cosines.shape[1])
            kept = (rank > 0) & (rank <= self.n_kept_[rows, None])
            chances[entries] = (cosines / cosines.sum(axis=1, keepdims=True) * kept).ravel()
        links = csr(graph, chances).copy()
        links.eliminate_zeros()
        both = sp.triu(links + links.T, format="csr")
        return by_first_sample(infomap_modules(both, False, self.n_trials, self.random_state))


def row_breaks(values: NDArray[np.float64], window: int) -> NDArray[np.int64]:
    """How many values after the first stand before the break of each falling row.

    z does not change when a row is scaled, so that cosines serve as well as chances.
    """
    drops = -np.diff(values, axis=1)
    n_drops = drops.shape[1]
    # variances do not change by a shift, and near 0 their squares cancel least
    drops -= drops[:, n_drops - window :].mean(axis=1, keepdims=True)
    windows = slice(n_drops - window + 1)
    n_to_end = np.arange(n_drops, 0, -1)[windows]
    sums, squares = _to_end(np.add, drops), _to_end(np.add, drops**2)[:, windows]
    in_window = sums[:, windows].copy()
    in_window[:, :-1] -= sums[:, window:]
    mean = sums[:, windows] / n_to_end
    variance = squares / n_to_end - mean**2
    rounding = n_drops * np.finfo(np.float64).eps * _to_end(np.maximum, drops**2)[:, windows]
    even = variance <= rounding
    z = np.where(even, 0, np.abs(in_window / window - mean)) / np.sqrt(np.where(even, 1, variance))
    found = np.argmax(z, axis=1) + (window + 1) // 2
    return np.where(z.max(axis=1) > 0, found, n_drops)


def _to_end(combine: np.ufunc, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum, or another combination, of each value of a row and all after it."""
    return combine.accumulate(values[:, ::-1], axis=1)[:, ::-1]
