"""From shards to cells: points that lie together come to lie together in files, copies only once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors.cells.approximate import approximate_cell_size
from diffpeaks.neighbors.cells.join import NO_TAILS, packed_cells, scale_of
from diffpeaks.neighbors.cells.partition import SAMPLE_PER_CELL, centroids_of
from diffpeaks.neighbors.cells.search import CELL_SIZE
from diffpeaks.neighbors.duplicates import first_points
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.sharded.budget import Budget
from diffpeaks.sharded.cells import PointsInCells, StoredGrid
from diffpeaks.sharded.store import Store, Vector, concatenated, in_turn, mapped, read
from diffpeaks.sharded.table import Table, write_rows

if TYPE_CHECKING:
    from diffpeaks.sharded.sources import Source


class Gathered(NamedTuple):
    """Points in cells, and which rows of the input they are.

    Attributes
    ----------
    points : PointsInCells
    in_input_order : array of shape (n_points,)
        The points by the first row of the input at each.
    weight : array of shape (n_points,) or None
        The number of rows at each point, None where each has one.
    point : Vector
        Of each row.
    """

    points: PointsInCells
    in_input_order: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    point: Vector


class Piece(NamedTuple):
    """Some rows of a shard, few enough for memory."""

    source: Source
    metric: str
    shard: int
    first: int
    last: int

    @property
    def first_row(self) -> int:
        """Of all shards."""
        return int(self.source.starts[self.shard]) + self.first

    def points(self) -> NDArray[Any]:
        """The rows; where only their direction counts, of length one."""
        shard = self.source.shards[self.shard]
        try:
            found: NDArray[Any] = EuclideanSpace(shard.rows(self.first, self.last), self.metric).points
            return found
        except ValueError as error:
            error.add_note(f"rows are counted from row {self.first} of {shard.name!r}")
            raise


def pieces_of(source: Source, metric: str, piece_bytes: int) -> list[Piece]:
    """All rows of all shards, in pieces of about so many bytes."""
    n_rows = rows_in(piece_bytes, source)
    return [
        Piece(source, metric, number, first, min(first + n_rows, shard.n_samples))
        for number, shard in enumerate(source.shards)
        for first in range(0, shard.n_samples, n_rows)
    ]


def rows_in(piece_bytes: int, source: Source) -> int:
    return max(1, piece_bytes // (source.n_features * np.dtype(source.dtype).itemsize))


def gathered(
    source: Source, metric: str, store: Store, budget: Budget, is_exact: bool, n_threads: int
) -> Gathered:
    """Cells are made from a sample, points are brought to them, and copies become one point."""
    pieces = pieces_of(source, metric, budget.piece_bytes)
    cell_size = CELL_SIZE if is_exact else approximate_cell_size(source.n_samples)
    grid = stored_grid(pieces, max(1, round(source.n_samples / cell_size)), store, n_threads)
    folder = store.stage("routed points")
    files = [folder / f"{i:06d}.rows" for i in range(len(pieces))]
    asked = [(piece, grid, file) for piece, file in zip(pieces, files, strict=True)]
    routed = [Routed(*paths) for paths in zip(store.map("routing", _routed, asked), files, strict=True)]
    folder = store.stage("points")
    row_type = source.n_features, np.dtype(source.dtype).str
    cuts = _groups(_sizes(routed, grid), rows_in(budget.piece_bytes, source))
    groups = [
        Group(first, last, routed, grid, row_type, folder / f"{i:06d}.rows")
        for i, (first, last) in enumerate(cuts)
    ]
    found = store.map("gathering", _gathered, groups)
    return _assembled(groups, found, source.n_samples, metric, store, budget.room)


def _sizes(routed: list[Routed], grid: StoredGrid) -> NDArray[np.int64]:
    """The number of rows in each cell, copies counted."""
    sizes = np.zeros(len(grid.centroids.mapped()), np.int64)
    for cells, counts in in_turn([of_piece.found for of_piece in routed], "cell", "count"):
        sizes[cells] += counts
    return sizes


def stored_grid(pieces: list[Piece], n_cells: int, store: Store, n_threads: int) -> StoredGrid:
    """Centroids by k-means on a sample, and the middle and the extent of all points."""
    n_samples = pieces[0].source.n_samples
    n_sample = min(n_samples, SAMPLE_PER_CELL * n_cells)
    chosen = np.sort(np.random.default_rng(0).choice(n_samples, n_sample, replace=False, shuffle=False))
    starts = np.array([piece.first_row for piece in pieces] + [n_samples])
    within = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
    surveyed = store.map("survey", _surveyed, [*zip(pieces, within, strict=True)])
    totals, lows, highs = zip(*in_turn(surveyed, "total", "low", "high"), strict=True)
    center = np.sum(totals, axis=0) / n_samples
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    largest = float(np.linalg.norm(np.maximum(high - center, center - low)))
    sample = np.concatenate([mapped(path)["sample"] for path in surveyed])
    search = centroids_of(sample, n_cells, scale_of(largest), n_threads)
    return StoredGrid(store.put("centroids", search.centroids), store.put("center", center), largest)


def _surveyed(asked: tuple[Piece, NDArray[np.int64]]) -> Arrays:
    piece, chosen = asked
    points = piece.points()
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    total = points.sum(axis=0, dtype=np.float64)
    return {"total": total, "low": low, "high": high, "sample": points[chosen - piece.first_row]}


def _routed(asked: tuple[Piece, StoredGrid, Path]) -> Arrays:
    """The rows of a piece in a file, in the order of their cells."""
    piece, grid, path = asked
    points = piece.points()
    cell_of = grid.opened().search.nearest(points)
    order = np.argsort(cell_of, kind="stable")
    write_rows(path, points[order])
    cells, counts = np.unique(cell_of, return_counts=True)
    return {"row": piece.first_row + order, "cell": cells, "count": counts}


def _groups(in_cell: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Consecutive cells with at most so many rows; a cell with more is a group of its own."""
    groups, first, held = [], 0, 0
    for cell, n_points in enumerate(in_cell.tolist()):
        if held and held + n_points > most:
            groups.append((first, cell))
            first, held = cell, 0
        held += n_points
    return [*groups, (first, len(in_cell))]


class Routed(NamedTuple):
    """The rows of a piece by cell: where what is known of them lies, and they themselves."""

    found: Path
    rows: Path


class Group(NamedTuple):
    """Consecutive cells, whose points a task brings together."""

    first: int
    last: int
    routed: list[Routed]
    grid: StoredGrid
    row_type: tuple[int, str]
    path: Path

    def collected(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int32]]:
        """Points, their rows and their cells, by cell and row."""
        points, rows, cells = [], [], []
        for path, file in self.routed:
            found = mapped(path)
            first, last = np.searchsorted(found["cell"], (self.first, self.last))
            ends = offsets(found["count"])
            begin, end = int(ends[first]), int(ends[last])
            table = Table((str(file),), (0, int(ends[-1])), *self.row_type)
            points.append(table.between(begin, end))
            rows.append(np.array(found["row"][begin:end]))
            cells.append(np.repeat(found["cell"][first:last], found["count"][first:last]))
        row, cell = np.concatenate(rows), np.concatenate(cells)
        order = np.lexsort((row, cell))
        return np.concatenate(points)[order], row[order], cell[order]


def _gathered(group: Group) -> Arrays:
    """The distinct points of a group in a file, and which rows of the input each of them is."""
    points, row, cell = group.collected()
    first = first_points(points, 1) if len(points) else np.empty(0, np.int32)
    is_first = first == np.arange(len(points))
    points, cell = np.ascontiguousarray(points[is_first]), cell[is_first]
    write_rows(group.path, points)
    number = np.cumsum(is_first) - 1
    spread, radius = _extent(group, points, cell)
    return {
        "row": row[is_first],
        "weight": np.bincount(number[first], minlength=len(points)),
        "every_row": row,
        "point": number[first],
        "size": np.bincount(cell - group.first, minlength=group.last - group.first),
        "spread": spread,
        "radius": radius,
    }


def _extent(
    group: Group, points: NDArray[Any], cell: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean squared distance of the points of each cell from its centroid, and the largest distance."""
    grid = group.grid.opened()
    centroids = grid.search.centroids[group.first : group.last].astype(np.float64)
    packed = packed_cells(points, NO_TAILS, cell - np.int32(group.first), centroids, grid.scale, 1)
    return packed.spread(), packed.radius()


def _assembled(
    groups: list[Group], found: list[Path], n_samples: int, metric: str, store: Store, room: int
) -> Gathered:
    starts = offsets(np.array([len(mapped(path)["row"]) for path in found]))
    table = Table(tuple(str(group.path) for group in groups), tuple(starts.tolist()), *groups[0].row_type)
    cells = store.put("cells", offsets(concatenated(found, "size")))
    spread, radius = (store.put(name, concatenated(found, name)) for name in ("spread", "radius"))
    point = np.empty(n_samples, np.int32)
    for start, path in zip(starts, found, strict=False):
        rows, numbers = read(path, "every_row", "point")
        point[rows] = start + numbers
    weight = None
    if starts[-1] < n_samples:
        weight = concatenated(found, "weight").astype(np.float64)
    points = PointsInCells(table, cells, spread, radius, groups[0].grid, metric, room)
    in_input_order = np.argsort(concatenated(found, "row")).astype(np.int32)
    return Gathered(points, in_input_order, weight, store.put("point", point))
