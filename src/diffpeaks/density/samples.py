"""Samples before the density: which are isolated, and how samples are smoothed.

Smoothing. Noise in many dimensions hides hills. In m dimensions k neighbours are about k^(-1/m) of the k-th
neighbour distance apart, and the error of their mean is about k^(-1/2) of it. In the plane the two are alike:
there means would only make clumps. In many dimensions the k-th neighbour is hardly farther than the first,
most of that distance is noise, and the mean has far less of it. Only mutual neighbours count, because in many
dimensions some samples (hubs) are among the nearest of very many others. Other samples are in hardly any
neighbour list; they move towards their nearest neighbours, or else they would stay where noise has put them.

Isolated samples. Among faces, a sample far from all others is a person seen once: a stranger. Among cells, it
is a poor measurement of a common type: an outlier. The distances to nearest neighbours tell which. Strangers
are about as far from all others as random pairs are from each other, and make a second peak in the histogram
of these distances. Outliers are the tail of its one peak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.tensors import on_host
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import FEWEST_NEIGHBORS, intrinsic_dimension
from diffpeaks.neighbors import DistinctSamples, GivenGraph, PointSet
from diffpeaks.neighbors.euclidean import Pull
from diffpeaks.progress import loop_stage, stage
from diffpeaks.recipes import DEFAULT, Recipe, Settings

if TYPE_CHECKING:
    from diffpeaks._native import Graph

_N_BINS = 20  # of the histogram of distances, from zero to that of random pairs
_ONE_LENGTH = 1e-3  # of the distance of random pairs: lengths that differ by less count as equal


@dataclass(frozen=True)
class Smoothing:
    """How samples were moved.

    Attributes
    ----------
    kept : float
        The share of its own position in the new one; the rest is the mean of the sample and its mutual
        neighbours, weighted by exp(-d^2 / h), h the squared distance to its last neighbour.
    dimension : float
        The intrinsic dimension of the data (Levina and Bickel).
    n_neighbors : int
        The sample itself counted.
    n_filled : int
        A sample with fewer mutual neighbours moves towards its nearest other neighbours as well, until they
        are as many.
    radius : float or None
        The length of all samples, if they have the same; moved samples are brought back to it.
    """

    kept: float
    dimension: float
    n_neighbors: int
    n_filled: int
    radius: float | None = None

    def moved(
        self,
        queries: Any,
        rows: Graph,
        points: PointSet,
        masses: NDArray[np.float64] | None,
        reach: NDArray[Any],
        own_first: bool,
    ) -> Any:
        """Queries moved towards the points in their rows (`EuclideanSpace.shifted`)."""
        pull = Pull(self.kept, self.n_filled, points.distance_power == 2, self.radius)
        return points.vectors.shifted(queries, rows, own_first, masses, reach, pull, points.n_threads)


def smoothed(
    distinct: DistinctSamples, graph: NeighborGraph, recipe: Recipe = DEFAULT, seed: int = 0
) -> tuple[DistinctSamples, Smoothing | None]:
    """Samples moved towards their neighbours, and how; unchanged and None in two dimensions or fewer.

    The graph is that of the points of these samples, of which there must be means (`points.can_move`).
    """
    points, n_neighbors = distinct.points, int(graph.n_neighbors or 0)
    with loop_stage("smoothing", points.n_samples):
        dimension = intrinsic_dimension(graph, points.distance_power, points.n_threads)
        is_flat = n_neighbors < FEWEST_NEIGHBORS or dimension < recipe.flat_dimension
        if is_flat or isinstance(points, GivenGraph):
            return distinct, None
        smoothing = Smoothing(
            recipe.share_kept(n_neighbors, dimension),
            dimension,
            n_neighbors,
            min(recipe.fewest, n_neighbors - 1),
            common_length(points, seed),
        )
        reach = graph.reach
        moved = smoothing.moved(points.space.points, graph, points, distinct.weights, reach, own_first=True)
        return replace(distinct, points=points.moved(moved), reach=reach), smoothing


def settings_of(points: PointSet | GivenGraph, graph: NeighborGraph, recipe: Recipe) -> Settings:
    """The settings of the recipe for the intrinsic dimension of the points, if it asks for that."""
    if not recipe.measure_dimension:
        return recipe.in_dimensions(np.inf)
    return recipe.in_dimensions(intrinsic_dimension(graph, points.distance_power, points.n_threads))


def smoothed_samples(
    X: Any, given: PointSet, distinct: DistinctSamples, smoothing: Smoothing
) -> NDArray[Any]:
    """New samples, smoothed by the samples of the fit; those themselves do not move again.

    A duplicate of a sample of the fit takes the position to which that was moved.

    Parameters
    ----------
    X : new samples, checked
    given : the points of the fit before smoothing
    distinct : the same after smoothing
    """
    rows = given.nearest_to(X, smoothing.n_neighbors - 1)
    queries = given.space.queries(X)
    moved, reach = distinct.points, distinct.reach
    assert isinstance(moved, PointSet)
    assert reach is not None
    found = on_host(smoothing.moved(queries, rows, given, distinct.weights, reach, own_first=False))
    nearest = rows.indptr[:-1]
    known = rows.distances[nearest] == 0
    found[known] = on_host(moved.space.points[rows.indices[nearest[known]].astype(np.int64)])
    return found


def common_length(points: PointSet, seed: int) -> float | None:
    """The length of all vectors, if they differ in it by next to nothing of the distance of random pairs."""
    space = points.vectors
    lengths = space.lengths_of(space.points, points.n_threads)
    longest, shortest = float(lengths.max()), float(lengths.min())
    between = points.typical_distance(seed) ** (1 / points.distance_power)
    return longest if longest > 0 and longest - shortest <= _ONE_LENGTH * between else None


@dataclass(frozen=True)
class Isolation:
    """What samples far from all others are, and why.

    Attributes
    ----------
    kind : {"none", "strangers", "outliers", "unknown"}
        "none": hardly any sample is far. "unknown": nearly all are, because distances concentrate, or the
        distance of random pairs is not known.
    far_share : float
        The share of samples whose nearest neighbour is at least `link_share` of the distance of random pairs
        away.
    beyond_share : float
        The share of these whose nearest neighbour is farther than random pairs are.
    peak_to_valley : float
        In the histogram of nearest-neighbour distances: the lower of two peaks, that of near and that of far
        samples, divided by the height of the valley between them.
    max_link : float
        The bound on the length of links: among strangers a share of the distance of random pairs.
    is_given : bool
        Whether the recipe says what they are, rather than the distances.
    by_distances : str
        The kind according to the distances alone.
    """

    kind: str
    far_share: float = 0.0
    beyond_share: float = 0.0
    peak_to_valley: float = 0.0
    max_link: float = np.inf
    is_given: bool = False
    by_distances: str = "none"

    @property
    def are_strangers(self) -> bool:
        return self.kind == "strangers"

    @property
    def forbids_smoothing(self) -> bool:
        """Whether the distances show strangers, which smoothing would move into clusters."""
        return self.are_strangers and self.by_distances == "strangers"

    def __str__(self) -> str:
        if self.is_given:
            return f"the recipe treats isolated samples as {self.kind}"
        if self.kind == "unknown":
            return "the distances do not show which samples are isolated"
        if self.kind == "none":
            return "hardly any sample is isolated"
        peak = "distances to the nearest neighbour have a second peak"
        why = peak if self.are_strangers else peak.replace("a second", "no second")
        if self.beyond_share and not self.are_strangers:
            why = f"{self.beyond_share:.0%} of them are farther from all others than random pairs are"
        return f"{self.far_share:.1%} of the samples are isolated, and treated as {self.kind}: {why}"


def isolation_of(
    points: PointSet | GivenGraph, graph: NeighborGraph, recipe: Recipe = DEFAULT, seed: int = 0
) -> Isolation:
    """What far samples are, by their nearest neighbours in the graph and the distance of random pairs."""
    with stage("isolation"):
        typical = points.typical_distance(seed)
        if typical == np.inf and recipe.isolated == "strangers":
            raise ValueError(
                "isolated='strangers' asks for the distance of random pairs, which a precomputed graph does "
                "not tell; give max_link, or use isolated='auto'"
            )
        if not 0 < typical < np.inf:
            return Isolation("unknown")
        begin, end = graph.indptr[:-1], graph.indptr[1:]
        nearest = begin[end - begin > 1] + 1  # rows begin with the sample itself
        ratio = graph.distances_at(nearest).astype(np.float64) / typical
        found = isolation_by(ratio ** (1 / points.distance_power), recipe)
    kind = found.kind if recipe.isolated == "auto" else recipe.isolated
    max_link = recipe.link_share**points.distance_power * typical if kind == "strangers" else np.inf
    given = recipe.isolated != "auto"
    return replace(found, kind=kind, max_link=max_link, is_given=given, by_distances=found.kind)


def isolation_by(lengths: NDArray[np.float64], recipe: Recipe = DEFAULT) -> Isolation:
    """What far samples are, by nearest-neighbour distances in units of the distance of random pairs."""
    far = lengths >= recipe.link_share
    far_share = float(np.mean(far)) if len(far) else 0.0
    if far_share > 1 - recipe.few:
        return Isolation("unknown", far_share)
    if far_share < recipe.few:
        return Isolation("none", far_share)
    beyond_share = float(np.mean(lengths[far] >= 1))
    height = _peak_to_valley(lengths, recipe.link_share)
    two_peaks = height >= recipe.valley and beyond_share < recipe.few
    return Isolation("strangers" if two_peaks else "outliers", far_share, beyond_share, height)


def _peak_to_valley(lengths: NDArray[np.float64], border: float) -> float:
    """The lower of the two peaks of the histogram, left and right of the border, over the valley between."""
    counts, edges = np.histogram(lengths, _N_BINS, (0.0, 1.0))
    heights = np.convolve(counts, [0.25, 0.5, 0.25], "same")
    first_far = int(np.searchsorted(edges[:-1], border - 0.5 / _N_BINS))
    near, far = int(np.argmax(heights[:first_far])), first_far + int(np.argmax(heights[first_far:]))
    return float(min(heights[near], heights[far]) / max(heights[near : far + 1].min(), 0.5))
