"""Exact search on a GPU, by torch."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks._base.validation import check_graph_size
from diffpeaks._native import sort_rows
from diffpeaks.graph.rows import RaggedRows, offsets
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.contract import ROUNDING, ExactSearch
from diffpeaks.neighbors.euclidean import check_scale
from diffpeaks.neighbors.gpu.devices import memory_told, on_device
from diffpeaks.neighbors.gpu.ladder import DevicePoints, Found
from diffpeaks.neighbors.gpu.space import DeviceSpace
from diffpeaks.neighbors.ragged_rows import at_most, concatenated
from diffpeaks.progress import stage


class GpuSearch(ExactSearch):
    """Exact, on a device of torch: holds the contract for dense Euclidean and cosine spaces."""

    def __init__(self, space: DeviceSpace, n_threads: int, workspace: int | None = None) -> None:
        """With a `workspace`, comparisons take no more bytes of the device beside points and tables."""
        self.device: torch.device = space.points.device
        self.name = f"gpu: {self.device}"
        self.space, self.n_threads, self._workspace = space, n_threads, workspace
        self._duplicates = space.duplicates(n_threads)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in a file searches on the host: it finds the same, and the device may not be there."""
        return CellSearch, (self.space, self.n_threads)

    def moved(self, space: Any) -> GpuSearch:
        return GpuSearch(space, self.n_threads, self._workspace)

    @cached_property
    def _points(self) -> DevicePoints:
        """Those at distinct locations, under the numbers of these."""
        space, duplicates = self.space, self._duplicates
        if not duplicates.all_distinct:
            space = space.restricted(duplicates.representatives)
        return DevicePoints(space.points, space.measure, self.device, self._workspace)

    def nearest_of_points(self, n_neighbors: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Indices and distances of the nearest points of each point, on the device; they are distinct."""
        with memory_told(self.device, self.space.points.nbytes):
            found = self._all_nearest(n_neighbors)
        return found.indices, found.distances

    def _all_nearest(self, n_nearest: int) -> Found:
        """The nearest distinct points of each of them."""
        return self._points.found(None, n_nearest)

    def nearest_on_device(self, queries: torch.Tensor, n_neighbors: int) -> tuple[torch.Tensor, torch.Tensor]:
        """As `nearest`, in tables on the device."""
        if self._duplicates.all_distinct:
            found = self._points.found(queries, n_neighbors)
            return found.indices, found.distances
        _, *flat = self.nearest(queries, n_neighbors)
        indices, distances = (on_device(values, self.device).view(len(queries), -1) for values in flat)
        return indices, distances

    def nearest(self, queries: Any, n_neighbors: int) -> RaggedRows:
        duplicates = self._duplicates
        own = queries is self.space.points
        queries = on_device(queries, self.device)
        if not own and len(queries):
            check_scale(queries, np.dtype(np.float64))
        n_nearest = min(n_neighbors, duplicates.n_distinct)
        with memory_told(self.device, self.space.points.nbytes):
            found = self._all_nearest(n_nearest) if own else self._points.found(queries, n_nearest)
        indices, distances = found.indices.cpu().numpy(), found.distances.cpu().numpy()
        if own and not duplicates.all_distinct:
            indices, distances = indices[duplicates.numbers], distances[duplicates.numbers]
        indptr = np.arange(len(indices) + 1, dtype=np.int64) * n_nearest
        first = indices.ravel() if duplicates.all_distinct else duplicates.representatives[indices.ravel()]
        return duplicates.nearest_points(RaggedRows(indptr, first, distances.ravel()), n_neighbors)

    def within(self, queries: Any, radius: float) -> RaggedRows:
        return self.reaching(queries, np.full(self.space.points.shape[0], float(radius)))

    def reaching(self, queries: Any, reach: NDArray[Any]) -> RaggedRows:
        farthest = self._duplicates.largest(reach.astype(np.float64))
        squares = self.space.limit(farthest) * (1 + ROUNDING[self.space.dtype])
        parts: list[RaggedRows] = []
        n_entries = 0
        queries = on_device(queries, self.device)
        if len(queries):
            check_scale(queries, np.dtype(np.float64))
        points_told = memory_told(self.device, self.space.points.nbytes)
        with points_told, stage("neighbours", len(queries)) as done:
            for counts, indices, distances in self._points.within(queries, squares):
                rows = self._duplicates.points_at(RaggedRows(offsets(counts), indices, distances))
                rows = at_most(rows, reach[rows.indices])
                sort_rows(rows.indptr, rows.indices, rows.distances, self.n_threads)
                n_entries += len(rows.indices)
                check_graph_size(len(queries), n_entries)
                parts.append(rows)
                done(len(counts))
        return concatenated(parts)
