"""From distances to kernel weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks._validation import check_positive
from diffpeaks.graph import NeighborGraph

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
    graph: NeighborGraph, kernel: Kernel = "gaussian", bandwidth: Bandwidth | float = 1.0
) -> NDArray[np.float64]:
    """Weight of each entry of the graph; 1 for a point and its duplicates.

    A callable gets distances, and the bandwidth is its own affair.
    """
    if not isinstance(bandwidth, Bandwidth):
        bandwidth = bandwidth_of(graph, bandwidth)
    weights = np.empty(len(graph.distances))
    for _, entries, _, block in weight_blocks(graph, kernel, bandwidth):
        weights[entries] = block
    return weights


def weight_blocks(
    graph: NeighborGraph, kernel: Kernel, bandwidth: Bandwidth
) -> Iterator[tuple[slice, slice, NDArray[np.int64], NDArray[np.float64]]]:
    """The rows and entries of each block of the graph, the row of each entry, and its weight."""
    for rows, entries in graph.blocks():
        lengths = np.diff(graph.indptr[rows.start : rows.stop + 1])
        owners = np.repeat(np.arange(rows.start, rows.stop), lengths)
        weights = pair_weights(graph.distances[entries], kernel, bandwidth, owners, graph.indices[entries])
        yield rows, entries, owners, weights


def pair_weights(
    distances: NDArray[Any],
    kernel: Kernel,
    bandwidth: Bandwidth,
    origins: NDArray[Any],
    targets: NDArray[Any],
) -> NDArray[np.float64]:
    """Weights of pairs (origin, target) at given distances."""
    if callable(kernel):
        return _checked(kernel(distances), distances)
    scale = _at(bandwidth.origin, origins) * _at(bandwidth.target, targets)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(distances, scale, dtype=np.float64)
        if np.any(scale == 0):  # a point whose neighbours all coincide: they count, others do not
            ratio[distances == 0] = 0
        ratio *= ratio
    return KERNELS[kernel](ratio)


def _at(values: float | NDArray[np.float64], points: NDArray[Any]) -> Any:
    return values[points] if isinstance(values, np.ndarray) else values


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
