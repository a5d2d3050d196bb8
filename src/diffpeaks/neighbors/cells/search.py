"""Exact search over cells for Euclidean distance and its relatives in high dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_graph_size
from diffpeaks._native import sort_rows
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.cells.join import BLOCK_QUERIES, CellJoin, Coordinates, members_by_cell, one_cell
from diffpeaks.neighbors.cells.partition import partition
from diffpeaks.neighbors.cells.projection import Workload, projected
from diffpeaks.neighbors.contract import ExactSearch, Space
from diffpeaks.neighbors.ragged_rows import at_most, scattered, with_rows
from diffpeaks.progress import loop_stage, stage

CELL_SIZE = 512
_FEWEST_CELLS = 3  # one cell is as fast as two
_BALL_BLOCKS = 4  # for each thread at a time


class CellSearch(ExactSearch):
    """Exact, over cells of points: holds the contract for dense Euclidean and cosine spaces."""

    name = "cells"

    def __init__(self, space: Space, n_threads: int) -> None:
        if not space.can_join:
            raise ValueError(
                "a search over cells needs dense points and a Euclidean, cosine or inner product metric; "
                "use search='exact'"
            )
        self.space, self.n_threads = space, n_threads
        self._duplicates = space.duplicates(n_threads)
        self._join: CellJoin | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_join": None}

    def moved(self, space: Space) -> CellSearch:
        """From nothing: cells of the points as they were suit them less now, and new ones cost little."""
        return CellSearch(space, self.n_threads)

    def _cells(self, n_neighbors: int) -> CellJoin:
        if self._join is None:
            self._join = self._joined(n_neighbors)
        return self._join

    def _joined(self, n_neighbors: int) -> CellJoin:
        n_distinct = self._duplicates.n_distinct
        n_cells = round(n_distinct / CELL_SIZE)
        if n_cells < _FEWEST_CELLS:
            return one_cell(self.space, self.n_threads, self._duplicates.repeats)
        return self._partitioned(n_cells, Workload(n_distinct, n_neighbors, shortlisted=False))

    @stage("cells")
    def _partitioned(self, n_cells: int, workload: Workload) -> CellJoin:
        points, n_threads, repeats = self.space.points, self.n_threads, self._duplicates.repeats
        coordinates = projected(points, workload, n_threads) or Coordinates.of_points(points)
        cells = partition(coordinates, n_cells, n_threads, repeats)
        return CellJoin(self.space, coordinates, cells, n_threads, repeats)

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows:
        if queries is not self.space.points:
            return self._of_new(queries, self._nearest_by_cells, BruteSearch.nearest, n_neighbors)
        duplicates = self._duplicates
        rows = self._all_nearest(min(n_neighbors, duplicates.n_distinct))
        if duplicates.all_distinct:
            return rows
        duplicates.fill_repeats(rows)
        return duplicates.nearest_points(rows, n_neighbors)

    def _of_new(
        self,
        queries: Any,
        by_cells: Callable[[Any, Any], RaggedRows],
        by_brute: Callable[[BruteSearch, Any, Any], RaggedRows],
        how_much: Any,
    ) -> RaggedRows:
        """Queries far beyond all points are compared with each of them, because bounds tell nothing there."""
        far = np.flatnonzero(self._cells(1).coordinates.too_far(queries))
        if not len(far):
            return by_cells(queries, how_much)
        tame = queries.copy()
        tame[far] = self.space.points[0]
        compared = by_brute(BruteSearch(self.space, self.n_threads), queries[far], how_much)
        return with_rows(by_cells(tame, how_much), far, compared)

    def _nearest_by_cells(self, queries: Any, n_neighbors: int) -> RaggedRows:
        n_nearest = min(n_neighbors, self._duplicates.n_distinct)
        join = self._cells(n_nearest)
        asked = join.queries(queries)
        with loop_stage("neighbours", len(queries)):
            rows = join.nearest(asked, n_nearest)
        return self._duplicates.nearest_points(rows, n_neighbors)

    def _all_nearest(self, n_nearest: int) -> RaggedRows:
        """Nearest members of all members; a row that belongs to none is empty."""
        join = self._cells(n_nearest)
        with loop_stage("neighbours", len(self.space.points)):
            return join.nearest_members(n_nearest)

    def within(self, queries: Any, radius: float) -> RaggedRows:
        return self.reaching(queries, np.full(self.space.points.shape[0], float(radius)))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        reach = reach.astype(np.float64)
        if queries is not self.space.points:
            return self._of_new(queries, self._reaching_by_cells, BruteSearch.reaching, reach)
        return self._reaching_by_cells(queries, reach)

    def _reaching_by_cells(self, queries: Any, reach: NDArray[np.float64]) -> RaggedRows:
        """Some blocks of queries at a time, because nobody knows how much they will find."""
        join, largest = self._cells(1), self._duplicates.largest_at_first(reach)
        asked = join.queries(queries)
        order = members_by_cell(asked.cell_of)
        step = _BALL_BLOCKS * BLOCK_QUERIES * self.n_threads
        answers, n_entries = [], 0
        with stage("neighbours", len(order)) as done:
            for which in (order[first : first + step] for first in range(0, len(order), step)):
                with done.part(len(which)):
                    rows = self._duplicates.points_at_first(join.within(asked.some(which), largest))
                if not self._duplicates.all_distinct:
                    sort_rows(rows.indptr, rows.indices, rows.distances, self.n_threads)
                answers.append((which, at_most(rows, reach[rows.indices])))
                n_entries += len(answers[-1][1].indices)
                check_graph_size(len(queries), n_entries)
        return scattered(answers, len(queries), self.space.dtype)
