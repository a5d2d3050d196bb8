"""A given graph in the place of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks.graph import NeighborGraph

if TYPE_CHECKING:
    from diffpeaks.neighbors.points import PointSet


class GivenGraph:
    """A given graph: it can be filtered, but nothing is known beyond its rows."""

    can_move = False
    distance_power = 1

    def __init__(self, graph: NeighborGraph, n_threads: int) -> None:
        self.given = graph
        self.n_samples = graph.n_samples
        self.n_threads = n_threads

    def graph(self, n_neighbors: int | None = None, radius: float | None = None) -> NeighborGraph:
        """The rows filtered by number or by radius; with both, whole rows, which hold either."""
        if radius is not None and n_neighbors is not None:
            self.given.check_holds(n_neighbors, radius)
            return self.given
        if radius is not None:
            return self.given.within(radius)
        return self.given if n_neighbors is None else self.given.nearest(n_neighbors)

    def automatic_n_neighbors(self) -> None:
        """None: rows may differ in length, and count as a whole."""
        return None

    def typical_distance(self, seed: int = 0) -> float:
        """Unknown: infinity, so that no link is too long."""
        return np.inf

    def typical_radius(self, n_neighbors: int | None) -> float:
        """The radius of the rows, if they are balls."""
        if self.given.radius == 0:
            raise ValueError(
                "radius='auto' needs a graph of balls, but this one holds nearest neighbours and is complete "
                "up to radius 0; build it with neighbor_graph(X, radius=...), or use a density on n_neighbors"
            )
        return self.given.radius

    def nearest_denser(
        self, points: NDArray[Any], rank: NDArray[Any], n_neighbors: int
    ) -> tuple[NDArray[np.int32], NDArray[Any]]:
        if len(points) > 1:
            raise ValueError(
                f"{len(points)} samples have no denser neighbour in the precomputed graph, and how far the "
                "next denser one lies is not known; cut by max_link or min_prominence, or fit on points or a "
                "dense matrix of distances"
            )
        return np.full(1, NO_POINT, np.int32), np.full(1, np.inf)

    def searched(self) -> PointSet:
        """Refused: there are no points with which new samples could be compared."""
        raise ValueError(
            "what was fitted on a precomputed graph, such as a sparse matrix, cannot place new samples; fit "
            "on points or on a dense matrix of distances"
        )
