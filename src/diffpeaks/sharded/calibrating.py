"""What a recall needs among points in files: a rule is calibrated on a sample of the very data, by tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks._base.constants import NO_POINT
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.calibration import CalibratedJoin, Sampled
from diffpeaks.neighbors.cells.join import PlacedQueries, one_cell
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.neighbors.cells.truth import SAMPLE, Truth
from diffpeaks.sharded.blocks import Bounds, all_bounds
from diffpeaks.sharded.cells import PointsInCells
from diffpeaks.sharded.search import StoredJoin, merged
from diffpeaks.sharded.store import Store, read

_TASK_BYTES = 4 << 30  # of points for each task that searches a part of the sample
_FEWEST_TASKS, _MOST_TASKS = 2, 64


def calibrated(
    store: Store, points: PointsInCells, n_neighbors: int, recall: float, earlier: Rule | None
) -> CalibratedJoin:
    """The rule that finds that share of the neighbours of a sample, and what it finds of another one."""
    join = JoinByTasks(store, points, n_neighbors)
    n_points = join.n_points
    random = np.random.default_rng(1)
    which = np.sort(random.choice(n_points, min(SAMPLE, n_points), replace=False, shuffle=False))
    queries = join.queries(which)
    neighbors = join.nearest_of_all(queries).indices.reshape(-1, n_neighbors)[:, 1:]
    nobody = np.zeros(len(which), np.int64)
    truth = Truth(which, neighbors, np.ones_like(neighbors, np.int64), nobody)
    return CalibratedJoin(join, Sampled(queries, truth), recall, earlier)


class JoinByTasks(StoredJoin):
    """The same join for the queries of a sample, by tasks."""

    def __init__(self, store: Store, points: PointsInCells, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        self._store = store
        n_bytes = len(points.table) * points.table.row_bytes
        self._n_tasks = min(_MOST_TASKS, max(_FEWEST_TASKS, n_bytes // _TASK_BYTES))

    def nearest_of_all(self, queries: PlacedQueries) -> RaggedRows:
        """The nearest points; each task compares all queries with some of the points."""
        bounds = all_bounds(self.n_points)
        parts = np.array_split(np.arange(len(bounds)), min(_MOST_TASKS, len(bounds)))
        asked = [
            Compared(self._points, self.n_neighbors, queries, [bounds[i] for i in part]) for part in parts
        ]
        found = self._store.map("exact sample", _compared, asked)
        return _nearest_in([self._rows(*read(path, "index", "distance")) for path in found], self.n_neighbors)

    def found_by_each(self, queries: PlacedQueries, rules: Sequence[Rule]) -> list[RaggedRows]:
        paths = self._store.map("calibration", _found_by_each, self._samples(queries, rules))
        found = [read(path, "index", "distance") for path in paths]
        indices, distances = (np.concatenate(values, axis=1) for values in zip(*found, strict=True))
        return [self._rows(*of_rule) for of_rule in zip(indices, distances, strict=True)]

    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]:
        paths = self._store.map("calibration", _limit, self._samples(queries, [rule]))
        return np.concatenate([read(path, "limit") for path in paths])

    def _rows(self, indices: NDArray[np.int32], distances: NDArray[Any]) -> RaggedRows:
        indptr = np.arange(len(indices) // self.n_neighbors + 1, dtype=np.int64) * self.n_neighbors
        return RaggedRows(indptr, indices, distances)

    def _samples(self, queries: PlacedQueries, rules: Sequence[Rule]) -> list[Sample]:
        parts = np.array_split(np.arange(len(queries.rows)), self._n_tasks)
        return [
            Sample(self._points, self.n_neighbors, queries.some(part), rules) for part in parts if len(part)
        ]


class Sample(NamedTuple):
    """Some queries of a sample, and the rules that are tried on them."""

    points: PointsInCells
    n_neighbors: int
    queries: PlacedQueries
    rules: Sequence[Rule]

    @property
    def join(self) -> StoredJoin:
        return StoredJoin(self.points, self.n_neighbors)


def _found_by_each(sample: Sample) -> Arrays:
    """A row of arrays for each rule."""
    found = [_as_arrays(rows) for rows in sample.join.found_by_each(sample.queries, sample.rules)]
    return {name: np.stack([arrays[name] for arrays in found]) for name in found[0]}


def _limit(sample: Sample) -> Arrays:
    return {"limit": sample.join.limit(sample.queries, *sample.rules)}


class Compared(NamedTuple):
    """Queries, and the points that they are compared with."""

    points: PointsInCells
    n_neighbors: int
    queries: PlacedQueries
    bounds: list[Bounds]


def _compared(asked: Compared) -> Arrays:
    """The nearest of some points; missing ones are NO_POINT at infinity."""
    queries = asked.queries._replace(cell_of=np.zeros_like(asked.queries.cell_of))
    parts = []
    for first, last, _ in asked.bounds:
        points = asked.points.table.between(first, last)
        rows = one_cell(asked.points.space(points), 1, None).nearest(queries, asked.n_neighbors)
        numbers = np.where(rows.indices == NO_POINT, NO_POINT, rows.indices + first)
        parts.append(rows._replace(indices=numbers.astype(np.int32)))
    return _as_arrays(_nearest_in(parts, asked.n_neighbors))


def _nearest_in(parts: list[RaggedRows], n_neighbors: int) -> RaggedRows:
    """The nearest points of several lists for each query."""
    best = parts[0]
    for rows in parts[1:]:
        best = merged(best, rows, n_neighbors)
    return best


def _as_arrays(rows: RaggedRows) -> Arrays:
    return {"index": rows.indices, "distance": rows.distances}
