"""From points to a neighbour graph: `neighbor_graph` and the searches behind it."""

from __future__ import annotations

from typing import Any

from diffpeaks._base.tensors import device_of
from diffpeaks._base.validation import n_threads
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.cells.approximate import ApproximateSearch
from diffpeaks.neighbors.duplicates import DistinctSamples
from diffpeaks.neighbors.given_graph import GivenGraph
from diffpeaks.neighbors.index import graph_from_index
from diffpeaks.neighbors.inputs import (
    PointsEstimator,
    as_floats,
    check_features,
    check_points,
    is_precomputed,
    searchable,
    space_of,
)
from diffpeaks.neighbors.memory.limited import check_memory_limit
from diffpeaks.neighbors.points import PointSet
from diffpeaks.progress import Callback, reported

__all__ = [
    "ApproximateSearch",
    "DistinctSamples",
    "GivenGraph",
    "PointSet",
    "PointsEstimator",
    "check_features",
    "neighbor_graph",
    "searchable",
]


def neighbor_graph(
    X: Any,
    n_neighbors: int | None = None,
    radius: float | None = None,
    metric: Any = "euclidean",
    search: Any = "auto",
    n_jobs: int | None = None,
    metric_params: dict[str, Any] | None = None,
    memory_limit: int | None = None,
    device: Any = None,
    verbose: bool = False,
    callback: Callback | None = None,
) -> NeighborGraph:
    """Neighbours of each point of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        With `metric="precomputed"` a square matrix of distances, a sparse graph of distances, a pair
        (indices, distances) of arrays of shape (n_samples, k), or a `NeighborGraph`.
    n_neighbors : int, optional
        That many nearest points, the point itself counted first.
    radius : float, optional
        All points at distance `radius` or less. With both, each row holds whichever is more, so
        that either graph can be filtered from the result.
    metric : str or callable
        Any metric of scikit-learn. Cosine is the distance 1 - cos; "inner_product" is 1 - x.y of rows
        that have length 1 already, and needs no copy of them.
    search : {"auto", "exact", "approximate", "tree", "cells", "brute"}, ApproximateSearch or an index
        "exact" takes a kd-tree in low dimension ("tree"), matrix products over cells of points for
        Euclidean and cosine distances in high dimension ("cells"), and blocks of all distances for
        any other metric ("brute"). "approximate" finds at least 98% of the neighbours, and
        `ApproximateSearch(recall=...)` the share it is given; `graph.recall` is the measured share.
        "auto" is exact where n_samples^2 n_features is at most 2^40, or where a tree is faster, and
        approximate beyond. An index of faiss or hnswlib that holds the rows of X in order (any object
        with their `search(X, k)` or `knn_query(X, k)`) proposes the neighbours, with its own settings
        and threads; their distances and order are computed here. `graph.search` says which was used.
    n_jobs : int, optional
        Threads; None means all cores. The result does not depend on it.
    metric_params : dict, optional
        Further arguments of the metric.
    memory_limit : int, optional
        Bytes that the search may take beside X and the graph. The searches "cells" and "brute" then
        work in chunks, as small as needed; the others refuse a limit below what they take, which
        `plan` predicts. Balls are counted when they are found: for a moment they may take twice the
        size of the graph more. An index of another library cannot be limited. On a device these are bytes
        of the device, points included unless they are a tensor that lies there; points that take more are
        sent in chunks.
    device : str or torch.device, optional
        Where neighbours are sought: "cuda", or another device of torch (`pip install diffpeaks[gpu]`). The
        graph of an exact search there is that of the host, to the last bit; "auto" is exact up to
        n_samples^2 n_features = 2^52. None is the device where X lies, if X is a tensor, and else the host,
        as is "cpu".
    verbose : bool
        Say on standard error how far the work is: a line for each stage when it ends, and on a terminal
        also while it runs.
    callback : callable, optional
        Called with a `Progress` (stage, done, total, seconds, rate, remaining) at the beginning and at the
        end of each stage, and some times a second in between. An error that it raises ends the work,
        and an estimator stays as it was. It is not saved with a model.

    Examples
    --------
    >>> from diffpeaks import neighbor_graph
    >>> neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=2).indices.tolist()
    [0, 1, 1, 0, 2, 1]
    """
    with reported(verbose, callback):
        device = device_of(X, device)
        X = as_floats(X, device)
        if not isinstance(search, (str, ApproximateSearch)):
            _check_takes_index(search, metric, memory_limit, device)
            check_points(X, metric)
            space = space_of(X, metric, metric_params)
            return graph_from_index(search, X, space, n_neighbors, radius, n_threads(n_jobs))
        points = searchable(X, metric, search, n_jobs, metric_params, memory_limit, n_neighbors, device)
        if n_neighbors is None and radius is None and isinstance(points, PointSet):
            raise ValueError("neighbor_graph needs n_neighbors, radius, or both")
        return points.graph(n_neighbors, radius)


def _check_takes_index(index: Any, metric: Any, memory_limit: int | None, device: str | None) -> None:
    if device is not None:
        raise ValueError(f"device={device!r} has no part in search={index!r}; use one of them")
    if is_precomputed(metric):
        raise ValueError(f"search={index!r} needs points, not distances; use search='auto'")
    if check_memory_limit(memory_limit) is not None:
        raise ValueError(
            f"memory_limit={memory_limit} cannot bind search={index!r}, an index with its own memory; "
            "use memory_limit=None, or search='cells' or 'brute'"
        )
