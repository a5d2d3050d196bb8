"""A join that compares points by a rule: some of the cells, and of their points a shortlist."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import Probes
from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.cells import CellTable
from diffpeaks.neighbors.contract import Neighbors
from diffpeaks.neighbors.join import CellJoin, Queries, cell_blocks
from diffpeaks.neighbors.rules import Rule


class RuledJoin:
    """Finds the nearest points of those that a rule compares."""

    def __init__(self, join: CellJoin, n_neighbors: int) -> None:
        self._join, self._n_neighbors = join, n_neighbors

    def found(self, queries: Queries, rule: Rule) -> Neighbors:
        """The nearest points; missing ones are NO_POINT at infinity."""
        blocks = cell_blocks(queries.cell_of)
        probes = self._probes(rule, blocks.cells)
        return self._join.nearest_listed(queries, blocks, self._n_neighbors, rule.n_listed, probes)

    def limit(self, queries: Queries, rule: Rule) -> NDArray[np.float64]:
        """Squared distance, in scaled coordinates, to the last point that is listed."""
        blocks = cell_blocks(queries.cell_of)
        probes = self._probes(rule, blocks.cells)
        squares = self._join.nearest_in_coordinates(queries, blocks, rule.n_listed, probes)[1]
        return squares[:, -1].astype(np.float64) * self._join.table.coordinates.scale**2

    def _probes(self, rule: Rule, cells: NDArray[np.int32]) -> Probes:
        table = self._join.table
        return Probes(
            _cells_beside(table, cells, rule.n_beside(table.n_cells), self._join.n_threads),
            rule.n_probes,
            rule.spread_weight,
            rule.reach,
            min(rule.n_reached, table.n_cells),
            table.packed_centroids(rule.spread_weight),
            table.centroid_rows,
        )


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
