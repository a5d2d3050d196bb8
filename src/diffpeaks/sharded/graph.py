"""A neighbour graph whose rows lie in files."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import freeze
from diffpeaks.graph.rows import offsets
from diffpeaks.sharded.blocks import Block
from diffpeaks.sharded.passes import StoredPasses
from diffpeaks.sharded.store import Store, Vector, concatenated, mapped


class StoredGraph(NeighborGraph):
    """Its passes run over the files, by tasks. `in_memory` brings all rows together."""

    store: Store
    stored: list[Block]

    @classmethod
    def of_blocks(
        cls, store: Store, blocks: list[Block], n_neighbors: int, radius: float, told: tuple[Any, ...]
    ) -> Self:
        """Rows that are known to be valid; `told` is how they were found."""
        graph = object.__new__(cls)
        lengths = concatenated([block.path for block in blocks], "length")
        if lengths.min() == lengths.max():
            lengths = np.broadcast_to(lengths[0], len(lengths))
        facts = zip(("search", "recall", "recall_error"), told, strict=True)
        vars(graph).update(facts, n_neighbors=n_neighbors, radius=radius, degrees=lengths)
        vars(graph).update(store=store, stored=blocks)
        return graph

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Made anew each time: graphs of one length of rows keep nothing for each point."""
        starts = offsets(self.degrees)
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
    def dtype(self) -> Any:
        return mapped(self.stored[0].path)["distance"].dtype

    @property
    def passes(self) -> StoredPasses:
        return StoredPasses(self)

    def distances_at(self, entries: NDArray[np.int64]) -> NDArray[Any]:
        """The distances of some entries, which ascend."""
        vector = self.store.put("entries", entries)
        starts = self.indptr[[block.bounds.first for block in self.stored]]
        ends = [*np.searchsorted(entries, starts[1:]).tolist(), len(entries)]
        asked = zip(self.stored, starts.tolist(), [0, *ends[:-1]], ends, strict=True)
        found = self.store.map("distances", _distances, [(vector, *of_block) for of_block in asked])
        return concatenated(found, "distance")

    def _prefix(self, lengths: NDArray[np.int64], n_neighbors: int | None, radius: float) -> StoredGraph:
        links = self.passes.short_links(lengths, lengths, n_threads=1)
        return self.with_blocks(links.stored, n_neighbors or int(lengths.min()), radius)

    def with_blocks(self, blocks: list[Block], n_neighbors: int = 1, radius: float = 0.0) -> StoredGraph:
        """Other rows, found by the same search, that are known to be valid."""
        told = self.search, self.recall, self.recall_error
        return StoredGraph.of_blocks(self.store, blocks, n_neighbors, radius, told)

    def in_memory(self) -> NeighborGraph:
        """The graph with all its rows in memory."""
        indices, distances = [], []
        for block in self.stored:
            opened = block.opened()
            indices.append(opened.points[opened.graph.indices])
            distances.append(opened.graph.distances)
        rows = self.indptr.copy(), np.concatenate(indices), np.concatenate(distances)
        held = self.n_neighbors, self.radius, self.search, self.recall, self.recall_error
        return NeighborGraph.of_valid(*rows, *held)


def _distances(asked: tuple[Vector, Block, int, int, int]) -> Arrays:
    """The distances of some entries of a block, whose rows start at that entry of all."""
    entries, block, start, begin, end = asked
    return {"distance": mapped(block.path)["distance"][entries.mapped()[begin:end] - start]}
