"""Samples as the density sees them: duplicates as one, moved towards their neighbours.

Those that coincide are one point, as heavy as they are together. Noise in many dimensions hides hills.
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

from diffpeaks._base.validation import check_n_neighbors, check_sample_weight
from diffpeaks._native import move_self_first, shift_towards, sort_rows
from diffpeaks.density.base import GraphDensity
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import FEWEST_NEIGHBORS, intrinsic_dimension
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.neighbors.euclidean import squared_norms
from diffpeaks.progress import stage
from diffpeaks.recipes import DEFAULT, Recipe

if TYPE_CHECKING:
    from diffpeaks._native import Graph

_ONE_LENGTH = 1e-3  # of the typical length between samples: lengths that differ by less are one


@dataclass(frozen=True, eq=False)
class DistinctSamples:
    """The distinct ones of some samples, and how to come back from them to all.

    Attributes
    ----------
    points : PointSet or GivenGraph
        One point for each distinct sample.
    weights : array of shape (n_distinct,) or None
        What the samples at each point weigh together, in units of the mean over points; None where each
        sample is distinct and all weigh the same.
    first : array of shape (n_distinct,) or None
        The first sample at each point; None where each sample is distinct.
    number : array of shape (n_samples,) or None
        The point of each sample, likewise.
    reach : array of shape (n_distinct,) or None
        How far the last neighbour of each point was before points were moved; None where they were not.
    """

    points: PointSet | GivenGraph
    weights: NDArray[np.float64] | None = None
    first: NDArray[np.int32] | None = None
    number: NDArray[np.int32] | None = None
    reach: NDArray[Any] | None = None

    @property
    def n_samples(self) -> int:
        return self.points.n_samples if self.number is None else len(self.number)

    def n_neighbors(self, asked: int | str, recipe: Recipe) -> int | None:
        """Resolve `n_neighbors`, at most the number of distinct samples; None stands for whole rows."""
        if isinstance(asked, str):
            is_graph = isinstance(self.points, GivenGraph)
            return None if is_graph else recipe.n_neighbors(self.points.n_samples)
        return min(check_n_neighbors(asked, self.n_samples), self.points.n_samples)

    def all_points(self) -> Any:
        """A point for each sample, where the distinct one is."""
        points: Any = self.points
        return points if self.number is None else points.restricted(self.number)

    def of_samples(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of points as values of the samples there."""
        return values if self.number is None else values[self.number]

    def of_first(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of values of samples, those of the first sample at each point."""
        return values if self.first is None else values[self.first]

    def graph_of_samples(self, graph: NeighborGraph) -> NeighborGraph:
        """A graph of points as one of samples.

        The first sample at a point has the point's row. The others have it too, with the first one in it,
        so that whatever leads to the point leads to that one.
        """
        if self.first is None or self.number is None:
            return graph
        is_copy = np.ones(len(self.number), bool)
        is_copy[self.first] = False
        lengths = graph.degrees[self.number] + is_copy
        indptr = offsets(lengths)
        # a copy's row is itself, then all of the point's row, which begins with the first sample there
        skipped = indptr[:-1] + is_copy
        source = np.arange(indptr[-1]) + np.repeat(graph.indptr[self.number] - skipped, lengths)
        own = indptr[:-1][is_copy]
        source[own] = 0
        indices, distances = self.first[graph.indices[source]], graph.distances[source]
        indices[own], distances[own] = np.flatnonzero(is_copy), 0
        threads = self.points.n_threads
        sort_rows(indptr, indices, distances, threads)  # other points may be as near as zero
        move_self_first(indptr, indices, distances, threads)
        # of its nearest samples a row now holds but itself for certain
        return graph.with_rows(indptr, indices, distances)


def distinct_samples(
    points: PointSet | GivenGraph, density: GraphDensity, sample_weight: Any, recipe: Recipe
) -> DistinctSamples:
    """Samples that coincide as one, where the recipe says so and the density knows weights.

    A graph or a matrix of distances does not say which coincide.
    """
    if sample_weight is not None and not density.knows_weights:
        raise ValueError(
            f"sample_weight is given, but {density!r} counts samples; use density=None, or KernelDiffusion "
            "with finitely many steps"
        )
    weights = None if sample_weight is None else check_sample_weight(sample_weight, points.n_samples)
    apart = DistinctSamples(points, None if weights is None else weights / weights.mean())
    if isinstance(points, GivenGraph) or not (recipe.merge_duplicates and density.knows_weights):
        return apart
    with stage("duplicates"):
        duplicates = points.space.duplicates(points.n_threads)
        if duplicates.all_distinct:
            return apart
        first, number = duplicates.representatives, duplicates.numbers
        together = np.bincount(number, weights).astype(np.float64)
        return DistinctSamples(points.restricted(first), together / together.mean(), first, number)


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
        pull = self.kept, self.n_filled, points.distance_power == 2
        shift_towards(queries, rows, own_first, targets, pull, moved, points.n_threads)
        if self.radius is not None:
            lengths = np.sqrt(squared_norms(moved))
            has_length = lengths > 0  # a new sample may have none
            moved[has_length] *= (self.radius / lengths[has_length])[:, None]
        return moved


def smoothed(
    distinct: DistinctSamples, graph: NeighborGraph, recipe: Recipe = DEFAULT
) -> tuple[DistinctSamples, Smoothing | None]:
    """The samples after they were moved, and how; None where they stay, in about two dimensions.

    The graph is that of their points, which must be such that have means (`points.can_move`).
    """
    points = distinct.points
    if isinstance(points, GivenGraph) or int(graph.n_neighbors or 0) < FEWEST_NEIGHBORS:
        return distinct, None
    found = _smoothing_for(points, graph, recipe)
    if found.dimension < recipe.flat_dimension:
        return distinct, None
    table, reach = np.ascontiguousarray(points.space.points), graph.reach
    moved = found.moved(table, graph, points, distinct.weights, reach, own_first=True)
    return replace(distinct, points=points.moved(moved), reach=reach), found


def smoothed_samples(
    X: Any, given: PointSet, distinct: DistinctSamples, smoothing: Smoothing
) -> NDArray[Any]:
    """New samples moved as if they had been among those of the fit, who stay where they are.

    One that coincides with a sample of the fit goes where that has gone.

    Parameters
    ----------
    X : new samples, checked
    given : the points of the fit before they were moved
    distinct : where they are now
    """
    queries = np.ascontiguousarray(given.space.queries(X))
    rows = given.nearest_to(X, smoothing.n_neighbors - 1)
    found = smoothing.moved(queries, rows, given, distinct.weights, distinct.reach, own_first=False)
    nearest = rows.indptr[:-1]
    known = rows.distances[nearest] == 0
    moved: Any = distinct.points
    found[known] = moved.space.points[rows.indices[nearest[known]]]
    return found


def _smoothing_for(points: PointSet, graph: NeighborGraph, recipe: Recipe) -> Smoothing:
    n_neighbors = int(graph.n_neighbors or 0)
    dimension = intrinsic_dimension(graph, points.distance_power, points.n_threads)
    typical = points.typical_distance() ** (1 / points.distance_power)
    return Smoothing(
        recipe.share_kept(n_neighbors, dimension),
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
