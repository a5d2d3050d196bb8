"""Points that can be searched: the questions of the estimators, and the choice of the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from diffpeaks._base.constants import NO_POINT
from diffpeaks._base.validation import check_list_length, check_radius
from diffpeaks._native import move_self_first
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import freeze
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.cells.approximate import ApproximateSearch
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.contract import Search, Space, Told
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.memory.limited import limited_search
from diffpeaks.neighbors.ragged_rows import tables_of, with_rows
from diffpeaks.neighbors.trees import FEW_FEATURES, MOST_FEATURES, SOME_FEATURES, TreeSearch
from diffpeaks.progress import stage

SEARCHES: dict[str, type[Search]] = {"tree": TreeSearch, "cells": CellSearch, "brute": BruteSearch}
CHOICES = ("auto", "exact", "approximate", *SEARCHES)
# Multiplications of all pairs up to which "auto" stays exact: some seconds on two cores. It depends on
# the data alone, so that the same data get the same graph on every machine.
AFFORDABLE = 2.0**40
AFFORDABLE_ON_GPU = 2.0**52  # likewise: some seconds on one H200
# Seconds for a point with few features, on one thread (benchmarks/neighbors/choice.py): at least, and times
# the number of points for exact cells, times its root for approximate ones; for a feature in brute force.
_EXACT, _APPROXIMATE, _COMPARED = (6e-6, 3e-10), (8e-6, 2.6e-8), 1e-9
_WORTH_LOOKING = 2000  # points: of fewer, any search is fast
_FAR_OFF = 1 / 64  # of all points: sorting more neighbours takes longer than looking at each point once
_SAMPLE = 1024  # points of a sample for a typical length: its median is known to a few percent


class PointSet:
    """Points in a space, with the search that was chosen for them.

    Attributes
    ----------
    can_move : bool
        Whether means of points are points: in Euclidean space, where they are dense.
    distance_power : int
        2 for squared distances, as of directions, else 1.
    """

    def __init__(self, space: Space, search: Search, choice: Choice) -> None:
        """By the same `choice` the search of a part of the points is chosen."""
        self.space, self.search, self._choice = space, search, choice
        self.n_samples: int = space.points.shape[0]
        self.n_jobs, self.n_threads = choice.n_jobs, choice.n_threads
        self.can_move = space.can_join
        self.distance_power = 2 if space.measure is not None and space.measure.squared else 1
        self._typical_distances: dict[int, float] = {}  # by seed
        self._typical_radii: dict[int, float] = {}  # by number of neighbours

    def restricted(self, which: NDArray[Any]) -> PointSet:
        """Some of the points, with a search of their own."""
        return self._choice.points(self.space.restricted(which))

    @property
    def vectors(self) -> EuclideanSpace:
        """The space of points that can move."""
        if not isinstance(self.space, EuclideanSpace):
            raise TypeError(f"means of points are no points in a {type(self.space).__name__}")
        return self.space

    def moved(self, points: NDArray[Any]) -> PointSet:
        """These points after smoothing, under the same metric; their search starts from that of these."""
        space = self.vectors.moved(points)
        return type(self)(space, self.search.moved(space), self._choice)

    def others(self, points: NDArray[Any]) -> PointSet:
        """Other points under the same metric, with a search of their own."""
        return self._choice.points(self.vectors.moved(points))

    def graph(self, n_neighbors: int | None = None, radius: float | None = None) -> NeighborGraph:
        """Each point's `n_neighbors` nearest, its ball of `radius`, or with both whichever is more."""
        if n_neighbors is None and radius is None:
            raise ValueError("a neighbour graph needs n_neighbors, radius, or both")
        if n_neighbors is not None:
            n_neighbors = check_list_length(n_neighbors, self.n_samples)
        if radius is None:
            rows = self.search.nearest(self.space.points, int(n_neighbors or 0))
            complete = np.inf if n_neighbors == self.n_samples else 0.0
        else:
            rows = self._balls(self.space.points, check_radius(radius), n_neighbors or 0)
            complete = float(radius)
        # balls, and the rows that go on beyond them, are exact, as is the nearest neighbour, the point itself
        approximated = int(n_neighbors or 0) if radius is None else 1
        lost = move_self_first(rows.indptr, rows.indices, rows.distances, self.n_threads)
        if radius is not None and lost >= 0:
            raise ValueError(
                f"the metric puts point {lost} farther than radius={radius} from itself; "
                "use a metric with d(x, x) = 0, or n_neighbors instead of radius"
            )
        held = n_neighbors or int(np.diff(rows.indptr).min())
        found = *rows, held, complete, *self._told(approximated)
        if self.space.measure is not None:
            return NeighborGraph.of_valid(*found)
        for values in rows:
            freeze(values)
        return NeighborGraph(*found)  # a metric of the user may give anything: it is checked

    def _told(self, n_neighbors: int) -> Told:
        """How the search finds that many neighbours of the points."""
        search = self.search
        return (search.name, 1.0, 0.0) if search.told is None else search.told(n_neighbors)

    def _balls(self, queries: Any, radius: float, n_neighbors: int) -> RaggedRows:
        """All points within the radius; rows with fewer than `n_neighbors` go on to as many."""
        rows = self.search.within(queries, radius)
        short = np.flatnonzero(np.diff(rows.indptr) < n_neighbors)
        if not len(short):
            return rows
        return with_rows(rows, short, self.search.nearest(queries[short], n_neighbors))

    def searched(self) -> PointSet:
        """The points themselves: they can be searched."""
        return self

    def are_points(self, X: Any, first: int) -> NDArray[np.bool_]:
        """Which rows of X equal the points `first`, `first` + 1, ... value for value."""
        queries = self.space.queries(X)
        n_compared = min(X.shape[0], max(0, self.n_samples - first))
        same = np.zeros(X.shape[0], bool)
        same[:n_compared] = self.space.same(queries[:n_compared], first)
        return same

    def nearest_to(self, X: Any, n_neighbors: int) -> RaggedRows:
        """The nearest points of each new sample."""
        return self.search.nearest(self.space.queries(X), n_neighbors)

    def within_of(self, X: Any, radius: float, at_least: int = 0) -> RaggedRows:
        """The points in the ball around each new sample; the `at_least` nearest ones where these are more."""
        return self._balls(self.space.queries(X), radius, at_least)

    def reaching(self, X: Any, reach: NDArray[Any]) -> RaggedRows:
        """The points whose distance to each new sample is at most their own `reach`."""
        return self.search.reaching(self.space.queries(X), reach)

    def nearest_denser(
        self, points: NDArray[Any], rank: NDArray[Any], n_neighbors: int
    ) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The exact nearest point of lower rank for each of `points`, beyond `n_neighbors` nearest.

        A tree skips points that are not denser. Otherwise the number of neighbours is multiplied by four
        until a denser one is among them; the few points without one nearby are compared with all denser
        points, if single distances are cheap. The densest point of all has none: NO_POINT and infinity.
        """
        if isinstance(self.search, TreeSearch):
            return self.search.nearest_denser(points, rank)
        parent = np.full(len(points), NO_POINT, np.int32)
        delta = np.full(len(points), np.inf)
        left = np.flatnonzero(rank[points] > 0)
        with stage("hilltops", len(left)) as done:
            while len(left):
                n_neighbors = min(4 * n_neighbors, self.n_samples)
                if n_neighbors > _FAR_OFF * self.n_samples and self.space.measure is not None:
                    for which in left:
                        parent[which], delta[which] = self._nearest_of_all_denser(points[which], rank)
                        done(1)
                    break
                step = max(1, (1 << 23) // n_neighbors)
                for block in (left[first : first + step] for first in range(0, len(left), step)):
                    queries = self.space.points[points[block].astype(np.int64)]
                    indices, distances = tables_of(self.search.nearest(queries, n_neighbors))
                    denser = rank[indices] < rank[points[block]][:, None]
                    first_denser = denser.argmax(axis=1)
                    rows = np.flatnonzero(denser.any(axis=1))
                    parent[block[rows]] = indices[rows, first_denser[rows]]
                    delta[block[rows]] = distances[rows, first_denser[rows]]
                    done(len(rows))
                left = left[parent[left] == NO_POINT]
        return parent, delta

    def _nearest_of_all_denser(self, point: Any, rank: NDArray[Any]) -> tuple[int, float]:
        denser = np.flatnonzero(rank < rank[point])
        distances = self.space.between(np.array([point]), denser, self.n_threads)[0]
        nearest = int(np.argmin(distances))  # ties to the lower
        return int(denser[nearest]), float(distances[nearest])

    def automatic_n_neighbors(self) -> int:
        """2 log2(n): enough for a density, few enough to stay local."""
        return min(self.n_samples, max(2, round(2 * np.log2(max(self.n_samples, 2)))))

    def typical_distance(self, seed: int = 0) -> float:
        """Median distance between two points drawn at random; measured once."""
        if self.n_samples < 2:
            return 0.0
        if seed not in self._typical_distances:
            random = np.random.RandomState(seed)
            first, second = self._sample(random), self._sample(random)
            self._typical_distances[seed] = self._median_between(first, second)
        return self._typical_distances[seed]

    def _median_between(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        """The median distance of the pairs of some points and others that are not the same."""
        distances = self.space.between(first, second, self.n_threads)
        return float(np.median(distances[first[:, None] != second]))

    def typical_radius(self, n_neighbors: int | None) -> float:
        """Median distance to the `n_neighbors`-th neighbour where that is not zero; measured once."""
        n_neighbors = n_neighbors or self.automatic_n_neighbors()
        if n_neighbors not in self._typical_radii:
            self._typical_radii[n_neighbors] = self._median_reach(n_neighbors)
        return self._typical_radii[n_neighbors]

    @stage("radius")
    def _median_reach(self, n_neighbors: int) -> float:
        sample = self._sample(np.random.RandomState(0))
        found = self.search.nearest(self.space.points[sample], n_neighbors)
        farthest = found.distances[found.indptr[1:] - 1]
        if not np.any(farthest > 0):
            raise ValueError(
                f"radius='auto' finds no positive distance among {n_neighbors} neighbours in "
                f"n_samples={self.n_samples} (nothing but duplicates); give a radius"
            )
        return float(np.median(farthest[farthest > 0]))

    def _sample(self, random: np.random.RandomState) -> NDArray[Any]:
        if self.n_samples <= _SAMPLE:
            return np.arange(self.n_samples)
        return np.sort(sample_without_replacement(self.n_samples, _SAMPLE, random_state=random))


@dataclass(frozen=True)
class Choice:
    """The choice of a search: the one that was asked for, or the one that suits the space."""

    asked: str | ApproximateSearch
    n_jobs: int | None
    n_threads: int
    memory_limit: int | None = None
    n_neighbors: int = 1  # the most that are searched, where memory is limited
    device: str | None = None  # of torch; None is the host

    def points(self, space: Space) -> PointSet:
        """The points of a space with their search."""
        if self.device is not None:
            return self._on_device(space)
        return PointSet(space, self.search(space), self)

    def search(self, space: Space) -> Search:
        if self.memory_limit is not None:
            make = TreeSearch if self.may_be_tree(space) else self._without_tree(space)
            return limited_search(make, space, self.n_threads, self.memory_limit, self.n_neighbors)
        if self.may_be_tree(space):
            tree = TreeSearch(space, self.n_threads)
            is_sure = space.points.shape[1] <= FEW_FEATURES
            if is_sure or tree.predicted_seconds() < self._seconds_without_tree(space):
                return tree
        search: Search = self._without_tree(space)(space, self.n_threads)
        return search

    def _on_device(self, space: Any) -> PointSet:
        """Searched there, too."""
        if self.asked in SEARCHES:
            raise ValueError(
                f"search={self.asked!r} runs on the host, not on device={self.device!r}; use search='auto', "
                "or device=None"
            )
        from diffpeaks.neighbors.gpu.points import DevicePointSet, device_search  # which need torch

        recall = None if self._stays_exact(space, AFFORDABLE_ON_GPU) else self._approximate.recall
        search = device_search(space, str(self.device), self.n_threads, self.memory_limit, recall)
        return DevicePointSet(space, search, self)

    def may_be_tree(self, space: Space) -> bool:
        """Whether a tree may be the fastest; none is built to find out where points are few."""
        n_samples, n_features = space.points.shape
        looks = self.memory_limit is None and n_samples >= _WORTH_LOOKING
        searchable = space.minkowski_order is not None and self.asked not in SEARCHES
        return searchable and n_features <= (MOST_FEATURES if looks else SOME_FEATURES)

    def _without_tree(self, space: Space) -> Callable[[Space, int], Search]:
        """The class of a search, or an ApproximateSearch, which makes one."""
        if self.asked in SEARCHES:
            return SEARCHES[self.asked]
        if not space.can_join:
            return BruteSearch if self.asked in ("auto", "exact") else self._approximate
        return CellSearch if self._stays_exact(space) else self._approximate

    @property
    def _approximate(self) -> ApproximateSearch:
        return self.asked if isinstance(self.asked, ApproximateSearch) else ApproximateSearch()

    def _stays_exact(self, space: Space, affordable: float = AFFORDABLE) -> bool:
        n_samples, n_features = space.points.shape
        is_affordable = float(n_samples) ** 2 * n_features <= affordable
        return self.asked == "exact" or (self.asked == "auto" and is_affordable)

    def _seconds_without_tree(self, space: Space) -> float:
        """An estimate for another search: seconds for a point with few features, on one thread."""
        n_samples, n_features = space.points.shape
        if not space.can_join:
            return n_samples * n_features * _COMPARED
        each, growing = _EXACT if self._stays_exact(space) else _APPROXIMATE
        return each + growing * (n_samples if self._stays_exact(space) else np.sqrt(n_samples))
