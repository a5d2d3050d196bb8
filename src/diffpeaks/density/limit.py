"""The limit of the random walk: its density after infinitely many steps, which has mean one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from diffpeaks.density.stationary import SMALLEST_MASS, UNDERFLOW, ConvergenceError, stationary_law
from diffpeaks.density.walk import Walk
from diffpeaks.graph import csr
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


def reversible_limit(walk: Walk) -> Limit:
    """The limit of a walk with symmetric weights, in closed form.

    The walk is reversible, so within each connected component the density is the volume of a point
    divided by the component's mean volume. A point counts as often as its mass says.
    """
    _check_limit_size(len(walk.weights))
    n_components, component = connected_components(_edges(csr(walk.graph, walk.weights)), directed=False)
    start = np.ones(len(walk.volume)) if walk.masses is None else walk.masses
    mean_volume = np.bincount(component, start * walk.volume) / np.bincount(component, start)
    density = walk.volume / mean_volume[component]
    return Limit(density, int(n_components), 0.0, _change(walk.transition, density * start, start))


def limit(
    transition: sp.csr_array, teleport: float = 0.0, masses: NDArray[np.float64] | None = None
) -> Limit:
    """The limit of any walk from the uniform start, or from `masses` of mean one, solved class by class.

    The walk ends in the closed classes of its graph. Each one receives its own points' mass and
    what the transient points send there, and spreads it by its stationary law. With `teleport` the
    chain is ergodic, and the limit is its stationary law. The density is what arrives, divided by `masses`.
    """
    n_samples = transition.shape[0]
    start = np.ones(n_samples) if masses is None else masses
    _check_limit_size(transition.nnz + 2 * n_samples)
    if teleport:
        law = _stationary_with_hub((1 - teleport) * transition, np.full(n_samples, teleport), start)[:-1]
        mass = law / law.mean()
        return Limit(mass / start, 1, 0.0, _change(transition, mass, start, teleport))
    edges = _edges(transition)
    n_classes, member = connected_components(edges, directed=True, connection="strong")
    closed = _closed_classes(edges, member, n_classes)
    transient = ~closed[member]
    mass = np.zeros(n_samples)
    with stage("classes", n_samples) as done:
        with done.part(int(transient.sum())):
            arrived = _absorbed_mass(edges, transient, start)
        for points, chain in _class_chains(edges, member, closed):
            with done.part(len(points)):
                mass[points] = arrived[points].sum() * stationary_law(chain)
    residual = _change(transition, mass, start)
    return Limit(mass / start, int(closed.sum()), float(transient.mean()), residual)


def _change(
    transition: sp.csr_array,
    mass: NDArray[np.float64],
    start: NDArray[np.float64],
    teleport: float = 0.0,
) -> float:
    """Mean absolute change of a mass of mean one in one more step."""
    return float(np.mean(np.abs((1 - teleport) * (mass @ transition) + teleport * start - mass)))


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


def _absorbed_mass(
    edges: sp.csr_array, transient: NDArray[np.bool_], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mass that enters each closed point: its own at the start and what transient points pass to it.

    Expected visits to transient points come from the stationary law of the walk that restarts
    there, as it started, whenever it has left them.
    """
    mass = np.where(transient, 0.0, start)
    if transient.any():
        moves = edges[transient]
        leaving = moves[:, ~transient]
        to_hub = np.asarray(leaving.sum(axis=1)).ravel()
        law = _stationary_with_hub(moves[:, transient], to_hub, start[transient])
        if not law[-1] >= SMALLEST_MASS:
            raise ConvergenceError(
                UNDERFLOW
            )  # the walk leaves them so seldom that no float counts its visits
        visits = start[transient].sum() * law[:-1] / law[-1]
        mass[~transient] += leaving.T @ visits
    return mass


def _stationary_with_hub(
    inner: sp.csr_array, to_hub: NDArray[np.float64], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Stationary law of a walk that now and then goes to a hub, and from there to where it may start.

    The hub is the last state of the result. It keeps the matrix of these jumps sparse.
    """
    from_hub = start / start.sum()
    blocks = [[inner, sp.csr_array(to_hub[:, None])], [sp.csr_array(from_hub[None, :]), None]]
    return stationary_law(sp.block_array(blocks, format="csr"))
