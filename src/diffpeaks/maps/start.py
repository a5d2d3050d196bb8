"""Where a layout starts: diffusion coordinates, the functions that the walk on the graph changes least.

In each component of the graph they are found apart, by powers of the walk; components lie side by side.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

# Chebyshev polynomials of the walk, by their degree and by the eigenvalue up to which they stay below one.
# Above it they part eigenvalues as well as so many steps of the walk as their degree squared.
_FILTERS = ((10, 0.5), (32, 0.95))
_SPREAD = 0.025  # standard deviation of a component along an axis, over the root of its size
_ROUNDING = 1e-9
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def diffusion_start(walk: sp.csr_array) -> NDArray[np.float64]:
    """Two coordinates for each point from the symmetric weights of a walk, on any graph."""
    parts = Components(walk)
    transition = parts.transition(walk)
    coordinates = np.random.default_rng(0).normal(size=(walk.shape[0], 2))
    parts.make_orthonormal(coordinates)
    for degree, border in _FILTERS:
        coordinates = chebyshev(transition, coordinates, degree, border)
        parts.make_orthonormal(coordinates)
    return parts.side_by_side(coordinates)


def chebyshev(
    transition: sp.csr_array, values: NDArray[np.float64], degree: int, border: float
) -> NDArray[np.float64]:
    """The Chebyshev polynomial of a walk, for eigenvalues from -1 to the border, applied to values."""
    middle, half = (border - 1) / 2, (border + 1) / 2
    before, now = values, (transition @ values - middle * values) / half
    for _ in range(degree - 1):
        before, now = now, 2 / half * (transition @ now - middle * now) - before
    return now


class Components:
    """The connected components of a graph: sums over each, weighted by the volume of its points."""

    def __init__(self, weights: sp.csr_array) -> None:
        self.n, self.of = connected_components(weights, directed=False)
        self.volume = weights.sum(axis=1, dtype=np.float64)
        self.volume[self.volume == 0] = 1.0  # a point without neighbours is a component of its own
        self.sizes = np.bincount(self.of)
        self._volumes = np.bincount(self.of, self.volume)

    def transition(self, weights: sp.csr_array) -> sp.csr_array:
        return sp.csr_array(sp.diags_array(1 / self.volume) @ weights)

    def make_orthonormal(self, coordinates: NDArray[np.float64]) -> None:
        """In each component with mean zero, mean square one, and the second not correlated with the first."""
        first, second = coordinates.T
        first -= self._mean(first)
        first *= self._inverse_length(first)
        second -= self._mean(second)
        second *= self._inverse_length(second)
        second -= self._mean(first * second) * first
        second *= self._inverse_length(second)

    def side_by_side(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Components as wide as the roots of their sizes, the largest in the middle, others around it."""
        order = np.argsort(-self.sizes, kind="stable")
        place = np.empty(self.n, np.int64)
        place[order] = np.arange(self.n)
        inside = np.cumsum(self.sizes[order])[place] - self.sizes  # points that lie nearer to the middle
        angle = _GOLDEN_ANGLE * place
        middles = np.sqrt(inside)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        within = np.sqrt(self.sizes[self.of])[:, None] * coordinates
        # a disk whose points have a standard deviation of one along each axis has the radius two
        return _SPREAD * (within + 2 * middles[self.of])

    def _mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.bincount(self.of, self.volume * values, self.n) / self._volumes)[self.of]

    def _inverse_length(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Zero where nothing but rounding is left, as in components of two points."""
        length = np.sqrt(self._mean(values * values))
        return np.divide(1, length, out=np.zeros_like(length), where=length > _ROUNDING)
