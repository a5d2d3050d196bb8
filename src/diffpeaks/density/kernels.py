"""From distances to kernel weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_positive, n_threads
from diffpeaks._native import squared_ratios
from diffpeaks.graph import NeighborGraph

_BLOCK_ENTRIES = 1 << 17  # stay in the processor's cache while a kernel is computed
Kernel: TypeAlias = str | Callable[[NDArray[Any]], Any]

# Each as a function of u = d^2 / bandwidth, computed in place. All are 1 at distance zero.
KERNELS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "gaussian": lambda u: np.exp(np.negative(u, out=u), out=u),
    "uniform": lambda u: np.ones_like(u),
    "epanechnikov": lambda u: np.maximum(np.subtract(1, u, out=u), 0, out=u),
    "laplace": lambda u: np.exp(np.negative(np.sqrt(u, out=u), out=u), out=u),
}


class Bandwidth(NamedTuple):
    """The bandwidth h of a pair as a length: sqrt(h) = `origin[i] * target[j]`.

    A number stands for a constant array. Lengths, because squares of distances may overflow.
    """

    origin: float | NDArray[np.float64]
    target: float | NDArray[np.float64] = 1.0


def bandwidth_of(graph: NeighborGraph, bandwidth: Any) -> Bandwidth:
    """One bandwidth for all points: a number as it is, "median" from the graph.

    "median" is the median squared distance between neighbours that do not coincide.
    """
    if not isinstance(bandwidth, str):
        return Bandwidth(float(np.sqrt(check_positive("bandwidth", bandwidth))))
    if bandwidth != "median":
        raise ValueError(f"bandwidth={bandwidth!r} is unknown; use a number, 'median' or 'local'")
    apart = graph.distances[graph.distances > 0]
    if not len(apart):
        return Bandwidth(1.0)  # where all neighbours coincide every bandwidth gives the same weights
    middle = [(len(apart) - 1) // 2, len(apart) // 2]
    apart.partition(middle)
    return Bandwidth(float(np.hypot(*apart[middle].astype(np.float64)) / np.sqrt(2)))


def local_bandwidth(graph: NeighborGraph) -> Bandwidth:
    """One bandwidth for each point: the squared distance to the last of its row (asymmetric)."""
    return Bandwidth(graph.reach.astype(np.float64))


def self_tuning_bandwidth(graph: NeighborGraph, n_neighbors: int | None) -> Bandwidth:
    """Product of both points' distances to their `n_neighbors`-th, or last, neighbour (symmetric)."""
    ends = graph.indptr[1:] if n_neighbors is None else graph.indptr[:-1] + n_neighbors
    root = np.sqrt(graph.distances[ends - 1].astype(np.float64))
    return Bandwidth(root, root)


def kernel_weights(
    graph: NeighborGraph,
    kernel: Kernel = "gaussian",
    bandwidth: Bandwidth | float = 1.0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Weight of each entry of the graph; 1 for a point and its duplicates.

    A callable gets distances, and the bandwidth is its own affair.
    """
    if not isinstance(bandwidth, Bandwidth):
        bandwidth = bandwidth_of(graph, bandwidth)
    return row_weights(
        graph.indptr, graph.indices, graph.distances, kernel, bandwidth.origin, bandwidth.target, n_jobs
    )


def weight_blocks(
    graph: NeighborGraph, kernel: Kernel, bandwidth: Bandwidth
) -> Iterator[tuple[slice, slice, NDArray[np.int64], NDArray[np.float64]]]:
    """The rows and entries of each block of the graph, the row of each entry, and its weight."""
    for rows, entries in graph.blocks():
        lengths = np.diff(graph.indptr[rows.start : rows.stop + 1])
        owners = np.repeat(np.arange(rows.start, rows.stop), lengths)
        indptr = graph.indptr[rows.start : rows.stop + 1] - entries.start
        origin = bandwidth.origin[rows] if isinstance(bandwidth.origin, np.ndarray) else bandwidth.origin
        within = graph.indices[entries], graph.distances[entries]
        yield rows, entries, owners, row_weights(indptr, *within, kernel, origin, bandwidth.target)


def row_weights(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    distances: NDArray[Any],
    kernel: Kernel,
    by_row: float | NDArray[np.float64],
    by_entry: float | NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Weights of the entries of rows; the root of a bandwidth is that of the row times that of the index."""
    if callable(kernel):
        return _checked(kernel(distances), distances)
    weights = np.empty(len(distances))
    lengths = np.atleast_1d(by_row).astype(np.float64), np.atleast_1d(by_entry).astype(np.float64)
    squared_ratios(indptr, indices, distances, *lengths, weights, n_threads(n_jobs))
    for first in range(0, len(weights), _BLOCK_ENTRIES):
        block = weights[first : first + _BLOCK_ENTRIES]
        block[:] = KERNELS[kernel](block)
    return weights


def _checked(weights: Any, distances: NDArray[Any]) -> NDArray[np.float64]:
    weights = np.asarray(weights)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"the kernel must return an array of real numbers, got {weights!r}, {weights.shape}")
    weights = weights.astype(np.float64)
    if weights.shape != distances.shape:
        raise ValueError(
            f"the kernel returned shape {weights.shape} for distances of shape {distances.shape}; "
            "it must return one weight for each distance"
        )
    bad = ~(np.isfinite(weights) & (weights >= 0))
    bad |= (distances == 0) & (weights <= 0)
    if bad.any():
        raise ValueError(
            f"the kernel returned {weights[bad][0]} at distance {distances[bad][0]}; weights must be "
            "finite and not negative, and above 0 at distance 0"
        )
    return weights
