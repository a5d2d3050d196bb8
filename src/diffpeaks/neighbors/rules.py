"""Which cells a query visits, and what that finds and costs on a sample of queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.cells import CellTable

_BESIDE_PER_PROBE = 8  # cells that are ranked for each that is probed
_FEWEST_BESIDE = 64
_RANKING, _REACHING = 3.0, 1.5  # what ranking a cell, or testing its reach, costs in comparisons with a point


class Rule(NamedTuple):
    """What a query compares: points in the nearest `n_probes` cells, then in those within `reach` (see probing.hpp).

    Of these points the `n_listed` whose coordinates are nearest get their distances computed.
    """

    n_listed: int
    n_probes: int
    spread_weight: float = 0.0
    reach: float = 0.0
    cost: float = 0.0  # comparisons with points, about

    def n_beside(self, n_cells: int) -> int:
        """Cells that are ranked to find the nearest."""
        return min(n_cells, max(_FEWEST_BESIDE, _BESIDE_PER_PROBE * self.n_probes))

    def relaxed(self) -> Rule:
        """A little more of everything."""
        n_listed, n_probes = (n + max(1, n // 6) for n in self[:2])
        return Rule(n_listed, n_probes, self.spread_weight, 1.02 * self.reach, 1.15 * self.cost)


class CellDistances:
    """From some queries to all cells, and to those where their neighbours are.

    `neighbors` that are not `listed` are lost, whichever cells are visited.
    """

    def __init__(
        self,
        table: CellTable,
        rows: NDArray[Any],
        neighbors: NDArray[np.int32],
        listed: NDArray[np.bool_],
        n_listed: int,
    ) -> None:
        coordinates, self._n_listed = table.coordinates, n_listed
        queries = (rows - coordinates.center) * coordinates.scale
        centroids = (table.centroids - coordinates.center) * coordinates.scale
        with ONE_BLAS_THREAD:
            products = queries @ centroids.T
        self._squared = np.sum(queries**2, axis=1)[:, None] + np.sum(centroids**2, axis=1) - 2 * products
        order = np.argsort(self._squared, axis=1, kind="stable")
        self._rank = np.empty_like(order)
        np.put_along_axis(self._rank, order, np.arange(table.n_cells)[None, :], axis=1)
        self._homes, self._listed = table.cell_of[neighbors], listed
        self._sizes, self._spread = table.sizes, table.packed.spread()

    def nearest_cells(self, recall: float) -> Rule:
        """The rule that visits a fixed number of cells."""
        n_cells = len(self._sizes)
        ranks = np.where(self._listed, np.take_along_axis(self._rank, self._homes, axis=1), n_cells)
        n_probes = min(n_cells, int(share_bound(ranks, recall)) + 1)
        return Rule(self._n_listed, n_probes, cost=self._cost(n_probes, self._rank < n_probes))

    def cells_within(self, recall: float, n_probes: int, weight: float, limit: NDArray[np.float64]) -> Rule:
        """The rule that visits few cells first and then those which may hold points nearer than a limit."""
        score = (self._squared + weight * self._spread) / limit[:, None]
        score[self._rank < n_probes] = -np.inf
        scores = np.where(self._listed, np.take_along_axis(score, self._homes, axis=1), np.inf)
        reach = max(float(share_bound(scores, recall)), 0.0)
        cost = self._cost(n_probes, score <= reach) + _REACHING * len(self._sizes)
        return Rule(self._n_listed, n_probes, weight, reach, cost)

    def _cost(self, n_probes: int, visited: NDArray[np.bool_]) -> float:
        ranked = Rule(self._n_listed, n_probes).n_beside(len(self._sizes))
        return float(np.mean(visited @ self._sizes)) + _RANKING * ranked


def share_bound(values: NDArray[Any], share: float) -> Any:
    """The smallest of the values that at least such a share of them does not exceed."""
    n_needed = int(np.ceil(share * values.size))
    return np.partition(values, n_needed - 1, axis=None)[n_needed - 1]
