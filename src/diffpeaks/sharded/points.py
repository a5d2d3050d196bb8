"""Points in files: their graph, what is drawn from them, and where smoothing moves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.validation import check_list_length, n_threads
from diffpeaks._native import move_self_first
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.cells.approximate import is_worth_calibrating
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.neighbors.points import Choice, PointSet
from diffpeaks.neighbors.ragged_rows import with_rows
from diffpeaks.sharded.blocks import Block, Bounds, all_bounds, block_arrays
from diffpeaks.sharded.budget import blocks_together
from diffpeaks.sharded.calibrating import calibrated
from diffpeaks.sharded.cells import PointsInCells
from diffpeaks.sharded.gathering import Gathered
from diffpeaks.sharded.graph import StoredGraph
from diffpeaks.sharded.passes import StoredRows
from diffpeaks.sharded.search import StoredJoin
from diffpeaks.sharded.space import StoredSpace
from diffpeaks.sharded.store import Store


def stored_points(found: Gathered, store: Store, recall: float | None) -> StoredPoints:
    """Points that were brought to their cells, to be searched exactly or at a recall."""
    space = StoredSpace(found.points, store, found.in_input_order)
    return StoredPoints(space, recall, Choice("exact", None, n_threads(None)))


class StoredPoints(PointSet):
    """As `PointSet`, of points in files.

    The search is exact, or finds a share of the neighbours by a rule that is calibrated on the data.
    """

    space: StoredSpace

    def __init__(
        self, space: StoredSpace, recall: float | None, choice: Choice, earlier: Rule | None = None
    ) -> None:
        """`recall` is None for an exact search; the `earlier` rule is that of the points as they were."""
        super().__init__(space, None, choice)  # type: ignore[arg-type]
        self._recall, self._earlier = recall, earlier
        self._rule: Rule | None = None

    def graph(self, n_neighbors: int | None = None, radius: float | None = None) -> StoredGraph:
        if n_neighbors is None or radius is not None:
            raise ValueError("points in files have graphs of n_neighbors alone; give no radius")
        n_neighbors = check_list_length(n_neighbors, self.n_samples)
        store, points = self.space.store, self.space.in_cells
        rule, told = None, ("cells", 1.0, 0.0)
        if self._recall is not None and is_worth_calibrating(*self.space.points.shape, n_neighbors):
            found = calibrated(store, points, n_neighbors, self._recall, self._earlier)
            if found.reached:
                rule, told = found.rule, (f"approximate: {found}", found.recall, found.recall_error)
        self._rule, bounds = rule, all_bounds(self.n_samples)
        asked = [Searched(points, n_neighbors, rule, part) for part in bounds]
        together = blocks_together(points.room, points.table.row_bytes, n_neighbors)
        paths = store.map_together("search", _searched, asked, together)
        complete = np.inf if n_neighbors == self.n_samples else 0.0
        blocks = [Block(*of_block) for of_block in zip(bounds, paths, strict=True)]
        return StoredGraph.of_rows(StoredRows.of_blocks(store, blocks), n_neighbors, complete, told)

    def _sample(self, random: np.random.RandomState) -> NDArray[Any]:
        """Those that would be drawn of the same points in memory."""
        return np.sort(self.space.in_input_order[super()._sample(random)])

    def others(self, points: NDArray[Any]) -> PointSet:
        """Other points under the same metric, in memory."""
        return self._choice.points(self.space.others(points))

    def moved(self, points: PointsInCells) -> StoredPoints:  # type: ignore[override]
        return StoredPoints(self.space.moved(points), self._recall, self._choice, self._rule)


class Searched(NamedTuple):
    """Which points are searched for, and how; without a rule exactly."""

    points: PointsInCells
    n_neighbors: int
    rule: Rule | None
    bounds: Bounds


def _searched(asked: list[Searched]) -> Iterator[Arrays]:
    """The rows of blocks, complete and sorted, each point first in its own. They share what is read."""
    points, n_neighbors, rule, _ = asked[0]
    join, all_bounds = StoredJoin(points, n_neighbors), [of.bounds for of in asked]
    queries = join.queries(np.concatenate([np.arange(first, last) for first, last, _ in all_bounds]))
    rows = join.nearest(queries) if rule is None else join.found(queries, rule)
    short = np.flatnonzero(rows.indices[rows.indptr[1:] - 1] == NO_POINT)
    if len(short):  # too few points were visited
        rows = with_rows(rows, short, join.nearest(queries.some(short)))
    begin = 0
    for first, last, _ in all_bounds:
        of_block = slice(begin * n_neighbors, (begin + last - first) * n_neighbors)
        lengths = np.full(last - first, n_neighbors)
        own = RaggedRows(offsets(lengths), rows.indices[of_block], rows.distances[of_block])
        found = block_arrays(first, lengths, own)
        move_self_first(own.indptr, found["index"], found["distance"], 1)
        yield found
        begin += last - first
