"""Blocks of rows of a graph in files: each a small graph of its own points and of those that they touch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks._native import n_parts_of
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.sharded.store import Store, Vector, read

BLOCK_ROWS = 1 << 15  # at most; the same for every limit of memory, so that sums are rounded alike


class Bounds(NamedTuple):
    """Consecutive points, and in which part of all points they lie whose sums are added up apart."""

    first: int
    last: int
    part: int


def all_bounds(n_points: int) -> list[Bounds]:
    """Blocks of all points, of which none lies in two of the parts of `n_parts_of`."""
    n_parts = n_parts_of(n_points)
    found = []
    for part in range(n_parts):
        begin, end = n_points * part // n_parts, n_points * (part + 1) // n_parts
        n_blocks = max(1, -(-(end - begin) // BLOCK_ROWS))
        cuts = [begin + (end - begin) * i // n_blocks for i in range(n_blocks + 1)]
        found += [Bounds(*cut, part) for cut in pairwise(cuts)]
    return found


class Block(NamedTuple):
    """Rows of consecutive points in a file."""

    bounds: Bounds
    path: Path

    def opened(self) -> OpenBlock:
        return OpenBlock.of(self)


class OpenBlock(NamedTuple):
    """A block in memory: its own points come first, then others that they touch, whose rows are empty."""

    graph: NeighborGraph
    own: slice
    beyond: NDArray[np.int32]

    @classmethod
    def of(cls, block: Block) -> OpenBlock:
        names = "length", "index", "distance", "beyond"
        return cls.of_arrays(block.bounds.first, dict(zip(names, read(block.path, *names), strict=True)))

    @classmethod
    def of_arrays(cls, first: int, arrays: Arrays) -> OpenBlock:
        """Of what `block_arrays` made of the rows of the points from `first` on."""
        lengths, indices, beyond = arrays["length"], arrays["index"], arrays["beyond"]
        indptr = np.append(offsets(lengths), np.full(len(beyond), len(indices), np.int64))
        graph = NeighborGraph.of_valid(indptr, indices, arrays["distance"], 1, 0.0, "given", None, 0.0)
        return cls(graph, slice(first, first + len(lengths)), beyond)

    @property
    def n_own(self) -> int:
        return self.own.stop - self.own.start

    @property
    def points(self) -> NDArray[np.int32]:
        """The numbers of the points among all."""
        return np.append(np.arange(self.own.start, self.own.stop, dtype=np.int32), self.beyond)

    @property
    def own_rows(self) -> RaggedRows:
        """The rows of its own points."""
        indptr, indices, distances = self.graph.indptr, self.graph.indices, self.graph.distances
        return RaggedRows(indptr[: self.n_own + 1], indices, distances)

    def part(self, begin: int, end: int) -> OpenBlock:
        """Some of its own points, and others that these touch."""
        entries = slice(*self.graph.indptr[[begin, end]].tolist())
        lengths, first = self.graph.degrees[begin:end], self.own.start + begin
        named = self.points[self.graph.indices[entries]]
        rows = RaggedRows(offsets(lengths), named, self.graph.distances[entries])
        return OpenBlock.of_arrays(first, block_arrays(first, lengths, rows))

    def of_all(self, vector: Vector) -> NDArray[Any]:
        """The values of the points of the block; one value for all stays one."""
        values = vector.mapped()
        if len(values) == 1:
            return np.array(values)
        return np.concatenate([values[self.own], values[self.beyond]])

    def of_own(self, vector: Vector) -> NDArray[Any]:
        """The values of its own points, and zeros for the others; one value for all stays one."""
        given = vector.mapped()
        if len(given) == 1:
            return np.array(given)
        values = np.zeros(self.graph.n_samples, given.dtype)
        values[: self.n_own] = given[self.own]
        return values


def block_arrays(first: int, lengths: NDArray[np.int64], rows: RaggedRows) -> Arrays:
    """The rows of the points from `first` on, of these lengths, as a block in a file."""
    last = first + len(lengths)
    is_own = (rows.indices >= first) & (rows.indices < last)
    beyond = np.unique(rows.indices[~is_own])
    index = np.where(is_own, rows.indices - first, len(lengths) + np.searchsorted(beyond, rows.indices))
    return {
        "length": lengths,
        "index": index.astype(np.int32),
        "distance": rows.distances,
        "beyond": beyond.astype(np.int32),
    }


class BlockTask(NamedTuple):
    """What is done with the rows of one block."""

    function: Callable[..., Arrays]
    block: Block
    given: tuple[Any, ...]


def on_block(task: BlockTask) -> Arrays:
    return task.function(task.block.opened(), *task.given)


def on_blocks(
    store: Store, name: str, function: Callable[..., Arrays], blocks: list[Block], *given: Any
) -> list[Path]:
    """Do something with the rows of all blocks; given are small values and vectors of all points."""
    return store.map(name, on_block, [BlockTask(function, block, given) for block in blocks])
