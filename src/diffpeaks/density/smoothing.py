"""Samples moved towards their neighbours, so that noise in many dimensions does not hide hills.

In m dimensions the mean of k neighbours is off by about 1 / sqrt(k) of their reach, while they lie k^(-1/m)
of it apart. In the plane the two are alike, and means would only make clumps. In many dimensions neighbours
are nearly as far as their reach, most of that is noise, and their mean has far less of it. Some samples are
among the nearest of very many others there, so that mutual neighbours count alone. Others are nobody's, and
would stay where noise has put them: who has hardly any mutual neighbours moves towards the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import shift_towards
from diffpeaks.density.places import Places
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.dimension import FEWEST_NEIGHBORS, intrinsic_dimension, share_kept
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.neighbors.ragged_rows import RaggedRows
from diffpeaks.progress import stage
from diffpeaks.recipes import DEFAULT, Recipe

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
        self, queries: NDArray[Any], own: Any, rows: RaggedRows, points: PointSet, masses: Any, reach: Any
    ) -> NDArray[Any]:
        """Queries, each of a mass of its own, moved towards points in their rows, mostly mutual ones."""
        weights = self._weights(rows, points.degree)
        if masses is not None:
            weights *= masses[rows.indices]
        weights[~self._counts(rows, reach)] = 0.0
        total = own + np.add.reduceat(weights, rows.indptr[:-1])
        weights *= (1 - self.kept) / np.repeat(total, np.diff(rows.indptr))
        moved = np.empty(queries.shape, queries.dtype)
        pulls = weights > 0  # few of the neighbours are mutual, and only their coordinates need be read
        indptr, indices = offsets(pulls)[rows.indptr], rows.indices[pulls]
        asked = np.ascontiguousarray(queries), np.ascontiguousarray(points.space.points)
        shift_towards(*asked, indptr, indices, weights[pulls], moved.reshape(-1), points.n_threads)
        vanished = ~moved.any(axis=1)  # opposite directions have no mean
        moved[vanished] = queries[vanished]
        if self.radius is not None:
            lengths = _lengths(moved)
            has_length = lengths > 0  # a new sample may have none
            moved[has_length] *= (self.radius / lengths[has_length])[:, None]
        return moved

    def _counts(self, rows: RaggedRows, reach: NDArray[Any]) -> NDArray[np.bool_]:
        """Which entries are mutual, or among the nearest others of a row that has hardly any."""
        mutual = rows.distances <= reach[rows.indices]
        lengths = np.diff(rows.indptr)
        n_mutual = np.diff(offsets(mutual)[rows.indptr])
        others_so_far = offsets(~mutual)
        place = others_so_far[1:] - np.repeat(others_so_far[rows.indptr[:-1]], lengths)  # from 1 on
        missing = np.maximum(self.n_filled - n_mutual, 0)
        counts: NDArray[np.bool_] = mutual | (place <= np.repeat(missing, lengths))
        return counts

    def _weights(self, rows: RaggedRows, degree: int) -> NDArray[np.float64]:
        """Of neighbours, beside one for the sample itself."""
        reach = rows.distances[rows.indptr[1:] - 1].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = rows.distances / np.repeat(reach, np.diff(rows.indptr))
        ratio[np.isnan(ratio)] = 0.0  # of a row without any length
        return np.exp(-(ratio ** (2 / degree)))


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
    moved = points.moved(_moved_points(points, graph, places.weights, found))
    return replace(places, points=moved, reach=graph.reach), found


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
    found = smoothing.moved(queries, 1.0, rows, given, places.weights, places.reach)
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


def _moved_points(
    points: PointSet, graph: NeighborGraph, masses: NDArray[np.float64] | None, smoothing: Smoothing
) -> NDArray[Any]:
    table: NDArray[Any] = points.space.points
    moved = np.empty(table.shape, table.dtype)
    with stage("smoothing", len(table)) as done:
        for block, entries in graph.blocks():
            # without the samples themselves, which are first in their rows
            others = np.ones(entries.stop - entries.start, bool)
            others[graph.indptr[block] - entries.start] = False
            indptr = np.arange(block.stop - block.start + 1) * (smoothing.n_neighbors - 1)
            rows = RaggedRows(indptr, graph.indices[entries][others], graph.distances[entries][others])
            own = np.ones(len(indptr) - 1) if masses is None else masses[block]
            moved[block] = smoothing.moved(table[block], own, rows, points, masses, graph.reach)
            done(len(indptr) - 1)
    return moved


def _common_length(table: NDArray[Any], typical: float) -> float | None:
    """The length of all vectors, if they hardly differ in it beside the length between two."""
    lengths = _lengths(table)
    longest, shortest = float(lengths.max()), float(lengths.min())
    return longest if longest > 0 and longest - shortest <= _ONE_LENGTH * typical else None


def _lengths(table: NDArray[Any]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))
    return lengths
