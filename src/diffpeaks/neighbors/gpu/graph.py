"""A neighbour graph whose rows lie on a device."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.neighbor_graph import freeze
from diffpeaks.neighbors.gpu.devices import on_device
from diffpeaks.neighbors.gpu.passes import DevicePasses, DeviceRows


class DeviceGraph(NeighborGraph):
    """Its passes run on the device; its arrays come to the host when somebody asks for them."""

    rows: DeviceRows

    @classmethod
    def of_rows(cls, rows: DeviceRows, n_neighbors: int, radius: float, told: tuple[Any, ...]) -> Self:
        """Rows that are known to be valid; `told` is how they were found."""
        graph = object.__new__(cls)
        facts = zip(("search", "recall", "recall_error"), told, strict=True)
        indptr = rows.indptr.cpu().numpy()
        freeze(indptr)
        vars(graph).update(facts, rows=rows, indptr=indptr, n_neighbors=n_neighbors, radius=radius)
        return graph

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in a file is on the host: the device may not be there."""
        return NeighborGraph, super().__reduce__()[1]

    @cached_property
    def indices(self) -> NDArray[np.int32]:
        return _frozen(self.rows.indices)

    @cached_property
    def distances(self) -> NDArray[Any]:
        return _frozen(self.rows.distances)

    def distances_at(self, entries: NDArray[np.int64]) -> NDArray[Any]:
        found: NDArray[Any] = self.rows.distances[on_device(entries, self.rows.indices.device)].cpu().numpy()
        return found

    @cached_property
    def passes(self) -> DevicePasses:
        return DevicePasses(self.rows)

    def _prefix(self, lengths: NDArray[np.int64], n_neighbors: int | None, radius: float) -> DeviceGraph:
        rows = self.passes.short_links(lengths, lengths, n_threads=1)
        return self.with_rows(rows, n_neighbors or int(lengths.min()), radius)

    def with_rows(self, rows: DeviceRows, n_neighbors: int = 1, radius: float = 0.0) -> DeviceGraph:
        return DeviceGraph.of_rows(rows, n_neighbors, radius, (self.search, self.recall, self.recall_error))


def device_rows(rows: Any, device: torch.device) -> DeviceRows:
    """Rows of a graph or of queries on the device."""
    if isinstance(rows, DeviceGraph):
        return rows.rows
    return DeviceRows(*(on_device(values, device) for values in (rows.indptr, rows.indices, rows.distances)))


def _frozen(values: torch.Tensor) -> NDArray[Any]:
    found: NDArray[Any] = values.cpu().numpy()
    freeze(found)
    return found
