"""The intrinsic dimension of samples, and what of the default hangs on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import n_threads
from diffpeaks._native import row_spreads
from diffpeaks.graph import NeighborGraph
from diffpeaks.recipes import DEFAULT, Recipe

FEWEST_NEIGHBORS = 4  # the sample itself counted, of which a dimension can be told
_LEAST_RATIO = 1e-6  # of lengths in a row: less is as good as no length


def intrinsic_dimension(graph: NeighborGraph, degree: int = 1, n_jobs: int | None = None) -> float:
    """The dimension in which neighbours become more with their length as they do here.

    It is the estimate of Levina and Bickel (2004), averaged over samples as MacKay and Ghahramani (2005) do.

    Parameters
    ----------
    graph : NeighborGraph
        Rows of fewer than four neighbours, the sample itself counted, do not count.
    degree : int
        The power of a length that its distances are.
    """
    spreads = np.empty(graph.n_samples)
    row_spreads(graph, FEWEST_NEIGHBORS, _LEAST_RATIO**degree, spreads, n_threads(n_jobs))
    spread = float(spreads.sum()) / degree
    n_ratios = int(np.maximum(graph.degrees - (FEWEST_NEIGHBORS - 1), 0).sum())
    return n_ratios / spread if spread > 0 else np.inf


class LinkShares(NamedTuple):
    """Of each row of a graph, the nearest part that hills are linked along, and that of mutual neighbours.

    The nearest part is no fewer entries than `fewest`, the point itself counted, if the row has them.
    """

    nearest: float = 1.0
    mutual: float = 1.0
    fewest: int = 1

    def nearest_in(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many entries of rows of these lengths the nearest part is."""
        counts = np.rint(self.nearest * lengths).astype(np.int64)
        return np.minimum(lengths, np.maximum(counts, self.fewest))

    def mutual_in(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many entries of such rows the part of mutual neighbours is, the nearest part at least."""
        return np.maximum(np.rint(self.mutual * lengths).astype(np.int64), self.nearest_in(lengths))


WHOLE_ROWS = LinkShares()


def start_power_in(dimension: float, recipe: Recipe = DEFAULT) -> float:
    """With which the walk starts at the k-NN density in up to two dimensions, and nearly evenly in many."""
    return in_thousandths(min(recipe.start_power, dimension))


def share_kept(n_neighbors: int, dimension: float, power: float = DEFAULT.kept_power) -> float:
    """k^(-power (1/2 - 1/m)), at most one, in m dimensions."""
    return in_thousandths(min(1.0, n_neighbors ** (power * (1 / dimension - 1 / 2))))


def link_shares(dimension: float, recipe: Recipe = DEFAULT) -> LinkShares:
    """Shares of rows that are so short that they seldom cross a valley, in that many dimensions."""
    mutual = min(1.0, max(recipe.mutual_share, in_thousandths(recipe.plane_share / dimension)))
    return LinkShares(recipe.nearest_share * mutual / recipe.mutual_share, mutual, recipe.fewest)


def rise_in(dimension: float, recipe: Recipe = DEFAULT) -> float:
    """How far a hill must rise: more on a line, where no path leads around what chance digs."""
    return in_thousandths(recipe.rise * max(1.0, 2 / dimension))


def flow_weight_in(dimension: float, recipe: Recipe = DEFAULT) -> float:
    """None in the plane, where a hill may be long and thin, and more the more dimensions there are."""
    counts = recipe.flat_dimension <= dimension < np.inf
    return in_thousandths(recipe.flow_weight * (1 - 2 / dimension)) if counts else 0.0


def in_thousandths(value: float) -> float:
    """Rounded, so that the order of samples, which rounds sums in its way, has no part in it."""
    return round(value, 3)
