"""Samples moved towards their neighbours, so that noise in many dimensions does not hide hills.

In m dimensions the mean of k neighbours is off by about 1 / sqrt(k) of their reach, while they lie k^(-1/m)
of it apart. In the plane the two are alike, and means would only make clumps. In many dimensions neighbours
are nearly as far as their reach, most of that is noise, and their mean has far less of it. Some samples are
among the nearest of very many others there, so that mutual neighbours count alone. Others are nobody's, and
would stay where noise has put them: who has hardly any mutual neighbours moves towards the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import shift_towards
from diffpeaks.density.places import Places
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.dimension import FEWEST_NEIGHBORS, intrinsic_dimension, share_kept
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.neighbors.euclidean import squared_norms
from diffpeaks.neighbors.kernel import kernel_name
from diffpeaks.progress import loop_stage
from diffpeaks.recipes import DEFAULT, Recipe

if TYPE_CHECKING:
    from diffpeaks._native import Graph

_ONE_LENGTH = 1e-3  # of the typical length between samples: lengths that differ by less are one


@dataclass(frozen=True)
class Smoothing:
    """How samples were moved.

    Attributes
    ----------
    kept : float
        The share of its own place that a sample keeps; the rest is the mean of itself and those neighbours
        that have it among theirs, weighted by exp(-d^2 / h), h the squared distance to its last neighbour.
    dimension : float
        The dimension of the data, by how fast neighbours become more with the distance.
    n_neighbors : int
        The sample itself counted.
    n_filled : int
        Where fewer neighbours are mutual, the nearest others make up for them.
    radius : float or None
        The length of all samples, if they have one; they keep it, as a mean would not.
    """

    kept: float
    dimension: float
    n_neighbors: int
    n_filled: int
    radius: float | None = None

    def moved(
        self, queries: NDArray[Any], rows: Graph, points: PointSet, masses: Any, reach: Any, own_first: bool
    ) -> NDArray[Any]:
        """Queries moved towards points in their rows, mostly mutual ones.

        With `own_first` the queries are the points, and each is the first in its own row; else a query has
        the mass one.
        """
        moved = np.empty(queries.shape, queries.dtype)
        targets = np.ascontiguousarray(points.space.points), masses, reach
        pull = self.kept, self.n_filled, points.degree == 2
        shift_towards(kernel_name(), queries, rows, own_first, targets, pull, moved, points.n_threads)
        if self.radius is not None:
            lengths = np.sqrt(squared_norms(moved))
            has_length = lengths > 0  # a new sample may have none
            moved[has_length] *= (self.radius / lengths[has_length])[:, None]
        return moved


def smoothed(
    places: Places, graph: NeighborGraph, recipe: Recipe = DEFAULT
) -> tuple[Places, Smoothing | None]:
    """The places of samples that were moved, and how; None where they stay, in about two dimensions.

    The graph is that of the places, which keep it if they stay. The points must be such that have means
    (`points.can_move`).
    """
    points = places.points
    if isinstance(points, GivenGraph) or int(graph.n_neighbors or 0) < FEWEST_NEIGHBORS:
        return replace(places, graph=graph), None
    found = _smoothing_for(points, graph, recipe)
    if found.dimension < recipe.flat_dimension:
        return replace(places, graph=graph), None
    table, reach = np.ascontiguousarray(points.space.points), graph.reach
    with loop_stage("smoothing", len(table)):
        moved = found.moved(table, graph, points, places.weights, reach, own_first=True)
    return replace(places, points=points.moved(moved), reach=reach), found


def smoothed_samples(X: Any, given: PointSet, places: Places, smoothing: Smoothing) -> NDArray[Any]:
    """New samples moved as if they had been among those of the fit, who stay where they are.

    One at a place of the fit goes where that has gone.

    Parameters
    ----------
    X : new samples, checked
    given : the places of the fit before they were moved
    places : where they are now
    """
    queries = np.ascontiguousarray(given.space.queries(X))
    rows = given.nearest_to(X, smoothing.n_neighbors - 1)
    found = smoothing.moved(queries, rows, given, places.weights, places.reach, own_first=False)
    nearest = rows.indptr[:-1]
    known = rows.distances[nearest] == 0
    moved: Any = places.points
    found[known] = moved.space.points[rows.indices[nearest[known]]]
    return found


def _smoothing_for(points: PointSet, graph: NeighborGraph, recipe: Recipe) -> Smoothing:
    n_neighbors = int(graph.n_neighbors or 0)
    dimension = intrinsic_dimension(graph, points.degree)
    typical = points.typical_distance() ** (1 / points.degree)
    return Smoothing(
        share_kept(n_neighbors, dimension, recipe.kept_power),
        dimension,
        n_neighbors,
        min(recipe.fewest, n_neighbors - 1),
        _common_length(points.space.points, typical),
    )


def _common_length(table: NDArray[Any], typical: float) -> float | None:
    """The length of all vectors, if they hardly differ in it beside the length between two."""
    lengths = np.sqrt(squared_norms(table))
    longest, shortest = float(lengths.max()), float(lengths.min())
    return longest if longest > 0 and longest - shortest <= _ONE_LENGTH * typical else None
