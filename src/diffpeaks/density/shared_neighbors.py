"""The density of shared nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks._native import shared_counts
from diffpeaks.density.base import (
    N_NEIGHBORS,
    OWN_SEARCH_CONSTRAINTS,
    GraphDensity,
    Needs,
    resolved_n_neighbors,
)
from diffpeaks.graph import NeighborGraph, csr
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors import GivenGraph, PointSet

_BLOCK_ENTRIES = 1 << 14  # of new samples' neighbours; the product of two lists has many times as many


class SharedNeighborDensity(GraphDensity):
    """How many samples share enough nearest neighbours with a sample, itself included.

    The similarity of two samples is the number of neighbours that they share, if each is among the
    neighbours of the other, else 0. The density of a sample is the number of samples that are at least
    `min_shared` similar to it (Ertöz, Steinbach and Kumar, 2003).

    Parameters
    ----------
    n_neighbors : int or "auto"
        Length of the lists that are compared, the sample itself counted; "auto" is 2 log2(n). Two samples
        that list each other therefore share at least 2.
    min_shared : int or "auto"
        "auto" is half of the neighbours, rounded up.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`. None is its default,
        or what a clusterer that uses the density says.

    Attributes
    ----------
    density_ : array of shape (n_samples,)
    n_neighbors_, min_shared_ : int
    graph_ : NeighborGraph

    Examples
    --------
    >>> from diffpeaks import SharedNeighborDensity
    >>> X = [[0.0], [1.0], [2.0], [9.0]]  # the first three list each other, and nobody lists the last
    >>> SharedNeighborDensity(n_neighbors=3, min_shared=3).fit(X).density_.tolist()
    [3.0, 3.0, 3.0, 1.0]
    """

    knows_weights = False

    _parameter_constraints = {
        "n_neighbors": [*N_NEIGHBORS, StrOptions({"auto"})],
        "min_shared": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **OWN_SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        min_shared: int | str = "auto",
        *,
        metric: str | Callable[..., float] | None = None,
        metric_params: dict[str, Any] | None = None,
        search: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.min_shared = min_shared
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        return Needs(resolved_n_neighbors(self.n_neighbors, points))

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        self.min_shared_ = _resolved_min_shared(self.min_shared, graph)
        self._lists = graph
        density = np.empty(graph.n_samples)
        shared_counts(graph, self.min_shared_, density, self._points.n_threads)
        return density

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        """A fitted sample lists a new one that lies no farther than the last of its own list."""
        nearest = points.nearest_to(X, self.n_neighbors_)
        reached = points.reaching(X, self._lists.reach)
        fitted = csr(self._lists, np.ones(len(self._lists.indices), np.int32)).T
        step = max(1, _BLOCK_ENTRIES // self.n_neighbors_)
        listed = _indicator(nearest, fitted.shape[1])
        mutual = listed.multiply(_indicator(reached, fitted.shape[1])).tocsr()
        counts = np.zeros(X.shape[0])
        for first in range(0, X.shape[0], step):
            rows = slice(first, first + step)
            similarity = (listed[rows] @ fitted).multiply(mutual[rows])
            counts[rows] = (similarity >= self.min_shared_).sum(axis=1)
        return counts


def _indicator(rows: RaggedRows, n_samples: int) -> sp.csr_array:
    """Ones where a new sample and a fitted one are neighbours."""
    ones = np.ones(len(rows.indices), np.int32)
    return sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, n_samples))


def _resolved_min_shared(min_shared: int | str, lists: NeighborGraph) -> int:
    longest = int(lists.degrees.max())
    if min_shared == "auto":
        return int(np.ceil(lists.degrees.mean() / 2))
    if int(min_shared) > longest:
        raise ValueError(
            f"min_shared={min_shared} is more than {longest}, the length of the longest list of neighbours, "
            "so that not even a sample is similar to itself; use a smaller min_shared or a larger n_neighbors"
        )
    return int(min_shared)
