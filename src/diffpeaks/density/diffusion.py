"""The random walk: transition, steps of diffusion, and where the walk ends.

Densities here have mean one: 1 is average, whatever the number of samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from diffpeaks._base.validation import n_threads
from diffpeaks._native import normalize_rows, send_mass
from diffpeaks.density.stationary import SMALLEST_MASS, UNDERFLOW, ConvergenceError, stationary_law
from diffpeaks.graph import NeighborGraph, csr
from diffpeaks.progress import stage

MAX_LIMIT_ENTRIES = np.iinfo(np.int32).max  # scipy finds connected components on 32-bit offsets


@dataclass(frozen=True)
class Limit:
    """The density after infinitely many steps, and what the chain looks like.

    Attributes
    ----------
    density : array of shape (n_samples,)
    n_closed_classes : int
        Sets of points that the walk cannot leave; 1 is the ergodic case.
    transient_share : float
        Share of points that the walk leaves for good; their density is zero.
    residual : float
        Mean absolute change of the density in one more step.
    """

    density: NDArray[np.float64]
    n_closed_classes: int
    transient_share: float
    residual: float


def row_sums(graph: NeighborGraph, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The volume d(x) of each point: the sum of its weights."""
    with np.errstate(over="ignore"):  # an infinite volume is refused where it matters
        return np.add.reduceat(weights, graph.indptr[:-1])


def transition(
    graph: NeighborGraph,
    weights: NDArray[np.float64],
    overwrite_weights: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """P: each row of weights divided by its sum."""
    probabilities = weights if overwrite_weights else weights.copy()
    normalize_rows(graph.indptr, probabilities, n_threads(n_jobs))
    return csr(graph, probabilities)


def starting_mass(
    graph: NeighborGraph, power: float, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """Where the walk starts: reach^-power times weights, with mean one; None for the uniform start.

    The reach of a point is the distance to its last neighbour. A point whose neighbours all coincide has
    the least reach of the others.
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
    transition: sp.csr_array,
    density: NDArray[np.float64] | None = None,
    steps: int = 1,
    teleport: float = 0.0,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """The density after some steps of the walk, from the uniform start by default.

    In each step the share `teleport` of the mass jumps to a point drawn uniformly. Points with
    `weights` of mean one stand for as many: the walk starts and jumps in proportion, and the result is
    the mass at each point, its density times its weight.
    """
    start = np.ones(transition.shape[0]) if weights is None else weights
    density = start if density is None else density
    indptr = transition.indptr.astype(np.int64, copy=False)
    with stage("steps", steps) as done:
        for _ in range(steps):
            arriving = np.empty(len(start))
            send_mass(indptr, transition.indices, transition.data, density, arriving, n_threads(n_jobs))
            density = arriving
            if teleport:
                density = (1 - teleport) * density + teleport * density.mean() * start
            done(1)
    return density


def change(
    transition: sp.csr_array,
    density: NDArray[np.float64],
    teleport: float = 0.0,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> float:
    """Mean absolute change of a density in one more step."""
    return float(np.mean(np.abs(diffuse(transition, density, 1, teleport, weights, n_jobs) - density)))


def reversible_limit(graph: NeighborGraph, weights: NDArray[np.float64]) -> Limit:
    """The limit of a walk with symmetric weights, in closed form.

    The walk is reversible, so within each connected component the density is the volume of a point
    divided by the component's mean volume.
    """
    _check_limit_size(len(weights))
    n_components, component = connected_components(_edges(csr(graph, weights)), directed=False)
    volume = row_sums(graph, weights)
    mean_volume = np.bincount(component, volume) / np.bincount(component)
    density = volume / mean_volume[component]
    residual = change(transition(graph, weights), density)
    return Limit(density, int(n_components), 0.0, residual)


def limit(transition: sp.csr_array, teleport: float = 0.0) -> Limit:
    """The limit of any walk from the uniform start, solved class by class.

    The walk ends in the closed classes of its graph. Each one receives its own points' mass and
    what the transient points send there, and spreads it by its stationary law. With `teleport` the
    chain is ergodic, and the limit is its stationary law.
    """
    n_samples = transition.shape[0]
    _check_limit_size(transition.nnz + 2 * n_samples)
    if teleport:
        law = _stationary_with_hub((1 - teleport) * transition, np.full(n_samples, teleport))[:-1]
        density = law / law.mean()
        return Limit(density, 1, 0.0, change(transition, density, teleport))
    edges = _edges(transition)
    n_classes, member = connected_components(edges, directed=True, connection="strong")
    closed = _closed_classes(edges, member, n_classes)
    transient = ~closed[member]
    density = np.zeros(n_samples)
    with stage("classes", n_samples) as done:
        with done.part(int(transient.sum())):
            arrived = _absorbed_mass(edges, transient)
        for points, chain in _class_chains(edges, member, closed):
            with done.part(len(points)):
                density[points] = arrived[points].sum() * stationary_law(chain)
    residual = change(transition, density)
    return Limit(density, int(closed.sum()), float(transient.mean()), residual)


def _check_limit_size(n_entries: int) -> None:
    if n_entries > MAX_LIMIT_ENTRIES:
        raise ValueError(
            f"the limit of the walk is solved on at most {MAX_LIMIT_ENTRIES} graph entries, and there are "
            f"{n_entries}; use fewer neighbours, a smaller radius, or finitely many steps"
        )


def _edges(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix without entries of value zero, which are no edges of the walk."""
    if matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return matrix


def _closed_classes(edges: sp.csr_array, member: NDArray[np.int32], n_classes: int) -> NDArray[np.bool_]:
    """Which strongly connected components the walk cannot leave."""
    origin = np.repeat(member, np.diff(edges.indptr))
    closed = np.ones(n_classes, bool)
    closed[origin[origin != member[edges.indices]]] = False
    return closed


def _class_chains(
    edges: sp.csr_array, member: NDArray[np.int32], closed: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.int64], sp.csr_array]]:
    """The points of each closed class and the walk among them."""
    sizes = np.bincount(member)
    order = np.argsort(member, kind="stable")
    position = np.empty(len(order), np.int32)  # of a point within its class
    position[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    for last, size in zip(np.cumsum(sizes)[closed], sizes[closed], strict=True):
        points = order[last - size : last]
        rows = edges[points]  # a closed class is left by no edge: all columns are its own points
        yield points, sp.csr_array((rows.data, position[rows.indices], rows.indptr), (size, size))


def _absorbed_mass(edges: sp.csr_array, transient: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mass that enters each closed point: its own unit and what transient points pass to it.

    Expected visits to transient points come from the stationary law of the walk that restarts
    there, uniformly, whenever it has left them.
    """
    mass = np.where(transient, 0.0, 1.0)
    if transient.any():
        moves = edges[transient]
        leaving = moves[:, ~transient]
        law = _stationary_with_hub(moves[:, transient], np.asarray(leaving.sum(axis=1)).ravel())
        if not law[-1] >= SMALLEST_MASS:
            raise ConvergenceError(
                UNDERFLOW
            )  # the walk leaves them so seldom that no float counts its visits
        visits = transient.sum() * law[:-1] / law[-1]
        mass[~transient] += leaving.T @ visits
    return mass


def _stationary_with_hub(inner: sp.csr_array, to_hub: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stationary law of a walk that now and then goes to a hub, and from there to a uniform state.

    The hub is the last state of the result. It keeps the matrix of uniform jumps sparse.
    """
    from_hub = np.full((1, len(to_hub)), 1 / len(to_hub))
    blocks = [[inner, sp.csr_array(to_hub[:, None])], [sp.csr_array(from_hub), None]]
    return stationary_law(sp.block_array(blocks, format="csr"))
