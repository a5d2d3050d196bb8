"""A join that compares points by a rule: some of the cells, and of their points a shortlist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import Probes
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.blas import threads_without_blas
from diffpeaks.neighbors.cells.join import (
    BLOCK_QUERIES,
    Blocks,
    CellJoin,
    PlacedQueries,
    even_blocks,
    members_by_cell,
)
from diffpeaks.neighbors.cells.rules import CellFacts, Rule


class Known(NamedTuple):
    """What is known of queries before their join, so that some cells can be visited apart from others.

    Attributes
    ----------
    limits : array of shape (n_queries,)
        How far the neighbours are at most, in squares of scaled coordinates.
    last_scores : array of shape (n_queries,) or None
        The score of the last cell that a query reaches.
    """

    limits: NDArray[np.float64]
    last_scores: NDArray[np.float64] | None = None

    def some(self, which: NDArray[Any]) -> Known:
        return Known(self.limits[which], None if self.last_scores is None else self.last_scores[which])


class RuledJoin:
    """Finds the nearest points of those that a rule compares."""

    def __init__(self, join: CellJoin, n_neighbors: int) -> None:
        self._join, self.n_neighbors = join, n_neighbors
        self._partition: Any = join.cells  # a rule says which of several cells are visited
        self.n_points, self.n_features = join.space.points.shape
        self.n_listed_features = self.n_features if join.shortlists else 0

    @cached_property
    def cells(self) -> CellFacts:
        own = self._join.coordinates
        return CellFacts(
            own.center, own.scale, self._partition.centroids, self._join.sizes, self._join.packed.spread()
        )

    def homes_of(self, points: NDArray[np.int32]) -> NDArray[np.int32]:
        """The cells of some points."""
        found: NDArray[np.int32] = self._partition.cell_of[points]
        return found

    def listed(self, queries: PlacedQueries, n_listed: int) -> NDArray[np.int32]:
        """The points whose coordinates are nearest, of all."""
        blocks = even_blocks(queries.cell_of)
        return self._join.nearest_in_coordinates(queries, blocks, n_listed, Probes())[0]

    def found(self, queries: PlacedQueries, rule: Rule, known: Known | None = None) -> RaggedRows:
        """The nearest points; missing ones are NO_POINT at infinity."""
        blocks = cell_blocks(queries.cell_of)
        probes = self._probes(rule, blocks.cells, known)
        return self._join.nearest_listed(queries, blocks, self.n_neighbors, rule.n_listed, probes)

    def found_by_each(self, queries: PlacedQueries, rules: Sequence[Rule]) -> Iterator[RaggedRows]:
        """What each of several rules finds, one after the other as they are asked for."""
        return (self.found(queries, rule) for rule in rules)

    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]:
        """Squared distance, in scaled coordinates, to the last point that is listed."""
        blocks = cell_blocks(queries.cell_of)
        probes = self._probes(rule, blocks.cells)
        squares = self._join.nearest_in_coordinates(queries, blocks, rule.n_listed, probes)[1]
        return squares[:, -1].astype(np.float64) * self._join.coordinates.scale**2

    def visited(
        self, queries: PlacedQueries, rule: Rule, limits: NDArray[np.float64]
    ) -> tuple[Blocks, NDArray[np.bool_], Known]:
        """The queries in blocks, the cells that each block visits, and what is known of the queries then."""
        blocks = cell_blocks(queries.cell_of)
        probes = self._probes(rule, blocks.cells, Known(limits))
        visited, last_scores = self._join.visited(queries, blocks, probes)
        return blocks, visited, Known(limits, last_scores if rule.reach else None)

    def _probes(self, rule: Rule, cells: NDArray[np.int32], known: Known | None = None) -> Probes:
        join, partition = self._join, self._partition
        n_cells, weight = len(partition.centroids), np.float32(rule.spread_weight)
        probes = Probes(
            cells_beside(self.cells, cells, rule.n_beside(n_cells), join.n_threads),
            rule.n_probes,
            rule.spread_weight,
            rule.reach,
            min(rule.n_reached, n_cells),
            partition.packed_centroids(weight * join.packed.spread() if weight else None),
            partition.centroid_rows,
        )
        if known is not None:
            probes.set_limits(known.limits)
            if known.last_scores is not None:
                probes.set_last_scores(known.last_scores)
        return probes


def cell_blocks(cell_of: NDArray[np.int32]) -> Blocks:
    """A block for the queries in each cell, or several if they are many."""
    order = members_by_cell(cell_of)
    ordered = cell_of[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(np.append(first, len(order)))
    n_parts = -(-lengths // BLOCK_QUERIES)
    part = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    starts = np.repeat(first, n_parts) + part * BLOCK_QUERIES
    return Blocks(np.append(starts, len(order)).astype(np.int64), ordered[starts], order)


def cells_beside(
    known: CellFacts, cells: NDArray[np.int32], n_beside: int, n_threads: int
) -> NDArray[np.int32]:
    """For each of some cells those with the nearest centroids, itself first."""
    centroids = ((known.centroids - known.center) * known.scale).astype(np.float32)
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

    with threads_without_blas(n_threads) as pool:
        list(pool.map(fill, range(0, len(distinct), 256)))
    return beside[back]
