"""The random walk on a graph: the weights of its steps, where it starts, and where it is after some steps.

Densities here have mean one: 1 is average, whatever the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from diffpeaks._base.tensors import on_host
from diffpeaks._base.validation import check_positive, n_threads
from diffpeaks.graph import NeighborGraph, csr
from diffpeaks.graph.passes import EntryValues, Weighing, weighed_rows
from diffpeaks.graph.rows import RaggedRows

Kernel: TypeAlias = str | Callable[[NDArray[Any]], Any]

KERNELS = {"gaussian": 0, "uniform": 1, "epanechnikov": 2, "laplace": 3}  # as the compiled core numbers them
_ONE = np.ones(1)


class Bandwidth(NamedTuple):
    """The bandwidth h of a pair of points as a length: sqrt(h) = `origin[i] * target[j]`.

    A number stands for a constant array. Lengths are kept because squares of distances may overflow.
    """

    origin: float | NDArray[np.float64]
    target: float | NDArray[np.float64] = 1.0


def bandwidth_of(graph: NeighborGraph, bandwidth: Bandwidth | float | str) -> Bandwidth:
    """A bandwidth as it is, a number for all points, or by name, "median" or "local", from the graph.

    "median" is the median squared distance between neighbours that are no duplicates.
    """
    if isinstance(bandwidth, Bandwidth):
        return bandwidth
    if not isinstance(bandwidth, str):
        return Bandwidth(float(np.sqrt(check_positive("bandwidth", bandwidth))))
    if bandwidth == "local":
        return local_bandwidth(graph)
    if bandwidth != "median":
        raise ValueError(f"bandwidth={bandwidth!r} is unknown; use a number, 'median' or 'local'")
    apart = graph.distances[graph.distances > 0]
    if not len(apart):
        return Bandwidth(1.0)  # all neighbours are duplicates: every bandwidth gives the same weights
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


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk: from a point to each entry of its row in proportion to the weight of the entry.

    Attributes
    ----------
    graph : NeighborGraph
    weights : array of shape (n_entries,), or on a device a tensor
        The kernel, 1 for a point itself and its duplicates, times the mass of the entry's point.
    volume : array of shape (n_samples,)
        The volume d(x) of each point: the sum of its weights.
    bandwidth : Bandwidth
    masses : array of shape (n_samples,) or None
        What each point weighs, one on average; None where all weigh the same.
    n_threads : int
        For the steps, whose results do not depend on it.
    """

    graph: NeighborGraph
    weights: EntryValues
    volume: NDArray[np.float64]
    bandwidth: Bandwidth
    masses: NDArray[np.float64] | None = None
    n_threads: int = 1

    @cached_property
    def sent_by_weight(self) -> NDArray[np.float64]:
        """How much of the masses goes along an entry for each unit of its weight, by row."""
        return np.asarray((1.0 if self.masses is None else self.masses) / self.volume)

    @property
    def transition(self) -> sp.csr_array:
        """P: the chance to go from one point to another, each row of weights divided by its sum."""
        return csr(self.graph, on_host(self.weights) / np.repeat(self.volume, self.graph.degrees))


def walk_on(
    graph: NeighborGraph,
    kernel: Kernel = "gaussian",
    bandwidth: Bandwidth | float | str = 1.0,
    masses: NDArray[np.float64] | None = None,
    dtype: DTypeLike | None = np.float64,
    n_threads: int = 1,
) -> Walk:
    """The walk of a kernel along the rows of a graph; a point counts as often as its mass says.

    A callable kernel takes distances alone, without a bandwidth. Weights are kept in `dtype`; None is
    that of the distances.
    """
    found = bandwidth_of(graph, 1.0 if callable(kernel) else bandwidth)
    if callable(kernel):
        weights, volume = row_weights(graph, kernel, found, masses)
    else:
        weights, volume = graph.passes.weighed(_weighing(kernel, found, masses, dtype), n_threads)
    return Walk(graph, weights, volume, found, masses, n_threads)


def row_weights(
    rows: NeighborGraph | RaggedRows,
    kernel: Kernel,
    bandwidth: Bandwidth,
    masses: NDArray[np.float64] | None = None,
    dtype: DTypeLike = np.float64,
    n_threads: int = 1,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weight of each entry of rows, and the sum of each row; rows are origins, indices are targets."""
    n_rows = len(rows.indptr) - 1
    if callable(kernel):
        weights = _checked(kernel(rows.distances), rows.distances)
        if masses is not None:
            weights *= masses[rows.indices]
        owners = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
        return weights, np.bincount(owners, weights, n_rows).astype(np.float64)
    return weighed_rows(rows, _weighing(kernel, bandwidth, masses, dtype), n_threads)


def _weighing(
    kernel: str, bandwidth: Bandwidth, masses: NDArray[np.float64] | None, dtype: DTypeLike | None
) -> Weighing:
    origin, target = (np.atleast_1d(length).astype(np.float64, copy=False) for length in bandwidth)
    return Weighing(KERNELS[kernel], origin, target, _ONE if masses is None else masses, dtype)


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


def weight_blocks(
    graph: NeighborGraph, kernel: Kernel, bandwidth: Bandwidth
) -> Iterator[tuple[slice, slice, NDArray[np.int64], NDArray[np.float64]]]:
    """The rows and entries of each block of the graph, the row of each entry, and its weight."""
    threads = n_threads(None)
    for rows, entries in graph.blocks():
        lengths = np.diff(graph.indptr[rows.start : rows.stop + 1])
        owners = np.repeat(np.arange(rows.start, rows.stop), lengths)
        indptr = graph.indptr[rows.start : rows.stop + 1] - entries.start
        origin = bandwidth.origin[rows] if isinstance(bandwidth.origin, np.ndarray) else bandwidth.origin
        block = RaggedRows(indptr, graph.indices[entries], graph.distances[entries])
        weights, _ = row_weights(block, kernel, Bandwidth(origin, bandwidth.target), n_threads=threads)
        yield rows, entries, owners, weights


def walked_density(
    walk: Walk,
    steps: int,
    teleport: float = 0.0,
    start_power: float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The density after some steps from a `starting_mass`, and the mass before the last of them."""
    start = starting_mass(walk.graph, start_power, walk.masses)
    mass, before = diffuse(walk, start, steps, teleport)
    return mass if walk.masses is None else mass / walk.masses, before


def starting_mass(
    graph: NeighborGraph, power: float, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """The mass at the start: reach^-power times weights, with mean one; None for the uniform start.

    The reach of a point is the distance to its last neighbour. Where that is zero, the smallest positive
    reach takes its place.
    """
    reach = graph.reach.astype(np.float64)
    apart = reach > 0
    if not power or not apart.any():
        return None
    log_reach = np.log(np.where(apart, reach, np.inf))
    nearest = log_reach.min()
    start = np.exp(power * (nearest - np.where(apart, log_reach, nearest)))  # at most one: nothing overflows
    if weights is not None:
        start *= weights
    return start / start.mean()


def diffuse(
    walk: Walk,
    mass: NDArray[np.float64] | None = None,
    steps: int = 1,
    teleport: float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mass at each point after some steps, and one step before; from the uniform start by default.

    In each step the share `teleport` of the mass jumps to a point drawn uniformly. Where points have masses,
    the walk starts and jumps in proportion to them, and what arrives is the density times the mass.
    """
    start = np.ones(len(walk.volume)) if walk.masses is None else walk.masses
    before = after = start if mass is None else mass
    arriving = walk.graph.passes.step(walk.weights, walk.n_threads)
    for step in range(steps):
        before = after
        after = arriving(before / walk.volume, (step / steps, (step + 1) / steps))
        if teleport:
            after = (1 - teleport) * after + teleport * after.mean() * start
    return after, before
