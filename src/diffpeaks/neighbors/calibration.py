"""How many cells a stated recall needs: calibrated on a sample of the very data, measured on another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import Probes
from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.cells import CellTable
from diffpeaks.neighbors.contract import Neighbors
from diffpeaks.neighbors.join import CellJoin, Queries, cell_blocks

SAMPLE = 512  # queries to calibrate, and as many to measure
_FIRST_PROBES = (4, 8, 16)
_MANY_PROBES = 48  # of the nearest cells: with fewer, another rule saves less than trying it costs
_SPREAD_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BESIDE_PER_PROBE = 8  # cells that are ranked for each that is probed
_FEWEST_BESIDE = 64
_RANKING, _REACHING = 3.0, 1.5  # what ranking a cell, or testing its reach, costs in comparisons with a point
_MARGIN = 0.1  # of what may be missed: kept back for the error of the sample
_TRIES = 8


class Rule(NamedTuple):
    """Which cells a query visits: the nearest `n_probes`, then those within `reach` (see probing.hpp)."""

    n_probes: int
    spread_weight: float = 0.0
    reach: float = 0.0
    cost: float = 0.0  # comparisons with points, about

    def n_beside(self, n_cells: int) -> int:
        """Cells that are ranked to find the nearest."""
        return min(n_cells, max(_FEWEST_BESIDE, _BESIDE_PER_PROBE * self.n_probes))

    def relaxed(self) -> Rule:
        """A little more of everything."""
        n_probes = self.n_probes + max(1, self.n_probes // 6)
        return Rule(n_probes, self.spread_weight, 1.02 * self.reach, 1.15 * self.cost)


class Truth(NamedTuple):
    """Some of the points as queries, with their exact neighbours."""

    queries: Queries
    neighbors: NDArray[np.int32]  # without the query itself

    @classmethod
    def of(cls, join: CellJoin, which: NDArray[Any], n_neighbors: int) -> Truth:
        queries = join.queries(join.space.points).some(which)
        rows = join.nearest(queries, n_neighbors)
        return cls(queries, rows.indices.reshape(len(which), n_neighbors)[:, 1:])

    def recall(self, rows: Neighbors) -> NDArray[np.float64]:
        """The share of each query's neighbours that the rows hold."""
        found = rows.indices.reshape(len(self.neighbors), -1)
        shares = [np.isin(true, row).mean() for true, row in zip(self.neighbors, found, strict=True)]
        return np.array(shares)


class CalibratedJoin:
    """A join that visits only as many cells as a recall needs."""

    def __init__(self, join: CellJoin, recall: float, n_neighbors: int) -> None:
        self._join, self._n_neighbors = join, n_neighbors
        which = np.random.RandomState(0).choice(len(join.space.points), 2 * SAMPLE, replace=False)
        calibration = Truth.of(join, np.sort(which[:SAMPLE]), n_neighbors)
        check = Truth.of(join, np.sort(which[SAMPLE:]), n_neighbors)
        self.rule = self._cheapest_rule(calibration, recall + _MARGIN * (1 - recall))
        for _ in range(_TRIES):
            shares = check.recall(self.found(check.queries, self.rule))
            if np.mean(shares) >= recall:
                break
            self.rule = self.rule.relaxed()
        self.recall = float(np.mean(shares))
        self.recall_error = float(1.96 * np.std(shares) / np.sqrt(SAMPLE))
        self.reached = self.recall >= recall

    def found(self, queries: Queries, rule: Rule) -> Neighbors:
        """The nearest points in the cells that the rule visits."""
        table, blocks = self._join.table, cell_blocks(queries.cell_of)
        beside = _cells_beside(table, blocks.cells, rule.n_beside(table.n_cells), self._join.n_threads)
        centroids = table.packed_centroids(rule.spread_weight)
        probes = Probes(beside, rule.n_probes, rule.spread_weight, rule.reach, centroids, table.centroid_rows)
        return self._join.nearest_among(queries, blocks, self._n_neighbors, probes)

    def _cheapest_rule(self, truth: Truth, recall: float) -> Rule:
        distances = _CellDistances(self._join.table, truth)
        rules = [distances.nearest_cells(recall)]
        for n_probes in _FIRST_PROBES if rules[0].n_probes > _MANY_PROBES else ():
            rows = self.found(truth.queries, Rule(n_probes))
            last = rows.distances.reshape(len(truth.neighbors), -1)[:, -1]
            limit = self._join.space.limit(last.astype(np.float64)) * distances.scale**2
            rules += [distances.cells_within(recall, n_probes, w, limit) for w in _SPREAD_WEIGHTS]
        return min(rules, key=lambda rule: rule.cost)


class _CellDistances:
    """From the queries of a sample to all cells, and to those where their neighbours are."""

    def __init__(self, table: CellTable, truth: Truth) -> None:
        coordinates, self.scale = table.coordinates, table.coordinates.scale
        queries = (truth.queries.table - coordinates.center) * coordinates.scale
        centroids = (table.centroids - coordinates.center) * coordinates.scale
        with ONE_BLAS_THREAD:
            products = queries @ centroids.T
        self._squared = np.sum(queries**2, axis=1)[:, None] + np.sum(centroids**2, axis=1) - 2 * products
        order = np.argsort(self._squared, axis=1, kind="stable")
        self._rank = np.empty_like(order)
        np.put_along_axis(self._rank, order, np.arange(table.n_cells)[None, :], axis=1)
        self._homes = table.cell_of[truth.neighbors]
        self._sizes, self._spread = table.sizes, table.packed.spread()

    def nearest_cells(self, recall: float) -> Rule:
        """The rule that visits a fixed number of cells."""
        ranks = np.sort(np.take_along_axis(self._rank, self._homes, axis=1), axis=None)
        n_probes = int(ranks[_needed(len(ranks), recall)]) + 1
        return Rule(n_probes, cost=self._cost(n_probes, self._rank < n_probes))

    def cells_within(self, recall: float, n_probes: int, weight: float, limit: NDArray[np.float64]) -> Rule:
        """The rule that visits few cells first and then those which may hold nearer points."""
        score = (self._squared + weight * self._spread) / limit[:, None]
        score[self._rank < n_probes] = -np.inf
        scores = np.sort(np.take_along_axis(score, self._homes, axis=1), axis=None)
        reach = max(float(scores[_needed(len(scores), recall)]), 0.0)
        cost = self._cost(n_probes, score <= reach) + _REACHING * len(self._sizes)
        return Rule(n_probes, weight, reach, cost)

    def _cost(self, n_probes: int, visited: NDArray[np.bool_]) -> float:
        ranked = Rule(n_probes).n_beside(len(self._sizes))
        return float(np.mean(visited @ self._sizes)) + _RANKING * ranked


def _needed(n_values: int, share: float) -> int:
    """Which of the ascending values must be reached to have that share of them."""
    return min(n_values - 1, max(0, int(np.ceil(share * n_values)) - 1))


def _cells_beside(
    table: CellTable, cells: NDArray[np.int32], n_beside: int, n_threads: int
) -> NDArray[np.int32]:
    """For each of some cells those with the nearest centroids, itself first."""
    centroids = ((table.centroids - table.coordinates.center) * table.coordinates.scale).astype(np.float32)
    half_squares = np.einsum("ij,ij->i", centroids, centroids) / 2
    distinct, back = np.unique(cells, return_inverse=True)
    beside = np.empty((len(distinct), n_beside), np.int32)

    def fill(first: int) -> None:
        part = slice(first, first + 256)
        far = half_squares - centroids[distinct[part]] @ centroids.T
        np.put_along_axis(far, distinct[part, None], -np.inf, axis=1)
        nearest = np.argpartition(far, n_beside - 1, axis=1)[:, :n_beside]
        order = np.lexsort((nearest, np.take_along_axis(far, nearest, axis=1)), axis=1)
        beside[part] = np.take_along_axis(nearest, order, axis=1)

    with ONE_BLAS_THREAD, ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill, range(0, len(distinct), 256)))
    return beside[back]
