"""Passes over all rows of a graph in files: the loops of the compiled core over one block after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.array_file import Arrays
from diffpeaks._base.constants import NO_POINT
from diffpeaks._native import JoiningHills, KeptFlow, short_links
from diffpeaks.graph.passes import HostPasses, Step, Weighing
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.sharded.blocks import Block, OpenBlock, block_arrays, on_blocks
from diffpeaks.sharded.store import Store, Vector, concatenated, in_turn, mapped, read


class StoredRows(NamedTuple):
    """Rows of neighbours in files, and the length of each; one length of all rows takes no memory."""

    store: Store
    blocks: list[Block]
    lengths: NDArray[np.int64]

    @classmethod
    def of_blocks(cls, store: Store, blocks: list[Block]) -> Self:
        lengths = concatenated([block.path for block in blocks], "length")
        if lengths.min() == lengths.max():
            lengths = np.broadcast_to(lengths[0], len(lengths))
        return cls(store, blocks, lengths)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each row starts among the entries of all."""
        return offsets(self.lengths)

    def distances_at(self, entries: NDArray[np.int64]) -> NDArray[Any]:
        """The distances of some entries, which ascend."""
        vector = self.store.put("entries", entries)
        starts = self.starts[[block.bounds.first for block in self.blocks]]
        ends = [*np.searchsorted(entries, starts[1:]).tolist(), len(entries)]
        asked = zip(self.blocks, starts.tolist(), [0, *ends[:-1]], ends, strict=True)
        found = self.store.map("distances", _distances, [(vector, *of_block) for of_block in asked])
        return concatenated(found, "distance")


@dataclass(frozen=True, eq=False)
class StoredPasses(HostPasses):
    """By tasks. Values of points travel as vectors in files; those of entries stay where their blocks are."""

    rows: StoredRows  # type: ignore[assignment]

    def _on_blocks(self, name: str, function: Any, *given: Any) -> list[Path]:
        return on_blocks(self.rows.store, name, function, self.rows.blocks, *given)

    def _put(self, name: str, values: NDArray[Any]) -> Vector:
        return self.rows.store.put(name, values)

    def spreads(self, fewest: int, least: float, n_threads: int) -> NDArray[np.float64]:
        return concatenated(self._on_blocks("dimension", _spreads, fewest, least), "spread")

    def weighed(self, how: Weighing, n_threads: int) -> tuple[list[Path], NDArray[np.float64]]:
        lengths = [
            self._put(name, values)
            for name, values in zip(("by_row", "by_entry", "masses"), how[1:4], strict=True)
        ]
        dtype = None if how.dtype is None else np.dtype(how.dtype).str
        paths = self._on_blocks("weights", _weighed, how.kernel, *lengths, dtype)
        return paths, concatenated(paths, "volume")

    def step(self, weights: list[Path], n_threads: int) -> Step:
        by_part: dict[int, list[tuple[Block, Path]]] = {}
        for block, path in zip(self.rows.blocks, weights, strict=True):
            by_part.setdefault(block.bounds.part, []).append((block, path))

        def arriving(sent_by_weight: NDArray[np.float64], part: tuple[float, float]) -> NDArray[np.float64]:
            sent = self._put("sent", sent_by_weight)
            sums = self.rows.store.map("step", _sent, [(blocks, sent) for blocks in by_part.values()])
            total = np.zeros(len(sent_by_weight))
            for points, sum_of_part in in_turn(sums, "point", "sum"):
                total[points] += sum_of_part
            return total

        return arriving

    def short_links(
        self, nearest: NDArray[np.int64], within: NDArray[np.int64], n_threads: int
    ) -> StoredRows:
        reach = self.rows.distances_at(self.rows.starts[:-1] + within - 1)
        vectors = [
            self._put(*named) for named in (("nearest", nearest), ("within", within), ("reach", reach))
        ]
        paths = self._on_blocks("links", _short_links, *vectors)
        bounds = (block.bounds for block in self.rows.blocks)
        blocks = [Block(*of_block) for of_block in zip(bounds, paths, strict=True)]
        return StoredRows.of_blocks(self.rows.store, blocks)

    def first_denser(
        self, rank: NDArray[np.int32], n_threads: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[Any]]:
        paths = self._on_blocks("parents", _first_denser, self._put("rank", rank))
        parent, delta = concatenated(paths, "parent"), concatenated(paths, "delta")
        return parent >= 0, parent, delta

    def add_flow(
        self,
        merging: JoiningHills,
        hill: NDArray[np.int32],
        weights: list[Path],
        sent_by_weight: NDArray[np.float64],
        max_link: float,
        kept: KeptFlow | None,
        n_threads: int,
    ) -> None:
        """By one row for each hill, that of its first point, with an entry for each hill that it sends to."""
        vectors = self._put("hills", hill), self._put("sent", sent_by_weight)
        asked = zip(self.rows.blocks, weights, strict=True)
        found = self.rows.store.map("flow", _flows, [(*of_block, *vectors, max_link) for of_block in asked])
        n_points, n_hills = len(hill), int(hill.max()) + 1
        first = np.empty(n_hills, np.int32)
        first[hill[::-1]] = np.arange(n_points, dtype=np.int32)[::-1]  # what is written last stays
        by_hill = _summed(
            sp.coo_array((flow, (origin, target)), (n_hills, n_hills)).tocsr()
            for origin, target, flow in in_turn(found, "origin", "target", "flow")
        )
        in_order = np.argsort(first)
        by_hill = by_hill[in_order]
        indptr = np.zeros(n_points + 1, np.int64)
        indptr[first[in_order] + 1] = np.diff(by_hill.indptr)
        np.cumsum(indptr, out=indptr)
        rows = RaggedRows(indptr, first[by_hill.indices], np.zeros(by_hill.nnz, np.float32))
        merging.add_flow(rows, hill, by_hill.data, np.ones(n_points), np.inf, kept, n_threads)

    def rows_between(
        self, hill: NDArray[np.int32], rank: NDArray[np.int32], max_link: float
    ) -> tuple[RaggedRows, float]:
        """Of each pair of hills the highest link of each block."""
        paths = self._on_blocks(
            "borders", _borders, self._put("hills", hill), self._put("rank", rank), max_link
        )
        origins, targets = concatenated(paths, "origin"), concatenated(paths, "target")
        order = np.argsort(origins, kind="stable")
        indptr = offsets(np.bincount(origins, minlength=len(hill)))
        return RaggedRows(indptr, targets[order], np.zeros(len(targets), np.float32)), np.inf


def _summed(parts: Iterator[sp.csr_array]) -> sp.csr_array:
    """The sum of sparse matrices, of which only few are held: like sizes are added, so that none is often."""
    held: list[sp.csr_array] = []
    for part in parts:
        held.append(part)
        while len(held) > 1 and held[-2].nnz <= 2 * held[-1].nnz:
            held[-2:] = [held[-2] + held[-1]]
    while len(held) > 1:
        held[-2:] = [held[-2] + held[-1]]
    return held[0]


def _distances(asked: tuple[Vector, Block, int, int, int]) -> Arrays:
    """The distances of some entries of a block, whose rows start at that entry of all."""
    entries, block, start, begin, end = asked
    return {"distance": mapped(block.path)["distance"][entries.mapped()[begin:end] - start]}


def _spreads(block: OpenBlock, fewest: int, least: float) -> Arrays:
    return {"spread": block.graph.passes.spreads(fewest, least, 1)[: block.n_own]}


def _weighed(
    block: OpenBlock, kernel: int, by_row: Vector, by_entry: Vector, masses: Vector, dtype: str | None
) -> Arrays:
    lengths = block.of_own(by_row), block.of_all(by_entry), block.of_all(masses)
    weights, volume = block.graph.passes.weighed(Weighing(kernel, *lengths, dtype), 1)
    return {"weight": weights, "volume": volume[: block.n_own]}


def _sent(asked: tuple[list[tuple[Block, Path]], Vector]) -> Arrays:
    """What arrives at points from those of some blocks, added up in the order of entries."""
    blocks, vector = asked
    sent = vector.mapped()
    total = np.zeros(len(sent))
    for block, path in blocks:
        opened = block.opened()
        by_entry = np.repeat(sent[opened.own], opened.graph.degrees[: opened.n_own])
        reached = opened.points[opened.graph.indices].astype(np.intp)
        np.add.at(total, reached, read(path, "weight").astype(np.float64) * by_entry)
    points = np.flatnonzero(total)
    return {"point": points, "sum": total[points]}


def _short_links(block: OpenBlock, nearest: Vector, within: Vector, reach: Vector) -> Arrays:
    counts = block.of_own(nearest), block.of_own(within)
    indptr, indices, distances = short_links(block.graph, *counts, block.of_all(reach), 1)
    rows = RaggedRows(indptr, block.points[indices], distances)
    return block_arrays(block.own.start, np.diff(indptr)[: block.n_own], rows)


def _first_denser(block: OpenBlock, rank: Vector) -> Arrays:
    linked, first, distance = block.graph.passes.first_denser(block.of_all(rank), 1)
    own = slice(block.n_own)
    parent = np.where(linked[own], block.points[first[own]], np.int32(NO_POINT))
    return {"parent": parent, "delta": distance[own]}


def _flows(asked: tuple[Block, Path, Vector, Vector, float]) -> Arrays:
    """What the points of each hill send to each hill, over entries below a length."""
    block, path, hills, sent, max_link = asked
    opened = block.opened()
    numbers, hill = np.unique(opened.of_all(hills), return_inverse=True)
    lengths = opened.graph.degrees[: opened.n_own]
    flow = read(path, "weight").astype(np.float64) * np.repeat(sent.mapped()[opened.own], lengths)
    is_short = opened.graph.distances < np.array(max_link)
    origin, target = np.repeat(hill[: opened.n_own], lengths), hill[opened.graph.indices]
    places = origin[is_short], target[is_short]
    found = sp.coo_array((flow[is_short], places), (len(numbers), len(numbers))).tocsr().tocoo()
    return {"origin": numbers[found.row], "target": numbers[found.col], "flow": found.data}


def _borders(block: OpenBlock, hills: Vector, ranks: Vector, max_link: float) -> Arrays:
    """Of each pair of hills the highest link below a length: by its less dense end, then by the other."""
    hill, rank, points = block.of_all(hills), block.of_all(ranks), block.points
    origin = np.repeat(np.arange(block.n_own), block.graph.degrees[: block.n_own])
    target = block.graph.indices
    crosses = (hill[origin] != hill[target]) & (block.graph.distances < np.array(max_link))
    origin, target = origin[crosses], target[crosses]
    lower = np.maximum(rank[origin], rank[target])
    upper = np.minimum(rank[origin], rank[target])
    order = np.lexsort((upper, lower, hill[target], hill[origin]))
    here, there = hill[origin[order]], hill[target[order]]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (np.diff(here) != 0) | (np.diff(there) != 0)
    highest = order[is_first]
    return {"origin": points[origin[highest]], "target": points[target[highest]]}
