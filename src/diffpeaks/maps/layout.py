"""A map laid out from a neighbour graph: neighbours pull each other together, all points push others away.

These are the forces of t-SNE, with the walk of the graph in the place of perplexities. Nothing is drawn at
random: the push of all points is the slope of a potential, which is convolved on a grid, so that it is exact
up to the spacing of the grid, and every point is moved from where all were before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._native import count_on_grid, n_parts_of, next_steps, potential_at
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, row_prefixes
from diffpeaks.maps.start import diffusion_start
from diffpeaks.progress import stage

N_PULLING = 15  # nearest neighbours that pull a point
_RATE = 4.0  # of the gradient of t-SNE
_MOMENTUM = 0.8
# Steps, and how much more than in the end neighbours pull: first they gather, then points take their room.
_PHASES = ((100, 4.0), (200, 1.0))
# The middle pulls by this times the distance over the number of points, so that points without neighbours do
# not leave; others hardly feel it.
_GRAVITY = 0.1
# Lengths are in units of the distance at which the potential of a point is half of what it is at its place.
_LONGEST_STEP = 5.0
_SPACING = 0.5  # of the grid: forces are known to a few percent of those of a near pair
_MOST_NODES = 800  # of the grid along an axis; a wider map has a wider spacing
_NODES_ROUNDED = 32  # so that a map that grows seldom needs another kernel
_MARGIN = 3  # nodes around the places that splines take


class Grid(NamedTuple):
    """Where the nodes of a square grid are, as the compiled core takes it."""

    low_x: float
    low_y: float
    spacing: float
    width: int

    @classmethod
    def over(cls, places: NDArray[np.float64]) -> Grid:
        # axis by axis, which is much faster than over rows of two
        low_x, low_y = (float(along.min()) for along in places.T)
        extent = max(float(along.max()) - low for along, low in zip(places.T, (low_x, low_y), strict=True))
        spacing = max(_SPACING, extent / _MOST_NODES)
        width = int(extent / spacing) + 2 * _MARGIN
        width += -width % _NODES_ROUNDED
        before = (_MARGIN - 1) * spacing
        return cls(low_x - before, low_y - before, spacing, width)


class Repulsion:
    """The potential of all points, the sum of 1 / (1 + distance^2), and its slope."""

    def __init__(self, n_places: int, n_threads: int) -> None:
        self._n_threads = n_threads
        self._found = np.empty((n_places, 3))
        self._kernel_of: tuple[int, float] | None = None

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Potential and slopes at each place, the place's own potential, 1, with it."""
        grid = Grid.over(places)
        counts = np.empty((grid.width, grid.width))
        sums = np.empty(n_parts_of(len(places)) * counts.size)
        count_on_grid(places, grid, sums, counts, self._n_threads)
        # twice as wide: what leaves the grid on one side must not come back on the other
        size = scipy.fft.next_fast_len(2 * grid.width, real=True)
        waves = scipy.fft.rfft2(counts, (size, size))
        waves *= self._kernel(size, grid.spacing)
        potential = scipy.fft.irfft2(waves, (size, size), overwrite_x=True)
        potential_at(places, grid, potential, self._found, self._n_threads)
        return self._found

    def _kernel(self, size: int, spacing: float) -> NDArray[np.float64]:
        """The kernel's waves, less what splines smooth when points go to nodes and when values come back."""
        if self._kernel_of != (size, spacing):
            nodes = np.arange(size)
            along = (spacing * np.minimum(nodes, size - nodes)) ** 2
            smoothed = ((2 + np.cos(2 * np.pi * nodes / size)) / 3) ** 2
            waves = scipy.fft.rfft2(1 / (1 + along[:, None] + along)).real
            self._waves = waves / (smoothed[:, None] * smoothed[: waves.shape[1]])
            self._kernel_of = size, spacing
        return self._waves


def laid_out(graph: NeighborGraph, n_threads: int = 1) -> NDArray[np.float64]:
    """Two coordinates for each point of a graph, the same on any number of threads."""
    pulls = walk_both_ways(graph)
    start = diffusion_start(pulls)
    order = _along_a_curve(start)  # neighbours lie together in memory too
    places = np.empty_like(start)
    places[order] = descended(pulls[order][:, order], start[order], n_threads)
    return places - places.mean(axis=0)


def walk_both_ways(graph: NeighborGraph) -> sp.csr_array:
    """The mean of the walk to the nearest neighbours, each as likely, and of its reverse."""
    lengths = np.minimum(graph.degrees, N_PULLING + 1)
    indptr, indices, _ = row_prefixes(graph.indptr, lengths, graph.indices, graph.distances)
    others = np.ones(len(indices), bool)
    others[indptr[:-1]] = False  # rows begin with the point itself
    n_others = lengths - 1
    chances = np.repeat((0.5 / np.maximum(n_others, 1)).astype(np.float32), n_others)
    indptr = indptr - np.arange(len(indptr))
    walk = sp.csr_array((chances, indices[others], indptr), (graph.n_samples, graph.n_samples))
    both: sp.csr_array = (walk + walk.T).tocsr()
    both.sort_indices()
    return both


def descended(pulls: sp.csr_array, start: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """The places where forces have led from the start."""
    n_samples = len(start)
    exaggerations = [value for n_steps, value in _PHASES for _ in range(n_steps)]
    rows = RaggedRows(pulls.indptr.astype(np.int64), pulls.indices.astype(np.int32, copy=False), pulls.data)
    places, steps, gains = start.copy(), np.zeros_like(start), np.ones_like(start)
    repulsion = Repulsion(n_samples, n_threads)
    with stage("layout", len(exaggerations)) as done:
        for exaggeration in exaggerations:
            potential = repulsion.at(places)
            of_others = max(float(potential[:, 0].sum()) - n_samples, 1.0)
            # half of the slope of 1 / (1 + d^2) is the push d / (1 + d^2)^2
            push = _RATE / exaggeration * n_samples / of_others / 2
            descent = _RATE, _GRAVITY / n_samples, push, _MOMENTUM, _LONGEST_STEP
            next_steps(rows, pulls.data, places, potential, descent, steps, gains, n_threads)
            places += steps
            done(1)
    return places


def _along_a_curve(places: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places in the order of a curve that fills the plane: the bits of both ranks in turns."""
    keys = np.zeros(len(places), np.uint64)
    for axis in range(2):
        rank = np.empty(len(places), np.uint64)
        rank[np.argsort(places[:, axis], kind="stable")] = np.arange(len(places), dtype=np.uint64)
        for bit in range(32):
            keys |= (rank >> np.uint64(bit) & np.uint64(1)) << np.uint64(2 * bit + axis)
    return np.argsort(keys, kind="stable")
