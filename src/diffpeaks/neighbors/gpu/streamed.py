"""Points for which a device has no room: they stay on the host and are compared on the device in chunks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import torch

from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.gpu.devices import (
    fewest_bytes,
    free_bytes,
    memory_told,
    on_device,
)
from diffpeaks.neighbors.gpu.search import GpuSearch
from diffpeaks.neighbors.gpu.space import DeviceSpace
from diffpeaks.neighbors.memory.chunked import ChunkedSearch, Tables, slices

_FEWEST_POINTS, _FEWEST_QUERIES = 256, 256  # at a time
_USED = 7 / 8  # of the free memory: allocations leave gaps
_COPIES = 8  # of an entry of a list, while lists are merged

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


class StreamedSearch(ChunkedSearch):
    """Exact, on a device: holds the contract for dense Euclidean and cosine spaces.

    A quarter of the memory holds a chunk of the points, half of it is for comparing them, and a quarter holds
    queries, of which the next ones are sent while those before are compared.
    """

    def __init__(
        self, space: EuclideanSpace, device: torch.device, n_threads: int, memory_limit: int | None
    ) -> None:
        self.device, self.n_threads, self._memory_limit = device, n_threads, memory_limit
        room = int(free_bytes(device) * _USED) if memory_limit is None else memory_limit
        self._workspace, self._query_room = room // 2, room // 4
        each = fewest_bytes(1, space.points.shape[1], space.dtype.itemsize)
        chunk_size = room // 4 // each
        if chunk_size < _FEWEST_POINTS:
            raise ValueError(
                f"memory_limit={memory_limit} leaves {room} bytes of device='{device}', below the "
                f"{4 * each * _FEWEST_POINTS} that chunks of {_FEWEST_POINTS} points take; give at least "
                "that, or use device=None"
            )
        super().__init__(space, f"gpu: {device}, in chunks", self._on_device, chunk_size, _FEWEST_QUERIES)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in a file searches on the host: it finds the same, and the device may not be there."""
        return CellSearch, (self.space, self.n_threads)

    def moved(self, space: Any) -> StreamedSearch:
        return StreamedSearch(space, self.device, self.n_threads, self._memory_limit)

    def _on_device(self, chunk: Any) -> Any:
        """The search of a chunk."""
        with memory_told(self.device, chunk.points.nbytes):
            points = on_device(chunk.points, self.device)
            return GpuSearch(DeviceSpace(points, chunk.metric, True), self.n_threads, self._workspace)

    def _blocks(self, n_queries: int, n_listed: int) -> Iterator[slice]:
        values = self.space.points.shape[1] * self.space.dtype.itemsize
        each = 3 * values + _COPIES * n_listed * (4 + self.space.dtype.itemsize)
        return slices(n_queries, max(_FEWEST_QUERIES, self._query_room // each))

    def _sent(self, queries: Any, blocks: Iterator[slice]) -> Iterator[tuple[slice, torch.Tensor]]:
        return made_ahead(lambda block: self._send(queries[block]), blocks)

    def _send(self, rows: Any) -> torch.Tensor:
        """A copy on the device, made beside what is computed there."""
        if self.device.type != "cuda":
            return on_device(rows, self.device)
        with memory_told(self.device, rows.nbytes), torch.cuda.stream(self._beside):
            sent = on_device(rows, self.device)
        self._beside.synchronize()
        # the stream that computes goes on using it when nobody here does
        sent.record_stream(torch.cuda.default_stream(self.device))
        return sent

    @cached_property
    def _beside(self) -> torch.cuda.Stream:
        """One for all blocks: each stream keeps memory of its own."""
        return torch.cuda.Stream(self.device)

    def _add_nearest(self, search: Any, chunk: slice, asked: torch.Tensor, held: Tables) -> None:
        n_neighbors = held[0].shape[1]
        n_new, n_held = min(n_neighbors, chunk.stop - chunk.start), min(n_neighbors, chunk.start)
        with memory_told(self.device, asked.nbytes):
            indices, distances = search.nearest_on_device(asked, n_new)
            known = (on_device(values[:, :n_held], self.device) for values in held)
            indices, distances = (
                torch.cat(both, dim=1) for both in zip(known, (indices + chunk.start, distances), strict=True)
            )
            # what is held are earlier points: a stable sort leaves ties in the order of points
            distances, order = distances.sort(dim=1, stable=True)
            n_kept = min(n_neighbors, distances.shape[1])
            held[0][:, :n_kept] = indices.gather(1, order[:, :n_kept]).cpu().numpy()
            held[1][:, :n_kept] = distances[:, :n_kept].cpu().numpy()


def made_ahead(make: Callable[[_Item], _Made], items: Iterable[_Item]) -> Iterator[tuple[_Item, _Made]]:
    """What is made of each item; that of the next one is made, in a thread, while this one is used."""
    coming: deque[tuple[_Item, Future[_Made]]] = deque()
    with ThreadPoolExecutor(1) as beside:
        for item in items:
            coming.append((item, beside.submit(make, item)))
            if len(coming) == 2:
                yield _finished(coming.popleft())
        if coming:
            yield _finished(coming.popleft())


def _finished(coming: tuple[_Item, Future[_Made]]) -> tuple[_Item, _Made]:
    return coming[0], coming[1].result()
