"""A neighbour graph whose rows lie in files."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import freeze
from diffpeaks.sharded.passes import StoredPasses, StoredRows


class StoredGraph(NeighborGraph):
    """Its passes run over the files, by tasks. `in_memory` brings all rows together."""

    rows: StoredRows

    @classmethod
    def of_rows(cls, rows: StoredRows, n_neighbors: int, radius: float, told: tuple[Any, ...]) -> Self:
        """Rows that are known to be valid; `told` is how they were found."""
        graph = object.__new__(cls)
        facts = zip(("search", "recall", "recall_error"), told, strict=True)
        vars(graph).update(facts, rows=rows, degrees=rows.lengths, n_neighbors=n_neighbors, radius=radius)
        return graph

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Made anew each time: graphs of one length of rows keep nothing for each point."""
        starts = self.rows.starts
        freeze(starts)
        return starts

    @property
    def n_samples(self) -> int:
        return len(self.degrees)

    @property
    def indices(self) -> NDArray[np.int32]:
        raise MemoryError("the rows of this graph lie in files; graph.in_memory() brings them together")

    @property
    def distances(self) -> NDArray[Any]:
        raise MemoryError("the rows of this graph lie in files; graph.in_memory() brings them together")

    @cached_property
    def passes(self) -> StoredPasses:
        return StoredPasses(self.rows)

    def distances_at(self, entries: NDArray[np.int64]) -> NDArray[Any]:
        """The distances of some entries, which ascend."""
        return self.rows.distances_at(entries)

    def _prefix(self, lengths: NDArray[np.int64], n_neighbors: int | None, radius: float) -> StoredGraph:
        rows = self.passes.short_links(lengths, lengths, n_threads=1)
        return self.with_rows(rows, n_neighbors or int(lengths.min()), radius)

    def with_rows(self, rows: StoredRows, n_neighbors: int = 1, radius: float = 0.0) -> StoredGraph:
        return StoredGraph.of_rows(rows, n_neighbors, radius, (self.search, self.recall, self.recall_error))

    def in_memory(self) -> NeighborGraph:
        """The graph with all its rows in memory."""
        indices, distances = [], []
        for block in self.rows.blocks:
            opened = block.opened()
            indices.append(opened.points[opened.graph.indices])
            distances.append(opened.graph.distances)
        rows = self.indptr.copy(), np.concatenate(indices), np.concatenate(distances)
        held = self.n_neighbors, self.radius, self.search, self.recall, self.recall_error
        return NeighborGraph.of_valid(*rows, *held)
