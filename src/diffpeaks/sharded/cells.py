"""Points in files, in the order of cells: what tasks need to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks.neighbors.cells.join import Coordinates, scale_of
from diffpeaks.neighbors.cells.partition import CentroidSearch
from diffpeaks.neighbors.cells.rules import CellFacts
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.sharded.store import Vector
from diffpeaks.sharded.table import Table


@dataclass(frozen=True)
class Grid:
    """Centroids of cells, and the units in which distances to them are bounded."""

    search: CentroidSearch
    center: NDArray[np.float64]
    largest: float

    @property
    def scale(self) -> float:
        return scale_of(self.largest)

    def coordinates(self, points: NDArray[Any]) -> Coordinates:
        return Coordinates(points, self.center, self.largest)


class StoredGrid(NamedTuple):
    """A grid in files, which tasks open."""

    centroids: Vector
    center: Vector
    largest: float

    def opened(self) -> Grid:
        return _opened(self)


@cache
def _opened(stored: StoredGrid) -> Grid:
    center, centroids = np.array(stored.center.mapped()), np.array(stored.centroids.mapped())
    return Grid(CentroidSearch(centroids, scale_of(stored.largest), 1), center, stored.largest)


class PointsInCells(NamedTuple):
    """Distinct points in files in the order of their cells, those of a cell in the order of the input.

    Attributes
    ----------
    table : Table
    starts : Vector
        The first point of each cell, and behind the last one the number of points.
    spread, radius : Vector
        Of each cell, scaled as the grid says.
    grid : StoredGrid
    metric : str
    room : int
        Bytes that points in memory may take, with what is made of them.
    """

    table: Table
    starts: Vector
    spread: Vector
    radius: Vector
    grid: StoredGrid
    metric: str
    room: int

    def facts(self) -> CellFacts:
        grid, starts = self.grid.opened(), np.array(self.starts.mapped())
        spread = np.array(self.spread.mapped())
        return CellFacts(
            grid.center, grid.scale, grid.search.centroids.astype(np.float64), np.diff(starts), spread
        )

    def space(self, points: NDArray[Any]) -> EuclideanSpace:
        return EuclideanSpace(points, self.metric, are_directions=True)
