"""Passes over all rows of a graph, which every engine supplies; here those of the compiled core.

Values of points are arrays. Values of entries, such as weights, stay with the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from diffpeaks._native import (
    JoiningHills,
    KeptFlow,
    first_denser,
    n_parts_of,
    row_spreads,
    send_mass,
    short_links,
    sort_descending,
    weigh_rows,
)
from diffpeaks.graph.rows import RaggedRows

if TYPE_CHECKING:
    from diffpeaks._native import Graph

# One value for each entry of a graph, as its engine keeps them: an array, a tensor on a device, or files.
EntryValues: TypeAlias = Any
Rows: TypeAlias = Any  # of a graph, as its engine keeps them: `NeighborGraph.with_rows` takes them
# The mass that arrives at each point, from what each point sends by weight; also the part of all steps that
# this step is, from where to where.
Step: TypeAlias = Callable[[NDArray[np.float64], tuple[float, float]], NDArray[np.float64]]


class Weighing(NamedTuple):
    """How entries are weighed; arrays have one value for each point, or one for all."""

    kernel: int  # as the compiled core numbers them
    by_row: NDArray[np.float64]
    by_entry: NDArray[np.float64]
    masses: NDArray[np.float64]
    dtype: DTypeLike | None  # None is that of the distances


@dataclass(frozen=True, eq=False)
class HostPasses:
    """Passes of the compiled core."""

    rows: RaggedRows

    def spreads(self, fewest: int, least: float, n_threads: int) -> NDArray[np.float64]:
        """The sum of log(reach / distance) over each row of at least that many entries."""
        spreads = np.empty(len(self.rows.indptr) - 1)
        row_spreads(self.rows, fewest, least, spreads, n_threads)
        return spreads

    def weighed(self, how: Weighing, n_threads: int) -> tuple[EntryValues, NDArray[np.float64]]:
        """The weight of each entry, and the sum of the weights in each row."""
        return weighed_rows(self.rows, how, n_threads)

    def step(self, weights: EntryValues, n_threads: int) -> Step:
        """A step of the walk along entries of these weights."""
        n_samples = len(self.rows.indptr) - 1
        sums = np.empty(n_parts_of(n_samples) * n_samples)

        def arriving(sent_by_weight: NDArray[np.float64], part: tuple[float, float]) -> NDArray[np.float64]:
            found = np.empty(n_samples)
            send_mass(self.rows, weights, sent_by_weight, sums, found, part, n_threads)
            return found

        return arriving

    def sort_descending(self, values: NDArray[np.float64], order: NDArray[np.int32]) -> None:
        """Sort points in place by their values, the largest first; equal ones stay in their order."""
        sort_descending(values, order)

    def short_links(self, nearest: NDArray[np.int64], within: NDArray[np.int64], n_threads: int) -> Rows:
        """The `nearest` entries of each row, and the mutual ones of the first `within`."""
        reach = self.rows.distances[self.rows.indptr[:-1] + within - 1]
        return RaggedRows(*short_links(self.rows, nearest, within, reach, n_threads))

    def first_denser(
        self, rank: NDArray[np.int32], n_threads: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[Any]]:
        """Which points have a point of lower rank in their row; the first of these, and its distance."""
        position = np.empty(len(rank), np.int64)
        first_denser(self.rows, rank, position, n_threads)
        return position >= 0, self.rows.indices[position], self.rows.distances[position]

    def add_flow(
        self,
        merging: JoiningHills,
        hill: NDArray[np.int32],
        weights: EntryValues,
        sent_by_weight: NDArray[np.float64],
        max_link: float,
        kept: KeptFlow | None,
        n_threads: int,
    ) -> None:
        """Add what flows between hills, and in each, along entries shorter than `max_link`."""
        merging.add_flow(self.rows, hill, weights, sent_by_weight, max_link, kept, n_threads)

    def rows_between(
        self, hill: NDArray[np.int32], rank: NDArray[np.int32], max_link: float
    ) -> tuple[Graph, float]:
        """Rows that hold at least the highest links between hills, and the bound on their length."""
        return self.rows, max_link


def weighed_rows(rows: Graph, how: Weighing, n_threads: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weight of each entry of rows, of a graph or of queries, and the sum of each row."""
    weights = np.empty(len(rows.indices), how.dtype or rows.distances.dtype)
    volume = np.empty(len(rows.indptr) - 1)
    weigh_rows(rows, how.kernel, how.by_row, how.by_entry, how.masses, weights, volume, n_threads)
    return weights, volume
