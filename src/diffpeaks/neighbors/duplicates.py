"""Duplicates: points that coincide are searched once, and may count as one sample of their weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.validation import check_n_neighbors
from diffpeaks._native import first_equal, move_self_first, sort_rows
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.given_graph import GivenGraph
from diffpeaks.neighbors.ragged_rows import first_of_rows, tables_of
from diffpeaks.progress import stage

if TYPE_CHECKING:
    from diffpeaks.neighbors.points import PointSet

_BLOCK_ENTRIES = 1 << 18  # that rows have while they are turned into rows of points


class Duplicates:
    """Which of some points coincide: the distinct locations, and the points at each.

    A search finds locations; `points_at` turns them into points. However many points share a
    location, they neither slow the search down nor crowd a point out of its own row. Locations are
    numbered by their first points, so the nearest locations by (distance, index) hold the nearest
    points. A search may also name a location by its first point; `nearest_points` and
    `points_at_first` are for such rows. Points that lie where an earlier one does are `repeats`.
    """

    def __init__(self, n_samples: int, first: NDArray[np.int32] | None = None) -> None:
        """`first` names the first point where each point lies; without it each is alone."""
        self.n_samples = self.n_distinct = n_samples
        self.all_distinct = first is None
        self.repeats: NDArray[np.bool_] | None = None
        if first is None:
            return
        self.repeats = first != np.arange(n_samples)
        order = np.argsort(first, kind="stable")
        new = np.diff(first[order], prepend=-1) != 0
        self._first, self._members = first, order.astype(np.int32)
        self._starts = np.append(np.flatnonzero(new), n_samples)
        self._counts = np.diff(self._starts)
        self.n_distinct = len(self._counts)
        self._number = np.zeros(n_samples, np.int32)
        self._number[self.representatives] = np.arange(self.n_distinct)

    @classmethod
    def of(cls, points: Any, n_threads: int) -> Self:
        """Points grouped by equality."""
        first = first_points(points, n_threads)
        all_distinct = bool(np.all(first == np.arange(len(first), dtype=np.int32)))
        return cls(len(first), None if all_distinct else first)

    @property
    def representatives(self) -> NDArray[np.int32]:
        """One point at each location, the first."""
        if self.all_distinct:
            return np.arange(self.n_samples, dtype=np.int32)
        return self._members[self._starts[:-1]]

    @property
    def numbers(self) -> NDArray[np.int32]:
        """The number of the location where each point lies."""
        if self.all_distinct:
            return np.arange(self.n_samples, dtype=np.int32)
        return self._number[self._first]

    @property
    def counts_at_first(self) -> NDArray[np.int64]:
        """How many points lie where each point lies, counted at the first of them, and 0 at the others."""
        counts = np.ones(self.n_samples, np.int64)
        if not self.all_distinct:
            counts[:] = 0
            counts[self.representatives] = self._counts
        return counts

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value of the points at each location."""
        if self.all_distinct:
            return values
        return np.maximum.reduceat(values[self._members], self._starts[:-1])

    def largest_at_first(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values, with the largest of the points at a location at the first of them."""
        if self.all_distinct:
            return values
        raised = values.copy()
        raised[self.representatives] = self.largest(values)
        return raised

    def points_at(self, rows: RaggedRows, most: int | None = None) -> RaggedRows:
        """Rows of locations as rows of points, at most the first `most` points of each location."""
        if self.all_distinct:
            return rows
        counts = self._counts[rows.indices]
        if most is not None:
            counts = np.minimum(counts, most)
        ends = offsets(counts)
        positions = np.arange(ends[-1]) + np.repeat(self._starts[rows.indices] - ends[:-1], counts)
        distances = np.repeat(rows.distances, counts)
        return RaggedRows(ends[rows.indptr], self._members[positions], distances)

    def points_at_first(self, rows: RaggedRows) -> RaggedRows:
        """Rows of the first points of locations as rows of all points there."""
        if self.all_distinct:
            return rows
        return self.points_at(rows._replace(indices=self._number[rows.indices]))

    def fill_repeats(self, rows: RaggedRows) -> None:
        """Give each point the row of the first one where it lies; rows have one length."""
        if self.repeats is None:
            return
        repeats = np.flatnonzero(self.repeats)
        indices, distances = tables_of(rows)
        for block in _blocks(len(repeats), indices.shape[1]):
            first = self._first[repeats[block]]
            indices[repeats[block]], distances[repeats[block]] = indices[first], distances[first]

    def nearest_points(self, rows: RaggedRows, n_neighbors: int) -> RaggedRows:
        """Rows of first points, all of one length, as rows of the nearest points."""
        if self.all_distinct:
            return rows
        given = tables_of(rows)
        n_rows, width = given[0].shape
        found = list(given)
        if width < n_neighbors:  # few locations
            found = [np.empty((n_rows, n_neighbors), values.dtype) for values in given]
        longest = width * min(n_neighbors, int(self._counts.max()))
        for block in _blocks(n_rows, longest):
            numbers = self._number[given[0][block]]
            shared = np.flatnonzero((self._counts[numbers] > 1).any(axis=1))
            indptr = np.arange(len(shared) + 1, dtype=np.int64) * width
            distances = given[1][block][shared]
            some = self.points_at(RaggedRows(indptr, numbers[shared].ravel(), distances.ravel()), n_neighbors)
            sort_rows(some.indptr, some.indices, some.distances, 1)
            some = first_of_rows(some, n_neighbors)
            for values, new in zip(found, some[1:], strict=True):
                values[block][shared] = new.reshape(-1, n_neighbors)
        indptr = np.arange(n_rows + 1, dtype=np.int64) * n_neighbors
        return RaggedRows(indptr, found[0].ravel(), found[1].ravel())


@dataclass(frozen=True, eq=False)
class DistinctSamples:
    """Distinct samples, and how to get from their values to those of all samples.

    Attributes
    ----------
    points : PointSet or GivenGraph
        One point for each distinct sample.
    totals : array of shape (n_distinct,) or None
        The total weight of the samples at each point; None where all samples are distinct, without weights.
    first : array of shape (n_distinct,) or None
        The first sample at each point; None where all samples are distinct.
    number : array of shape (n_samples,) or None
        The point of each sample, likewise.
    reach : array of shape (n_distinct,) or None
        The distance of each point to its last neighbour before smoothing; None without smoothing.
    """

    points: PointSet | GivenGraph
    totals: NDArray[np.float64] | None = None
    first: NDArray[np.int32] | None = None
    number: NDArray[np.int32] | None = None
    reach: NDArray[Any] | None = None

    @classmethod
    def of(cls, points: PointSet | GivenGraph, weights: NDArray[np.float64] | None, merge: bool) -> Self:
        """Samples as they were given, or with duplicates that `merge` into one sample of their weight.

        A graph that was given does not tell which samples are duplicates.
        """
        if not merge or isinstance(points, GivenGraph):
            return cls(points, weights)
        with stage("duplicates"):
            found = points.space.duplicates(points.n_threads)
            if found.all_distinct:
                return cls(points, weights)
            first, number = found.representatives, found.numbers
            together = np.bincount(number, weights).astype(np.float64)
            return cls(points.restricted(first), together, first, number)

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The totals divided by their mean."""
        return None if self.totals is None else self.totals / self.totals.mean()

    @property
    def n_samples(self) -> int:
        return self.points.n_samples if self.number is None else len(self.number)

    def graph(self, n_neighbors: int | None = None, radius: float | None = None) -> NeighborGraph:
        """The neighbour graph of the points; the last one is kept, and not searched again."""
        if (n_neighbors, radius) not in self._graphs:
            self._graphs.clear()
            self._graphs[n_neighbors, radius] = self.points.graph(n_neighbors, radius)
        return self._graphs[n_neighbors, radius]

    @cached_property
    def _graphs(self) -> dict[tuple[int | None, float | None], NeighborGraph]:
        return {}

    def n_neighbors(self, asked: int) -> int:
        """As many neighbours as were asked for, or all distinct samples, if these are fewer."""
        return min(check_n_neighbors(asked, self.n_samples), self.points.n_samples)

    def all_points(self) -> PointSet | GivenGraph:
        """A point for each sample, also for each duplicate."""
        return self.points if self.number is None else cast("PointSet", self.points).restricted(self.number)

    def of_samples(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of points as values of the samples there."""
        return values if self.number is None else values[self.number]

    def of_first(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of the values of all samples, those of the first sample at each point."""
        return values if self.first is None else values[self.first]

    def graph_of_samples(self, graph: NeighborGraph) -> NeighborGraph:
        """A graph of points as one of samples.

        The first sample at a point has the row of the point. Each of its duplicates has the same row behind
        itself, so that every row leads to first samples alone.
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
        return NeighborGraph.with_rows(graph, RaggedRows(indptr, indices, distances))  # on the host


class ComparedByValue:
    """What spaces share whose points coincide where their values are equal."""

    points: Any
    _duplicates: Duplicates | None = None

    def duplicates(self, n_threads: int) -> Duplicates:
        if self._duplicates is None:
            self._duplicates = Duplicates.of(self.points, n_threads)
        return self._duplicates

    def same(self, queries: Any, first: int) -> NDArray[np.bool_]:
        return equal_rows(queries, self.points[first : first + queries.shape[0]])


def equal_rows(X: Any, Y: Any) -> NDArray[np.bool_]:
    """Which rows are the same, value for value; NaN equals NaN."""
    if sp.issparse(X):
        return np.diff(sp.csr_array(X != Y).indptr) == 0
    return np.all((X == Y) | ((X != X) & (Y != Y)), axis=1)


def _blocks(n_rows: int, entries_each: int) -> Iterator[slice]:
    step = max(1, _BLOCK_ENTRIES // max(1, entries_each))
    return (slice(first, first + step) for first in range(0, n_rows, step))


def first_points(points: Any, n_threads: int) -> NDArray[np.int32]:
    """For each point the first point that equals it."""
    if sp.issparse(points):
        return _sparse_first_equal(points)
    first = np.empty(len(points), np.int32)
    values = points.astype(np.float32) if points.dtype == bool else points
    first_equal(np.ascontiguousarray(values), first, n_threads)
    return first


def _sparse_first_equal(points: Any) -> NDArray[np.int32]:
    canonical = points.copy()
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    seen: dict[bytes, int] = {}
    first = np.empty(canonical.shape[0], np.int32)
    for row, (begin, end) in enumerate(zip(canonical.indptr, canonical.indptr[1:], strict=False)):
        key = canonical.indices[begin:end].tobytes() + canonical.data[begin:end].tobytes()
        first[row] = seen.setdefault(key, row)
    return first
