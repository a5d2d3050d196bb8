"""Labels of new samples: what the fitted samples around them say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.cuts.noise import border_density
from diffpeaks.density import GraphDensity
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors import PointSet
from diffpeaks.neighbors.ragged_rows import leading
from diffpeaks.progress import stage
from diffpeaks.recipes import WHOLE_ROWS, LinkShares

if TYPE_CHECKING:
    from diffpeaks.results.clustering import Clustering

_BLOCK_VALUES = 1 << 21  # of new samples, or of their neighbours, at a time

# Labels of new samples that coincide with no fitted one, from their neighbours, of which each has some.
Rule: TypeAlias = Callable[[Any, RaggedRows], NDArray[np.int64]]


@dataclass(frozen=True)
class Surroundings:
    """Which fitted samples decide about a new one: those to which the graph would have linked it.

    Attributes
    ----------
    density : fitted density, whose neighbours are looked at
    labels : array with a label for each point of the density
    shares : LinkShares
        Of each row, itself counted, the nearest part counts.
    max_link : float
        No link is that long or longer.
    at_least : int
        So many are looked at where a ball holds fewer.
    """

    density: GraphDensity
    labels: NDArray[np.int64]
    shares: LinkShares = WHOLE_ROWS
    max_link: float = np.inf
    at_least: int = 0

    def rows(self, X: Any) -> tuple[RaggedRows, NDArray[np.int64]]:
        """The neighbours of new samples, and how many of them count."""
        points, n_neighbors = self.density._points.searched(), self.density.n_neighbors_ or 1
        if self.density.radius_ is None:  # rows of one length: no more are searched than count
            n_counting = int(self.shares.counts(np.array(n_neighbors))[0]) - 1
            found = points.nearest_to(X, max(1, n_counting))
            lengths = np.diff(found.indptr)
        else:
            found = points.within_of(X, self.density.radius_, max(self.at_least, n_neighbors - 1))
            lengths = self.shares.counts(np.diff(found.indptr) + 1)[0] - 1
        short = found.distances < np.atleast_1d(self.max_link)  # an array, which is not rounded to float32
        return found, np.minimum(lengths, np.diff(offsets(short)[found.indptr]))


def predicted_labels(
    X: Any,
    points: PointSet,
    labels: NDArray[np.int64],
    surroundings: Surroundings,
    rule: Rule,
    moved: Callable[[Any], Any] = lambda X: X,
) -> NDArray[np.int64]:
    """The labels of new samples; a fitted sample, one of `points`, has its own.

    `moved` says where the density sees new samples.

    A new sample at distance zero from fitted ones has the label of the first of them, but row i that is
    fitted sample i has the label of that one: duplicates may differ in their labels, and the labels of
    all fitted samples are those of the fit. A sample that has no neighbour is noise.
    """
    predicted = np.empty(X.shape[0], np.int64)
    with stage("prediction", X.shape[0]) as done:
        for part in _blocks(X, surroundings.density):
            block, found = X[part], predicted[part]
            fitted = points.are_points(block, part.start)
            found[fitted] = labels[part.start + np.flatnonzero(fitted)]
            new = np.flatnonzero(~fitted)
            if len(new):
                found[new] = _labels_of_new(moved(block[new]), surroundings, rule)
            done(len(found))
    return predicted


def _blocks(X: Any, density: GraphDensity) -> Iterator[slice]:
    """Consecutive rows of X, so few that what is found of them stays small in memory."""
    n_neighbors = len(density.graph_.indices) // density.graph_.n_samples
    n_values = X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1]
    step = max(1, _BLOCK_VALUES // max(n_neighbors, n_values))
    return (slice(first, first + step) for first in range(0, X.shape[0], step))


def _labels_of_new(X: Any, surroundings: Surroundings, rule: Rule) -> NDArray[np.int64]:
    predicted = np.full(X.shape[0], NOISE, np.int64)
    rows, lengths = surroundings.rows(X)
    related = np.flatnonzero(lengths)
    nearest = rows.indptr[related]
    predicted[related] = surroundings.labels[rows.indices[nearest]]
    apart = related[rows.distances[nearest] > 0]
    if len(apart):
        predicted[apart] = rule(X[apart], leading(rows, apart, lengths[apart]))
    return predicted


def nearest_rule(labels: NDArray[np.int64]) -> Rule:
    """The label of the nearest sample: what can be said where the density of new samples is not known."""
    return lambda X, rows: labels[rows.indices[rows.indptr[:-1]]]


@dataclass(frozen=True)
class HillRule:
    """The cluster of the nearest denser sample, or of the nearest one where none is denser.

    Attributes
    ----------
    density : fitted density
    clusters : array with the cluster of each point of the density, halo or not
    border : array of shape (n_clusters,), optional
        New samples of a cluster that are less dense are its halo: noise.
    numbers : array of shape (n_clusters,), optional
        The label of each cluster, where it is not its number.
    """

    density: GraphDensity
    clusters: NDArray[np.int64]
    border: NDArray[np.float64] | None = None
    numbers: NDArray[np.int64] | None = None

    def __call__(self, X: Any, rows: RaggedRows) -> NDArray[np.int64]:
        clusters = self._clusters(X, rows)
        if self.numbers is None:
            return clusters
        return np.where(clusters == NOISE, NOISE, self.numbers[clusters])

    def _clusters(self, X: Any, rows: RaggedRows) -> NDArray[np.int64]:
        clusters = self.clusters[rows.indices]
        nearest = clusters[rows.indptr[:-1]]
        # where all neighbours agree, it does not matter which of them are denser
        asked = np.zeros(X.shape[0], bool)
        asked[_owners(rows)[clusters != np.repeat(nearest, np.diff(rows.indptr))]] = True
        if self.border is not None:
            asked |= self.border[nearest] > -np.inf
        which = np.flatnonzero(asked)
        if len(which):
            some = leading(rows, which, np.diff(rows.indptr)[which])
            nearest[which] = self._by_density(X[which], some)
        return nearest

    def _by_density(self, X: Any, rows: RaggedRows) -> NDArray[np.int64]:
        density, chosen = followed(self.density, X, rows)
        labels = self.clusters[rows.indices[chosen]]
        return labels if self.border is None else np.where(density < self.border[labels], NOISE, labels)


def followed(fitted: GraphDensity, X: Any, rows: RaggedRows) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The density at new samples, and where in its row the sample is that each follows.

    It is the nearest denser one, or the nearest one where none is denser.
    """
    density, tie_break = fitted.keys_at(X)
    owners, fitted_tie_break = _owners(rows), fitted.tie_break
    own, theirs = density[owners], fitted.density_[rows.indices]
    # in the one order of samples a new one comes after the fitted ones that equal it
    not_less = np.ones(len(owners), bool)
    if tie_break is not None and fitted_tie_break is not None:
        not_less = fitted_tie_break[rows.indices] >= tie_break[owners]
    place = _first_in_rows(rows, (theirs > own) | ((theirs == own) & not_less))
    return density, np.where(place < 0, rows.indptr[:-1], place)


@dataclass(frozen=True)
class CoreRule:
    """The cluster of the nearest core sample, noise without one.

    With `min_density` only new samples that are as dense join, and the others are noise.
    """

    density: GraphDensity
    core: NDArray[np.bool_]
    labels: NDArray[np.int64]
    min_density: float | None = None

    def __call__(self, X: Any, rows: RaggedRows) -> NDArray[np.int64]:
        place = _first_in_rows(rows, self.core[rows.indices])
        labels = np.where(place < 0, NOISE, self.labels[rows.indices[place]])
        if self.min_density is None:
            return labels
        return np.where(self.density.keys_at(X)[0] < self.min_density, NOISE, labels)


def _owners(rows: RaggedRows) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))


def _first_in_rows(rows: RaggedRows, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first marked entry of each row, -1 where there is none."""
    places = np.flatnonzero(marked)[::-1]
    first = np.full(len(rows.indptr) - 1, -1, np.int64)
    first[_owners(rows)[places]] = places  # the last to be written is the first of its row
    return first


def predicted(clustering: Clustering, X: Any) -> NDArray[np.int64]:
    """Labels of new samples that were checked, by a clustering of others."""
    landscape, cut = clustering.landscape, clustering.cut
    around = Surroundings(
        landscape.estimator,
        landscape.distinct.of_first(clustering.labels),
        landscape.settings.links,
        cut.longest_link,
        at_least=int(cut.is_of_all_samples),
    )
    points, rule = landscape.points.searched(), _rule_of(clustering)
    return predicted_labels(X, points, clustering.labels, around, rule, landscape.moved)


def _rule_of(clustering: Clustering) -> Rule:
    """How neighbours decide about new samples."""
    landscape, density = clustering.landscape, clustering.landscape.estimator
    if not density.known_at_new_samples:
        return nearest_rule(clustering.labels)
    if not clustering.policy.halo or clustering.policy.noise == "assign":
        return HillRule(density, landscape.distinct.of_first(clustering.labels))
    before, noise = clustering.before_noise
    longest = clustering.cut.longest_link
    border = border_density(before.labels, landscape.links, landscape.density, longest)
    numbers = np.where(noise.small[before.peaks], NOISE, clustering.labels[before.peaks])
    return HillRule(density, landscape.distinct.of_first(before.labels), border, numbers)
