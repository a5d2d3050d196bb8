"""Neighbours of queries among points in files: of each query's cells, those that it needs are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import limits_at, sort_rows
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.join import NO_TAILS, Blocks, CellJoin, PlacedQueries, as_rows
from diffpeaks.neighbors.cells.partition import CentroidSearch, Partition
from diffpeaks.neighbors.cells.ruled_join import Known, RuledJoin
from diffpeaks.neighbors.cells.rules import CellFacts, Rule
from diffpeaks.neighbors.ragged_rows import first_of_rows
from diffpeaks.sharded.cells import PointsInCells

_MARGIN = 1 + 1e-3  # of squared distances in float: cells are read that are visited but for rounding
_COPIES = 3  # of points that are read: packed ones, and what is found


class Loaded(NamedTuple):
    """Some cells in memory, and the numbers of their points."""

    join: CellJoin
    numbers: NDArray[np.int32]

    def found(
        self, queries: PlacedQueries, n_neighbors: int, rule: Rule, known: Known | None = None
    ) -> RaggedRows:
        """The nearest points of those that the rule compares."""
        return self.named(RuledJoin(self.join, n_neighbors).found(queries, rule, known))

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
        self._all_fit = self.n_points * points.table.row_bytes <= self._room

    @cached_property
    def _measure(self) -> Any:
        return self._points.space(self._points.table.between(0, 1)).measure

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
        return self.found_by_each(queries, [rule])[0]

    def found_by_each(self, queries: PlacedQueries, rules: Sequence[Rule]) -> list[RaggedRows]:
        """What each of several rules finds, which all have a reach or none; cells are read once for all."""
        k = self.n_neighbors
        if self._all_fit:
            return [self._everything.found(queries, k, rule) for rule in rules]
        if rules[0].reach:
            limits = self._limit_by_each(queries, rules)
        else:
            limits = [np.full(len(queries.rows), np.inf) for _ in rules]
        blocks, visited, known = self._visited(queries, rules, limits)
        best = [NearestRows(len(queries.rows), k, queries.rows.dtype) for _ in rules]
        for loaded, asking in self._visits(queries, blocks, visited):
            some = queries.some(asking)
            for rule, of_rule, nearest in zip(rules, known, best, strict=True):
                nearest.keep(asking, loaded.found(some, k, rule, of_rule.some(asking)))
                if not rule.reach:  # which says itself how far cells are visited
                    of_rule.limits[asking] = self._limit_at(nearest.distances[asking, -1])
        return [nearest.rows() for nearest in best]

    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]:
        """Squared distance, scaled, to the last point that is found in the nearest cells."""
        return self._limit_by_each(queries, [rule])[0]

    def _limit_by_each(self, queries: PlacedQueries, rules: Sequence[Rule]) -> list[NDArray[np.float64]]:
        found = self.found_by_each(queries, [Rule(self.n_neighbors, rule.n_probes) for rule in rules])
        return [self._limit_at(rows.distances[rows.indptr[1:] - 1]) for rows in found]

    def _limit_at(self, distances: NDArray[Any]) -> NDArray[np.float64]:
        """Squares, scaled, beyond which no point has such a distance or less."""
        limits = np.empty(len(distances))
        limits_at(np.ascontiguousarray(distances), self._measure, self.cells.scale, limits)
        return limits

    def nearest(self, queries: PlacedQueries) -> RaggedRows:
        """The nearest points of all."""
        limit = self.limit(queries, Rule(self.n_neighbors, self._n_cells_for_all()))
        wanted = self._may_hold_nearer(queries, limit)
        best: RaggedRows | None = None
        for cells in self._chunks(wanted, queries):
            loaded = self._loaded(cells)
            rows = loaded.named(loaded.join.nearest(queries, self.n_neighbors))
            best = rows if best is None else merged(best, rows, self.n_neighbors)
        assert best is not None
        return best

    def _n_cells_for_all(self) -> int:
        """So many of the nearest cells hold as many points as are sought, mostly."""
        sizes = self.cells.sizes
        return min(len(sizes), int(np.ceil(2 * self.n_neighbors / max(1.0, float(np.median(sizes))))))

    def _visited(
        self, queries: PlacedQueries, rules: Sequence[Rule], limits: Sequence[NDArray[np.float64]]
    ) -> tuple[Blocks, NDArray[np.bool_], list[Known]]:
        """The cells that each block of queries visits by some rule, and what each rule makes known."""
        cells = queries.cell_of[:1].astype(np.int64)  # any: it is asked for all cells
        ruled = RuledJoin(self._join_of(cells, self._points.grid.opened().search), self.n_neighbors)
        marked = [ruled.visited(queries, *of_rule) for of_rule in zip(rules, limits, strict=True)]
        blocks, visited, known = zip(*marked, strict=True)
        return blocks[0], np.any(visited, axis=0), list(known)

    def _visits(
        self, queries: PlacedQueries, blocks: Blocks, visited: NDArray[np.bool_]
    ) -> Iterator[tuple[Loaded, NDArray[np.int64]]]:
        """The cells that are visited, as many together as fit, and which queries visit some of them."""
        for cells in self._chunks(np.any(visited, axis=0), queries):
            asks = np.repeat(visited[:, cells].any(axis=1), np.diff(blocks.starts))
            yield self._loaded(cells), np.sort(blocks.order[asks])

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

    def _chunks(self, cells: NDArray[np.bool_], queries: PlacedQueries) -> Iterator[NDArray[np.int64]]:
        """As many cells together as fit into memory, at least one; those around the queries first."""
        which = np.flatnonzero(cells & (self.cells.sizes > 0))
        which = which[np.argsort(self._far_from(queries)[which], kind="stable")]
        held = np.cumsum(self.cells.sizes[which]) * self._points.table.row_bytes
        chunk = (held - 1) // max(1, self._room)
        for some in np.split(which, np.flatnonzero(np.diff(chunk)) + 1):
            yield np.sort(some)

    def _far_from(self, queries: PlacedQueries) -> NDArray[np.float64]:
        """How far each cell is from those of the queries, which are nowhere far from themselves."""
        homes, centroids = np.unique(queries.cell_of), self.cells.centroids
        squares = np.sum((centroids - centroids[homes].mean(axis=0)) ** 2, axis=1)
        squares[homes] = -1.0
        return squares

    @cached_property
    def _everything(self) -> Loaded:
        cells = np.flatnonzero(self.cells.sizes)
        return Loaded(self._join_of(cells, self._points.grid.opened().search), self._numbers(cells))

    def _loaded(self, cells: NDArray[np.int64]) -> Loaded:
        """Some cells, of which alone queries know whether they reach them."""
        search = self._points.grid.opened().search.among(cells)
        return Loaded(self._join_of(cells, search), self._numbers(cells))

    def _join_of(self, cells: NDArray[np.int64], search: CentroidSearch) -> CellJoin:
        """The points of some cells; queries reach those whose centroids are searched."""
        first, last = self._starts[cells], self._starts[cells + 1]
        points = self._points.table.runs(first, last)
        partition = Partition(search, np.repeat(cells.astype(np.int32), last - first))
        coordinates = self._points.grid.opened().coordinates(points)
        join = CellJoin(self._points.space(points), coordinates, partition, 1)
        join.packed.set_spread(self.cells.spread)
        return join

    def _numbers(self, cells: NDArray[np.int64]) -> NDArray[np.int32]:
        """Of the points of some cells among all."""
        first, last = self._starts[cells], self._starts[cells + 1]
        lengths = last - first
        skipped = np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        return (np.arange(len(skipped)) + skipped).astype(np.int32)


class NearestRows:
    """The nearest points of each query so far; missing ones are NO_POINT at infinity."""

    def __init__(self, n_queries: int, n_neighbors: int, dtype: Any) -> None:
        self.n_neighbors = n_neighbors
        self.indices = np.full((n_queries, n_neighbors), NO_POINT, np.int32)
        self.distances = np.full((n_queries, n_neighbors), np.inf, dtype)

    def keep(self, which: NDArray[np.int64], found: RaggedRows) -> None:
        """Keep what was found for some queries."""
        indices, distances = (
            values.reshape(-1, self.n_neighbors) for values in (found.indices, found.distances)
        )
        is_first, is_new = self.indices[which, 0] == NO_POINT, indices[:, 0] != NO_POINT
        self._set(which[is_first], indices[is_first], distances[is_first])
        more = np.flatnonzero(is_new & ~is_first)
        if len(more):
            of = which[more]
            known = as_rows(self.indices[of], self.distances[of])
            best = merged(known, as_rows(indices[more], distances[more]), self.n_neighbors)
            shape = len(of), self.n_neighbors
            self._set(of, best.indices.reshape(shape), best.distances.reshape(shape))

    def rows(self) -> RaggedRows:
        return as_rows(self.indices, self.distances)

    def _set(self, which: NDArray[np.int64], indices: NDArray[np.int32], distances: NDArray[Any]) -> None:
        self.indices[which], self.distances[which] = indices, distances


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
