"""Distinct samples: those that coincide are one point, as heavy as they are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_n_neighbors, check_sample_weight, n_threads
from diffpeaks._native import move_self_first, sort_rows
from diffpeaks.density.base import GraphDensity
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.progress import stage
from diffpeaks.recipes import Recipe


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

    @property
    def masses(self) -> NDArray[np.float64]:
        """The weight of each point, one where all weigh the same."""
        return np.ones(self.points.n_samples) if self.weights is None else self.weights

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
        sort_rows(indptr, indices, distances, n_threads(None))  # other points may be as near as zero
        move_self_first(indptr, indices, distances, n_threads(None))
        # of its nearest samples a row now holds but itself for certain
        return graph.with_rows(indptr, indices, distances)


@stage("duplicates")
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
    locations = points.space.locations()
    if locations.all_distinct:
        return apart
    first, number = locations.representatives, locations.numbers
    together = np.bincount(number, weights).astype(np.float64)
    return DistinctSamples(points.restricted(first), together / together.mean(), first, number)
