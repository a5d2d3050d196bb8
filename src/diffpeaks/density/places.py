"""Where samples lie: samples at one place are one point, as heavy as they are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_n_neighbors, check_sample_weight, n_threads
from diffpeaks._native import move_self_first, sort_rows
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import offsets
from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.progress import stage
from diffpeaks.recipes import DEFAULT, Recipe


def automatic_n_neighbors(n_places: int, recipe: Recipe = DEFAULT) -> int:
    """3 log2(n): more than links want, since a density averages over them."""
    return min(n_places, max(2, round(recipe.neighbors * np.log2(max(n_places, 2)))))


@dataclass(frozen=True, eq=False)
class Places:
    """The places of some samples, and how to come back from places to samples.

    Attributes
    ----------
    points : PointSet or GivenGraph
        One point for each place.
    weights : array of shape (n_places,) or None
        What the samples at each place weigh together, in units of the mean over places; None where each
        sample is alone and all weigh the same.
    first : array of shape (n_places,) or None
        The first sample at each place; None where each sample is alone.
    number : array of shape (n_samples,) or None
        The place of each sample, likewise.
    graph : NeighborGraph or None
        That of the points, where it is known already.
    reach : array of shape (n_places,) or None
        How far the last neighbour of each place was before points were moved; None where they were not.
    """

    points: PointSet | GivenGraph
    weights: NDArray[np.float64] | None = None
    first: NDArray[np.int32] | None = None
    number: NDArray[np.int32] | None = None
    graph: NeighborGraph | None = None
    reach: NDArray[Any] | None = None

    @classmethod
    def seen_by(cls, density: Any, points: PointSet | GivenGraph, sample_weight: Any = None) -> Self:
        """Those of distinct samples for the default density, None; others see each sample as it is."""
        if density is None:
            return cls.distinct(points, sample_weight)
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight is given, but density={density!r} counts samples; use density=None"
            )
        return cls(points)

    @classmethod
    @stage("places")
    def distinct(cls, points: PointSet | GivenGraph, sample_weight: Any = None) -> Self:
        """Samples that coincide share a place. A graph or a matrix of distances does not say which do."""
        weights = check_sample_weight(sample_weight, points.n_samples)
        alone = cls(points, None if weights is None else weights / weights.mean())
        if isinstance(points, GivenGraph):
            return alone
        duplicates = points.space.duplicates(points.n_threads)
        if duplicates.all_distinct:
            return alone
        first, number = duplicates.representatives, duplicates.numbers
        together = np.bincount(number, weights).astype(np.float64)
        return cls(points.restricted(first), together / together.mean(), first, number)

    @property
    def masses(self) -> NDArray[np.float64]:
        """The weight of each place, one where all weigh the same."""
        return np.ones(self.points.n_samples) if self.weights is None else self.weights

    def n_neighbors(self, asked: Any, recipe: Recipe = DEFAULT) -> Any:
        """Places that are as many samples as asked for, or all there are; of a graph "auto" is whole rows."""
        if isinstance(asked, str):
            is_graph = isinstance(self.points, GivenGraph)
            return asked if is_graph else automatic_n_neighbors(self.points.n_samples, recipe)
        n_samples = self.points.n_samples if self.number is None else len(self.number)
        return min(check_n_neighbors(asked, n_samples), self.points.n_samples)

    def searched(self, asked: Any, recipe: Recipe = DEFAULT) -> NeighborGraph:
        """The graph of the points, which is searched unless it is known."""
        if self.graph is not None:
            return self.graph
        n_neighbors = self.n_neighbors(asked, recipe)
        return self.points.graph(None if isinstance(n_neighbors, str) else n_neighbors)

    def all_points(self) -> Any:
        """A point for each sample, at its place."""
        points: Any = self.points
        return points if self.number is None else points.restricted(self.number)

    def of_samples(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of places as values of the samples there."""
        return values if self.number is None else values[self.number]

    def of_first(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of values of samples, those of the first sample at each place."""
        return values if self.first is None else values[self.first]

    def graph_of_samples(self, graph: NeighborGraph) -> NeighborGraph:
        """A graph of places as one of samples.

        The first sample at a place has the place's row. The others have it too, with the first one in it,
        so that whatever leads to the place leads to that one.
        """
        if self.first is None or self.number is None:
            return graph
        is_copy = np.ones(len(self.number), bool)
        is_copy[self.first] = False
        lengths = graph.degrees[self.number] + is_copy
        indptr = offsets(lengths)
        # a copy's row is itself, then all of the place's row, which begins with the first sample there
        skipped = indptr[:-1] + is_copy
        source = np.arange(indptr[-1]) + np.repeat(graph.indptr[self.number] - skipped, lengths)
        own = indptr[:-1][is_copy]
        source[own] = 0
        indices, distances = self.first[graph.indices[source]], graph.distances[source]
        indices[own], distances[own] = np.flatnonzero(is_copy), 0
        sort_rows(indptr, indices, distances, n_threads(None))  # other places may be as near as zero
        move_self_first(indptr, indices, distances, n_threads(None))
        # of its nearest samples a row now holds but itself for certain
        return NeighborGraph(
            indptr, indices, distances, 1, 0.0, graph.search, graph.recall, graph.recall_error
        )
