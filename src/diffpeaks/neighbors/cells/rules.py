"""Which cells a query visits, and what that finds and costs on a sample of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.cells.costs import LISTED, RANKING, REACHING, visit_cost

_BESIDE_PER_PROBE = 8  # cells that are ranked for each that is probed
_FEWEST_BESIDE = 64
_MOST_VISITED = 2048  # cells
_WORTH_REACHING = 2.0  # times what testing all cells costs: below, a rule with a reach saves too little
_REACHED = (64, 128, 256, 512, 1024, _MOST_VISITED)  # numbers of cells that are tried


class Rule(NamedTuple):
    """What a query compares: points in the nearest `n_probes` cells, and in others that it reaches.

    These are at most `n_reached`, those with the best scores up to `reach` (see probing.hpp). Of all these
    points the `n_listed` whose coordinates are nearest get their distances computed.
    """

    n_listed: int
    n_probes: int
    spread_weight: float = 0.0
    reach: float = 0.0
    n_reached: int = 0
    cost: float = 0.0  # of a query, in the seconds of costs.py

    def n_beside(self, n_cells: int) -> int:
        """Cells that are ranked to find the nearest."""
        return min(n_cells, max(_FEWEST_BESIDE, _BESIDE_PER_PROBE * self.n_probes))

    def relaxed(self, share: float) -> Rule:
        """More of everything, by that share; the reach grows little, because it tells much."""
        n_listed, n_probes, n_reached = (
            n + int(np.ceil(share * n)) for n in (self.n_listed, self.n_probes, self.n_reached)
        )
        reach, cost = (1 + share / 10) * self.reach, (1 + share) * self.cost
        return Rule(n_listed, n_probes, self.spread_weight, reach, n_reached, cost)


class CellFacts(NamedTuple):
    """What is known of cells beside their points.

    Coordinates are those of points, less a centre, times a scale; the spread is in squares of these.
    """

    center: NDArray[np.float64]
    scale: float
    centroids: NDArray[np.float64]
    sizes: NDArray[np.int64]
    spread: NDArray[np.float32]

    @property
    def n_coordinates(self) -> int:
        return self.centroids.shape[1]

    def squared_distances(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """From rows of coordinates to all centroids, scaled."""
        queries, centroids = (
            ((points - self.center) * self.scale).astype(np.float32) for points in (rows, self.centroids)
        )
        with ONE_BLAS_THREAD:
            products = queries @ centroids.T
        squared: NDArray[np.float32] = np.sum(queries**2, axis=1)[:, None] + np.sum(centroids**2, axis=1)
        squared -= 2 * products
        return squared


class CellDistances:
    """From some queries to all cells, and to those where their neighbours are.

    `homes` are the cells of the neighbours. Those that are not `listed` are lost, whichever cells are
    visited. Distances of shortlists are computed to points of `n_features`; zero without shortlists.
    """

    def __init__(
        self,
        cells: CellFacts,
        rows: NDArray[Any],
        homes: NDArray[np.int32],
        listed: NDArray[np.bool_],
        n_listed: int,
        n_features: int,
    ) -> None:
        self._n_listed, self._homes, self._listed = n_listed, homes, listed
        self._visit_cost = visit_cost(cells.n_coordinates)
        self._listing_cost = n_listed * n_features * LISTED
        self._squared: NDArray[np.float32] = cells.squared_distances(rows)
        self._sizes, self._spread = cells.sizes, cells.spread
        self._by_distance = self._visits(self._squared)

    def nearest_cells(self, recall: float) -> Rule:
        """The rule that visits a fixed number of cells."""
        n_cells = len(self._sizes)
        places = np.where(self._listed, self._by_distance.places, n_cells)
        n_needed = max(int(share_bound(places, recall)) + 1, self._by_distance.n_cells_for(self._n_listed))
        n_probes = min(n_cells, n_needed)
        n_compared = self._by_distance.n_compared(np.full(len(places), n_probes)) + self._ranking(n_probes)
        return Rule(self._n_listed, n_probes, cost=self._cost(n_compared))

    def cells_within(
        self, recall: float, n_probes: int, weight: float, limit: NDArray[np.float64]
    ) -> Iterator[Rule]:
        """Rules that visit few cells first and then those which may hold points nearer than a limit."""
        limit = np.maximum(limit, np.finfo(np.float32).tiny)  # zero among duplicates
        farther = self._squared + np.float32(weight) * self._spread
        score: NDArray[np.float32] = np.divide(farther, limit[:, None].astype(np.float32))
        np.put_along_axis(score, self._by_distance.order[:, :n_probes], -np.inf, axis=1)
        visits, scores = self._visits(score), np.take_along_axis(score, self._homes, axis=1)
        for n_reached in _REACHED:
            found = self._listed & (visits.places < n_reached)
            reach = float(share_bound(np.where(found, scores, np.inf), recall))
            if np.isfinite(reach):
                n_visited = np.minimum(np.sum(score <= max(reach, 0.0), axis=1), n_reached)
                n_compared = visits.n_compared(n_visited) + self._ranking(n_probes) + self._reaching
                yield Rule(
                    self._n_listed, n_probes, weight, max(reach, 0.0), n_reached, self._cost(n_compared)
                )

    def is_worth_reaching(self, rule: Rule) -> bool:
        """Whether a rule visits so much that testing all cells for their reach could save a part."""
        return rule.cost - self._listing_cost > _WORTH_REACHING * self._reaching * self._visit_cost

    @property
    def _reaching(self) -> float:
        """What it costs to test for all cells whether they are within reach, in visits of points."""
        return REACHING * len(self._sizes)

    def _cost(self, n_compared: float) -> float:
        return n_compared * self._visit_cost + self._listing_cost

    def _visits(self, score: NDArray[np.float32]) -> _Visits:
        n_cells = score.shape[1]
        first = np.argpartition(score, min(_MOST_VISITED, n_cells) - 1, axis=1)[:, :_MOST_VISITED]
        by_score = np.argsort(np.take_along_axis(score, first, axis=1), axis=1)
        order = np.take_along_axis(first, by_score, axis=1)
        places = np.full(score.shape, n_cells, np.int32)
        np.put_along_axis(places, order, np.arange(order.shape[1], dtype=np.int32)[None, :], axis=1)
        n_points = np.cumsum(self._sizes[order], axis=1)
        return _Visits(order, np.take_along_axis(places, self._homes, axis=1), n_points)

    def _ranking(self, n_probes: int) -> float:
        return RANKING * Rule(self._n_listed, n_probes).n_beside(len(self._sizes))


class _Visits(NamedTuple):
    """The first cells that each query visits, up to some number."""

    order: NDArray[np.int64]
    places: NDArray[np.int32]  # in that order, of the cells where the neighbours are, or behind all cells
    n_points: NDArray[np.int64]  # in the cells up to each

    def n_cells_for(self, n_points: int) -> int:
        """So many cells hold so many points, for whichever query."""
        return int(np.max(np.sum(self.n_points < n_points, axis=1))) + 1

    def n_compared(self, n_visited: NDArray[np.int64]) -> float:
        """Points that are compared, where each query visits so many cells."""
        last = np.minimum(n_visited, self.order.shape[1])
        n_points = np.take_along_axis(self.n_points, np.maximum(last - 1, 0)[:, None], axis=1)[:, 0]
        return float(np.mean(np.where(last > 0, n_points, 0) * (n_visited / np.maximum(last, 1))))


def share_bound(values: NDArray[Any], share: float) -> Any:
    """The smallest of the values that at least such a share of them does not exceed."""
    n_needed = int(np.ceil(share * values.size))
    return np.partition(values, n_needed - 1, axis=None)[n_needed - 1]
