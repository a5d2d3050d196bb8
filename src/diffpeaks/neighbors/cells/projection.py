"""Coordinates along fewer directions than there are features, where these make a join cheaper."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._native import FEATURE_BLOCK, project
from diffpeaks.neighbors.blas import ONE_BLAS_THREAD
from diffpeaks.neighbors.cells.costs import DISTANCE, LISTED, PROJECTION, visit_cost
from diffpeaks.neighbors.cells.join import Coordinates, padded

_FEWEST_SAMPLES = 1024
_SAMPLE = 4096
_SAMPLE_OF_DIRECTIONS = 1024
_QUERIES = 128  # of the sample, compared with all of it
_NEAR = 3  # neighbours within that sample
_LISTED = 0.99  # share of the neighbours that a shortlist holds
FEWEST_FEATURES = 256  # below, there is little to save
_TRIED = (1, 2, 3, 4, 6, 8)  # numbers of directions, in blocks of features
_MOST = 1 / 3  # of the features: beyond, directions do not save enough
_FAR = 200.0  # typical lengths to the farthest point: beyond, rounding of its row spoils the bounds
_SAFE = (1e-15, 1e15)  # values of which a float holds products of two and sums of these


class ProjectedCoordinates(Coordinates):
    """The directions along which the points vary most: distances can only become smaller."""

    def __init__(
        self, points: Any, origin: NDArray[np.float64], directions: NDArray[np.float32], n_threads: int
    ) -> None:
        self._directions, self._origin, self._n_threads = directions, origin, n_threads
        # of each dot product in float, in lanes of sixteen, and of them all together
        self._rounding = (points.shape[1] / 16 + 16) * 2.0**-23 * np.sqrt(len(directions))
        table, squares = self._along(points)
        largest = float(np.sqrt(squares.max()))
        super().__init__(table, np.zeros(len(directions)), largest)
        self.error = self._rounding * largest * self.scale
        self.tails = self._tails(table, squares)

    @property
    def origin(self) -> NDArray[np.float64]:
        return self._origin

    def of_queries(self, queries: Any) -> tuple[NDArray[Any], NDArray[np.float32], float]:
        table, squares = self._along(np.ascontiguousarray(queries))
        # a query may lie farther out than all points, and its rounding goes with its length
        farthest = float(np.sqrt(squares.max(initial=0)))
        error = max(self.error, self._rounding * farthest * self.scale)
        return table, self._tails(table, squares), error

    def _along(self, points: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Dot products with the directions, and squared lengths."""
        table = np.empty((len(points), len(self._directions)), np.float32)
        squares = np.empty(len(points), np.float32)
        project(points, self._origin, self._directions, table, squares, self._n_threads)
        return table, squares

    def _tails(self, table: NDArray[np.float32], squares: NDArray[np.float32]) -> NDArray[np.float32]:
        inside = np.einsum("ij,ij->i", table, table, dtype=np.float64)
        outside = np.maximum(squares - inside, 0) + 4 * self._rounding * squares.astype(np.float64)
        return (np.sqrt(outside) * self.scale * (1 + 1e-6)).astype(np.float32)


class Workload(NamedTuple):
    """What is done with coordinates, for each point."""

    n_compared: int  # points
    n_neighbors: int
    shortlisted: bool  # distances are computed for a shortlist only, else for all that the bounds admit
    fewest_directions: int = 0  # fewer were tried before, and told too little

    def distances_per_neighbor(self, squares: NDArray[np.float32], inside: NDArray[np.float32]) -> float:
        """How many must be computed, judged by squared distances within a sample: true, along directions."""
        if self.shortlisted:
            nearest = np.argpartition(squares, _NEAR, axis=1)[:, :_NEAR]
            of_nearest = np.take_along_axis(inside, nearest, axis=1)
            n_inside = np.sum(inside[:, None, :] <= of_nearest[:, :, None], axis=2)
            return float(np.quantile(n_inside, _LISTED)) / _NEAR
        # as many as are neighbours in the sample: the last one may lie far beyond the first
        n_sampled = squares.shape[1]
        near = min(n_sampled - 1, max(_NEAR, round(self.n_neighbors * n_sampled / self.n_compared)))
        farthest = np.partition(squares, near - 1, axis=1)[:, near - 1]
        return float(np.mean(np.sum(inside <= farthest[:, None], axis=1))) / near


def projected(points: Any, workload: Workload, n_threads: int) -> ProjectedCoordinates | None:
    """Coordinates along the directions that cost least for some work; None where the points cost less."""
    n_features = points.shape[1]
    if n_features < FEWEST_FEATURES or len(points) <= _FEWEST_SAMPLES:
        return None
    which = np.random.RandomState(0).choice(len(points), min(_SAMPLE, len(points)), replace=False)
    center = points[which].mean(axis=0, dtype=np.float64)
    sample = points[which] - center.astype(points.dtype)
    low, high = _SAFE
    if not low <= np.abs(sample).max() <= high:
        return None
    directions = _cheapest_directions(sample.astype(np.float32), workload)
    if directions is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # of a point so far out that it is refused here
        coordinates = ProjectedCoordinates(points, center, directions, n_threads)
    typical = np.sqrt(np.mean(np.square(sample)) * n_features)
    return coordinates if coordinates.largest < _FAR * typical else None


def _cheapest_directions(sample: NDArray[np.float32], workload: Workload) -> NDArray[np.float32] | None:
    """The principal directions, as many as cost least on a centred sample; None where all features do.

    Fewer directions make cheaper products, but tell less: more distances must be computed.
    """
    n_features = sample.shape[1]
    blocks = np.multiply(_TRIED, FEATURE_BLOCK).tolist()
    tried = [n for n in blocks if workload.fewest_directions <= n <= _MOST * n_features]
    if not tried:
        return None
    directions = principal_directions(sample[:_SAMPLE_OF_DIRECTIONS], tried[-1])
    with ONE_BLAS_THREAD:
        squares = _squared_distances(sample)
        along = sample @ directions[:, :n_features].T
        costs = {n_features: _cost(n_features, n_features, workload, 1.2)}
        for n_directions in tried:
            inside = _squared_distances(along[:, :n_directions])
            n_distances = workload.distances_per_neighbor(squares, inside)
            projection = n_features * n_directions * PROJECTION
            costs[n_directions] = projection + _cost(n_directions, n_features, workload, n_distances)
    cheapest = min(costs, key=lambda n_directions: costs[n_directions])
    return None if cheapest == n_features else np.ascontiguousarray(directions[:cheapest])


def _cost(n_coordinates: int, n_features: int, workload: Workload, distances_per_neighbor: float) -> float:
    n_distances = distances_per_neighbor * workload.n_neighbors
    distance = LISTED if workload.shortlisted else DISTANCE
    return workload.n_compared * visit_cost(n_coordinates) + n_distances * n_features * distance


def _squared_distances(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """From the first rows to all; of a row to itself infinite."""
    squares = np.einsum("ij,ij->i", rows, rows)
    between = squares[:_QUERIES, None] + squares - 2 * rows[:_QUERIES] @ rows.T
    np.fill_diagonal(between, np.inf)
    return between


def principal_directions(sample: NDArray[np.float32], n_directions: int) -> NDArray[np.float32]:
    """Orthonormal rows along which a centred sample varies most, about the best ones; padded with zeros."""
    random = np.random.RandomState(0)
    guess = random.standard_normal((sample.shape[1], n_directions + 16)).astype(np.float32)
    with ONE_BLAS_THREAD:
        for _ in range(2):
            guess = np.linalg.qr(sample.T @ (sample @ guess))[0]
        along = sample @ guess
        _, rotation = np.linalg.eigh(along.T @ along)
        basis = np.linalg.qr((guess @ rotation[:, ::-1]).astype(np.float64))[0][:, :n_directions]
        directions = np.zeros((n_directions, padded(sample.shape[1])), np.float32)
        directions[:, : sample.shape[1]] = basis.T
        products = directions.astype(np.float64) @ directions.T.astype(np.float64)
    # floats are not quite orthonormal: a bound on their stretch is taken out, so that no distance grows
    stretch = np.abs(products).sum(axis=1).max()
    return directions / np.float32(np.sqrt(stretch) * (1 + 1e-6))
