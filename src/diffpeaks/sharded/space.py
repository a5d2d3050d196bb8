"""Points in files under a metric: what is asked of some of them in memory, and of all of them by tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks.neighbors.duplicates import Duplicates
from diffpeaks.neighbors.euclidean import EuclideanSpace, Pull
from diffpeaks.sharded.blocks import Block, Bounds, OpenBlock, all_bounds
from diffpeaks.sharded.cells import PointsInCells, StoredGrid
from diffpeaks.sharded.store import Store, Vector, concatenated, in_turn
from diffpeaks.sharded.table import Table, write_rows

_FEWEST_ROWS = 256  # that are moved together


class StoredSpace(EuclideanSpace):
    """As `EuclideanSpace`; its points are a table in files, and those of a pass stay there."""

    points: Table

    def __init__(self, in_cells: PointsInCells, store: Store, in_input_order: NDArray[np.int32]) -> None:
        """The points in the order of the input are those of these numbers."""
        some = in_cells.space(in_cells.table.between(0, 1))
        self.in_cells, self.store, self.in_input_order = in_cells, store, in_input_order
        self.metric, self.dtype, self.measure = some.metric, some.dtype, some.measure
        self.points, self.can_join, self.minkowski_order = in_cells.table, True, None

    def duplicates(self, n_threads: int) -> Duplicates:
        """Points that coincide in the input are one point already."""
        return Duplicates(self.points.shape[0])

    def rows(self, which: NDArray[Any]) -> NDArray[Any]:
        return self.points.at(which)

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        some = self.in_cells.space(self.points.at(np.concatenate([first, second])))
        numbers = np.arange(len(first) + len(second))
        return some.between(numbers[: len(first)], numbers[len(first) :], n_threads)

    def lengths_of(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        if X is not self.points:
            return self.in_cells.space(X).lengths_of(X, n_threads)
        tasks = [(self.in_cells, bounds) for bounds in all_bounds(len(X))]
        return concatenated(self.store.map("lengths", _lengths, tasks), "length")

    def sums_of(
        self, members: NDArray[Any], group: NDArray[Any], weights: NDArray[np.float64], n_groups: int
    ) -> NDArray[np.float64]:
        vectors = [
            self.store.put(*of) for of in (("members", members), ("groups", group), ("masses", weights))
        ]
        tasks = [Sums(self.points, bounds, *vectors) for bounds in all_bounds(len(self.points))]
        sums = np.zeros((n_groups, self.points.n_features))
        for groups, found in in_turn(self.store.map("means", _sums, tasks), "group", "sum"):
            sums[groups] += found
        return sums

    def moved(self, points: PointsInCells) -> StoredSpace:
        return StoredSpace(points, self.store, self.in_input_order)

    def others(self, points: NDArray[Any]) -> EuclideanSpace:
        """Points in memory under the same metric."""
        return self.in_cells.space(points[:1]).moved(points)

    def shifted(
        self,
        queries: Any,
        rows: Any,
        own_first: bool,
        masses: Any,
        reach: Any,
        pull: Pull,
        n_threads: int,
    ) -> PointsInCells:
        """All points moved towards those in their rows, in cells with new centroids."""
        vectors = self.store.put("reach", reach), None if masses is None else self.store.put("masses", masses)
        folder = self.store.stage("moved points")
        files = [folder / f"{i:06d}.rows" for i in range(len(rows.rows.blocks))]
        asked = [
            Move(self.in_cells, block, *vectors, pull, file)
            for block, file in zip(rows.rows.blocks, files, strict=True)
        ]
        found = self.store.map("smoothing", _moved, asked)
        old, starts = self.points, (*(block.bounds.first for block in rows.rows.blocks), len(self.points))
        table = Table(tuple(map(str, files)), starts, old.n_features, old.dtype)
        return _in_new_cells(self.in_cells._replace(table=table), found, rows.rows.blocks, self.store)


class Move(NamedTuple):
    """The points of a block, and how strongly they are pulled."""

    points: PointsInCells
    block: Block
    reach: Vector
    masses: Vector | None
    pull: Pull
    path: Path


def _moved(move: Move) -> Arrays:
    """The moved points of a block in a file, and the sums of those of each cell."""
    block = move.block.opened()
    points = np.concatenate([_moved_rows(move, part) for part in _parts_in_memory(move.points, block)])
    write_rows(move.path, points)
    cell = _cell_of(move.points, block.own)
    cells, number = np.unique(cell, return_inverse=True)
    return {"cell": cells, "sum": _sums_by(number, np.ones(len(points)), points, len(cells))}


def _parts_in_memory(points: PointsInCells, block: OpenBlock) -> Iterator[OpenBlock]:
    """The block, or parts of it that touch fewer points, where all that it touches take too much memory."""
    most = points.room // (4 * points.table.row_bytes)
    if block.graph.n_samples <= most:
        yield block
        return
    step = max(_FEWEST_ROWS, most // int(block.graph.degrees.max()))
    for begin in range(0, block.n_own, step):
        yield block.part(begin, min(begin + step, block.n_own))


def _moved_rows(move: Move, block: OpenBlock) -> NDArray[Any]:
    """The points of a block, moved; only the points that they touch are in memory."""
    points = move.points.table.at(block.points)
    space, own = move.points.space(points), points[: block.n_own]
    masses = None if move.masses is None else block.of_all(move.masses)
    moved = space.shifted(own, block.own_rows, True, masses, block.of_all(move.reach), move.pull, 1)
    found: NDArray[Any] = space.moved(moved).points
    return found


def _in_new_cells(
    points: PointsInCells, found: list[Path], blocks: list[Block], store: Store
) -> PointsInCells:
    """The same cells around the means of their moved points."""
    centroids, center = np.array(points.grid.centroids.mapped()), points.grid.center
    sums, sizes = np.zeros(centroids.shape), np.diff(points.starts.mapped())
    for cells, some in in_turn(found, "cell", "sum"):
        sums[cells] += some
    centroids[sizes > 0] = sums[sizes > 0] / sizes[sizes > 0, None]
    grid = StoredGrid(store.put("centroids", centroids), center, points.grid.largest)
    points = points._replace(grid=grid)
    spread, radius = np.zeros(len(sizes)), np.zeros(len(sizes))
    extents = store.map("extent of cells", _extent, [(points, block.bounds) for block in blocks])
    for cells, squares, largest in in_turn(extents, "cell", "squares", "largest"):
        spread[cells] += squares
        radius[cells] = np.maximum(radius[cells], largest)
    spread /= np.maximum(sizes, 1)
    radius = np.sqrt(radius) * (1 + 1e-5)
    return points._replace(
        spread=store.put("spread", spread.astype(np.float32)),
        radius=store.put("radius", radius.astype(np.float32)),
    )


def _extent(asked: tuple[PointsInCells, Bounds]) -> Arrays:
    """Of each cell the sum of scaled squared distances from its centroid, and the largest."""
    points, bounds = asked
    grid = points.grid.opened()
    cell = _cell_of(points, slice(bounds.first, bounds.last))
    apart = points.table.between(bounds.first, bounds.last) - grid.search.centroids[cell]
    squares = np.einsum("ij,ij->i", apart, apart, dtype=np.float64) * grid.scale**2
    cells, first = np.unique(cell, return_index=True)
    totals, largest = np.add.reduceat(squares, first), np.maximum.reduceat(squares, first)
    return {"cell": cells, "squares": totals, "largest": largest}


def _cell_of(points: PointsInCells, which: slice) -> NDArray[np.int64]:
    """The cells of consecutive points."""
    starts = points.starts.mapped()
    found: NDArray[np.int64] = np.searchsorted(starts, np.arange(which.start, which.stop), side="right") - 1
    return found


def _lengths(asked: tuple[PointsInCells, Bounds]) -> Arrays:
    points, bounds = asked
    rows = points.table.between(bounds.first, bounds.last)
    return {"length": points.space(rows).lengths_of(rows)}


class Sums(NamedTuple):
    """Members of groups, which ascend, and some points of which those that are members are summed."""

    points: Table
    bounds: Bounds
    members: Vector
    groups: Vector
    weights: Vector


def _sums(asked: Sums) -> Arrays:
    table, bounds, members, groups, weights = asked
    some = slice(*np.searchsorted(members.mapped(), bounds[:2]).tolist())
    which = np.array(members.mapped()[some])
    numbers, number = np.unique(groups.mapped()[some], return_inverse=True)
    return {"group": numbers, "sum": _sums_by(number, weights.mapped()[some], table.at(which), len(numbers))}


def _sums_by(
    number: NDArray[Any], weights: NDArray[np.float64], rows: NDArray[Any], n_groups: int
) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = (
        sp.csr_array((weights, (number, np.arange(len(rows)))), (n_groups, len(rows))) @ rows
    )
    return sums
