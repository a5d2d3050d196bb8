"""Neighbours of queries among points in files: of each query's cells, those that it needs are read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import sort_rows
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.join import NO_TAILS, CellJoin, PlacedQueries
from diffpeaks.neighbors.cells.partition import Partition
from diffpeaks.neighbors.cells.ruled_join import RuledJoin, cells_beside
from diffpeaks.neighbors.cells.rules import CellFacts, Rule
from diffpeaks.neighbors.ragged_rows import first_of_rows
from diffpeaks.sharded.cells import PointsInCells

_MARGIN = 1 + 1e-3  # of squared distances in float: cells are read that are visited but for rounding
_COPIES = 3  # of points that are read: packed ones, and what is found


class Loaded(NamedTuple):
    """Some cells in memory, and the numbers of their points."""

    join: CellJoin
    numbers: NDArray[np.int32]

    def named(self, rows: RaggedRows) -> RaggedRows:
        """Rows with the numbers that points have among all."""
        is_missing = rows.indices == NO_POINT
        found = self.numbers.take(rows.indices, mode="clip")
        found[is_missing] = NO_POINT
        return rows._replace(indices=found)


class StoredJoin:
    """The join of queries with points in files. Its answers are those of a join in memory, of the same cells.

    Queries lie in the order of their cells.
    """

    n_listed_features = 0  # all features of all points are compared

    def __init__(self, points: PointsInCells, n_neighbors: int) -> None:
        self._points, self.n_neighbors = points, n_neighbors
        self.n_points, self.n_features = points.table.shape
        self._room = points.room // _COPIES

    @cached_property
    def cells(self) -> CellFacts:
        return self._points.facts()

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.array(self._points.starts.mapped())

    def homes_of(self, points: NDArray[Any]) -> NDArray[np.int32]:
        """The cells of some points."""
        found: NDArray[np.int64] = np.searchsorted(self._starts, points, side="right") - 1
        return found.astype(np.int32)

    def listed(self, queries: PlacedQueries, n_listed: int) -> NDArray[np.int32]:
        raise NotImplementedError("no shortlists are made of points in files")

    def queries(self, points: NDArray[np.int64]) -> PlacedQueries:
        """Some of the points, which ascend, as queries."""
        rows = self._points.table.at(points)
        return PlacedQueries(rows, rows, NO_TAILS, 0.0, self.homes_of(points))

    def found(self, queries: PlacedQueries, rule: Rule) -> RaggedRows:
        """The nearest points of those that the rule compares; missing ones are NO_POINT at infinity."""
        visited, limits = self._beside(queries, rule), None
        if rule.reach:
            limits = self.limit(queries, rule)
            fits = self.n_points * self._points.table.row_bytes <= self._room
            visited |= fits or self._reached(queries, rule, limits)
        best: RaggedRows | None = None
        for loaded in self._chunks(visited):
            ruled = RuledJoin(loaded.join, self.n_neighbors)
            rows = loaded.named(ruled.found(queries, rule, limits))
            best = rows if best is None else merged(best, rows, self.n_neighbors)
        assert best is not None
        return best

    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]:
        """Squared distance, scaled, to the last point that is found in the nearest cells."""
        nearest = Rule(self.n_neighbors, rule.n_probes)
        best: NDArray[Any] | None = None
        for loaded in self._chunks(self._beside(queries, nearest)):
            squares = RuledJoin(loaded.join, self.n_neighbors).squares(queries, nearest)
            both = squares if best is None else np.sort(np.concatenate([best, squares], axis=1), axis=1)
            best = both[:, : self.n_neighbors]
        assert best is not None
        return best[:, -1].astype(np.float64) * self.cells.scale**2

    def nearest(self, queries: PlacedQueries) -> RaggedRows:
        """The nearest points of all."""
        limit = self.limit(queries, Rule(self.n_neighbors, self._n_cells_for_all()))
        wanted = self._may_hold_nearer(queries, limit)
        best: RaggedRows | None = None
        for loaded in self._chunks(wanted):
            rows = loaded.named(loaded.join.nearest(queries, self.n_neighbors))
            best = rows if best is None else merged(best, rows, self.n_neighbors)
        assert best is not None
        return best

    def _n_cells_for_all(self) -> int:
        """So many of the nearest cells hold as many points as are sought, mostly."""
        sizes = self.cells.sizes
        return min(len(sizes), int(np.ceil(2 * self.n_neighbors / max(1.0, float(np.median(sizes))))))

    def _beside(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.bool_]:
        """Which cells may be among the nearest of some query."""
        homes, n_cells = np.unique(queries.cell_of), len(self.cells.sizes)
        beside = np.zeros(n_cells, bool)
        beside[cells_beside(self.cells, homes, rule.n_beside(n_cells), 1)] = True
        return beside

    def _reached(self, queries: PlacedQueries, rule: Rule, limits: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which cells some query reaches, by how far its neighbours are at most."""
        join = self._loaded(np.unique(queries.cell_of[:1])).join  # any: it is asked for all cells
        return RuledJoin(join, self.n_neighbors).reached(queries, rule, limits)

    def _may_hold_nearer(self, queries: PlacedQueries, limit: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which cells may hold points within a squared distance of some query."""
        radius, wanted = np.array(self._points.radius.mapped()), np.zeros(len(self.cells.sizes), bool)
        rounding = 1e-5 * np.sqrt(self.n_features)
        for part in self._parts(len(limit)):
            squared = self.cells.squared_distances(queries.rows[part])
            nearest = np.sqrt(np.maximum(squared, 0)) - radius - rounding
            wanted |= np.any(nearest <= np.sqrt(limit[part] * _MARGIN)[:, None], axis=0)
        return wanted & (self.cells.sizes > 0)

    def _parts(self, n_queries: int) -> Iterator[slice]:
        """Queries whose distances to all cells fit into memory."""
        step = max(1, self._room // (16 * len(self.cells.sizes)))
        return (slice(first, min(first + step, n_queries)) for first in range(0, n_queries, step))

    def _chunks(self, cells: NDArray[np.bool_]) -> Iterator[Loaded]:
        """Cells in memory, as many together as fit; at least one."""
        which = np.flatnonzero(cells & (self.cells.sizes > 0))
        held = np.cumsum(self.cells.sizes[which]) * self._points.table.row_bytes
        chunk = (held - 1) // max(1, self._room)
        for some in np.split(which, np.flatnonzero(np.diff(chunk)) + 1):
            yield self._loaded(some)

    def _loaded(self, cells: NDArray[np.int64]) -> Loaded:
        first, last = self._starts[cells], self._starts[cells + 1]
        points = self._points.table.runs(first, last)
        grid = self._points.grid.opened()
        partition = Partition(grid.search, np.repeat(cells.astype(np.int32), last - first))
        join = CellJoin(self._points.space(points), grid.coordinates(points), partition, 1)
        join.packed.set_spread(self.cells.spread)
        lengths = last - first
        skipped = np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        return Loaded(join, (np.arange(len(skipped)) + skipped).astype(np.int32))


def merged(one: RaggedRows, other: RaggedRows, n_neighbors: int) -> RaggedRows:
    """The nearest points of two lists for each query."""
    both = [
        np.concatenate([rows.reshape(-1, n_neighbors) for rows in pair], axis=1)
        for pair in ((one.indices, other.indices), (one.distances, other.distances))
    ]
    indptr = np.arange(len(both[0]) + 1, dtype=np.int64) * 2 * n_neighbors
    rows = RaggedRows(indptr, both[0].ravel(), both[1].ravel())
    sort_rows(rows.indptr, rows.indices, rows.distances, 1)
    return first_of_rows(rows, n_neighbors)
