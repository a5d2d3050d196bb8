"""What a recall needs among points in files: a rule is calibrated on a sample of the very data, by tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.calibration import SAMPLE, CalibratedJoin, Truth
from diffpeaks.neighbors.cells.join import PlacedQueries
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.sharded.cells import PointsInCells
from diffpeaks.sharded.search import StoredJoin
from diffpeaks.sharded.store import Store, read

_N_TASKS = 16  # in which a sample is searched


def calibrated(
    store: Store, points: PointsInCells, n_neighbors: int, recall: float, earlier: Rule | None
) -> CalibratedJoin:
    """The rule that finds that share of the neighbours of a sample, and what it finds of another one."""
    join = JoinByTasks(store, points, n_neighbors)
    n_points = join.n_points
    random = np.random.default_rng(1)
    which = np.sort(random.choice(n_points, min(SAMPLE, n_points), replace=False, shuffle=False))
    queries = join.queries(which)
    neighbors = join.nearest(queries).indices.reshape(-1, n_neighbors)[:, 1:]
    nobody = np.zeros(len(which), np.int64)
    truth = Truth(which, queries, neighbors, np.ones_like(neighbors, np.int64), nobody)
    return CalibratedJoin(join, truth, recall, earlier)


class Sample(NamedTuple):
    """Some queries of a sample."""

    points: PointsInCells
    n_neighbors: int
    queries: PlacedQueries
    rule: Rule | None

    @property
    def join(self) -> StoredJoin:
        return StoredJoin(self.points, self.n_neighbors)


class JoinByTasks(StoredJoin):
    """The same join, whose queries are searched by tasks."""

    def __init__(self, store: Store, points: PointsInCells, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        self._store = store

    def nearest(self, queries: PlacedQueries) -> RaggedRows:
        return self._rows("exact sample", _nearest, queries, None)

    def found(self, queries: PlacedQueries, rule: Rule) -> RaggedRows:
        return self._rows("calibration", _found, queries, rule)

    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]:
        paths = self._store.map("calibration", _limit, self._samples(queries, rule))
        return np.concatenate([read(path, "limit") for path in paths])

    def _rows(
        self, name: str, task: Callable[[Sample], Arrays], queries: PlacedQueries, rule: Rule | None
    ) -> RaggedRows:
        paths = self._store.map(name, task, self._samples(queries, rule))
        found = [read(path, "index", "distance") for path in paths]
        indices, distances = (np.concatenate(values) for values in zip(*found, strict=True))
        indptr = np.arange(len(queries.rows) + 1, dtype=np.int64) * self.n_neighbors
        return RaggedRows(indptr, indices, distances)

    def _samples(self, queries: PlacedQueries, rule: Rule | None) -> list[Sample]:
        parts = np.array_split(np.arange(len(queries.rows)), _N_TASKS)
        return [
            Sample(self._points, self.n_neighbors, queries.some(part), rule) for part in parts if len(part)
        ]


def _nearest(sample: Sample) -> Arrays:
    return _as_arrays(sample.join.nearest(sample.queries))


def _found(sample: Sample) -> Arrays:
    assert sample.rule is not None
    return _as_arrays(sample.join.found(sample.queries, sample.rule))


def _limit(sample: Sample) -> Arrays:
    assert sample.rule is not None
    return {"limit": sample.join.limit(sample.queries, sample.rule)}


def _as_arrays(rows: RaggedRows) -> Arrays:
    return {"index": rows.indices, "distance": rows.distances}
