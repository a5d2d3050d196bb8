"""Where samples lie: samples at one place are one point, as heavy as they are together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._validation import check_sample_weight
from diffpeaks.graph import NeighborGraph, offsets
from diffpeaks.neighbors import GivenGraph, PointSet


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
    """

    points: PointSet | GivenGraph
    weights: NDArray[np.float64] | None = None
    first: NDArray[np.int32] | None = None
    number: NDArray[np.int32] | None = None

    @classmethod
    def distinct(cls, points: PointSet | GivenGraph, sample_weight: Any = None) -> Self:
        """Samples that coincide share a place. A graph or a matrix of distances does not say which do."""
        weights = check_sample_weight(sample_weight, points.n_samples)
        locations = None if isinstance(points, GivenGraph) else points.space.locations()
        if locations is None or locations.all_distinct:
            return cls(points, None if weights is None else weights / weights.mean())
        first, number = locations.representatives, locations.numbers
        together = np.bincount(number, weights).astype(np.float64)
        return cls(points.restricted(first), together / together.mean(), first, number)

    def of_samples(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of places as values of the samples there."""
        return values if self.number is None else values[self.number]

    def samples_at(self, places: NDArray[Any]) -> NDArray[Any]:
        """The first sample at each of some places."""
        return places if self.first is None else self.first[places]

    def graph_of_samples(self, graph: NeighborGraph) -> NeighborGraph:
        """A graph of places as one of samples.

        The first sample at a place has the place's row; the others know it alone, at distance zero.
        """
        if self.first is None or self.number is None:
            return graph
        n_samples = len(self.number)
        is_first = np.zeros(n_samples, bool)
        is_first[self.first] = True
        lengths = np.full(n_samples, 2)
        lengths[self.first] = graph.degrees
        indptr = offsets(lengths)
        of_first = np.repeat(is_first, lengths)
        indices = np.empty(indptr[-1], np.int32)
        distances = np.zeros(indptr[-1], graph.distances.dtype)
        # places are numbered by their first samples, so that their rows follow each other here too
        indices[of_first] = self.first[graph.indices]
        distances[of_first] = graph.distances
        copies = np.flatnonzero(~is_first)
        indices[indptr[copies]], indices[indptr[copies] + 1] = copies, self.first[self.number[copies]]
        # of its nearest samples a row now holds but itself for certain
        return NeighborGraph(
            indptr, indices, distances, 1, 0.0, graph.search, graph.recall, graph.recall_error
        )
