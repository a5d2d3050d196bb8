"""Points whose search and graph are on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks._base.validation import check_list_length
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.gpu.approximate import ApproximateGpuSearch
from diffpeaks.neighbors.gpu.devices import bytes_of_tables, on_device, opened, runs_kernels
from diffpeaks.neighbors.gpu.search import GpuSearch
from diffpeaks.neighbors.gpu.space import DeviceSpace
from diffpeaks.neighbors.gpu.streamed import StreamedSearch
from diffpeaks.neighbors.points import PointSet


class DevicePointSet(PointSet):
    """As `PointSet`; a graph of nearest neighbours stays on the device, where our kernels run there.

    Points that the device has no room for lie on the host, and so does their graph.
    """

    search: Any  # a GpuSearch or a StreamedSearch

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in a file is on the host: the device may not be there."""
        return PointSet, (self.space, self.search, replace(self._choice, device=None))

    def _median_between(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        if not isinstance(self.space, DeviceSpace):
            return super()._median_between(first, second)
        distances = self.space.distances_between(first, second)
        one, other = (on_device(which, distances.device) for which in (first, second))
        in_order = distances[one[:, None] != other].sort().values
        n_pairs = len(in_order)
        middle = in_order[(n_pairs - 1) // 2 : n_pairs // 2 + 1].cpu().numpy()
        return float(np.median(middle))

    def graph(self, n_neighbors: int | None = None, radius: float | None = None) -> NeighborGraph:
        stays = isinstance(self.space, DeviceSpace) and runs_kernels(self.search.device)
        by_number = n_neighbors is not None and radius is None
        if not (by_number and stays and self.space.duplicates(self.n_threads).all_distinct):
            return super().graph(n_neighbors, radius)
        from diffpeaks.neighbors.gpu.graph import DeviceGraph  # which needs Triton
        from diffpeaks.neighbors.gpu.passes import DeviceRows

        n_neighbors = check_list_length(n_neighbors, self.n_samples)
        indices, distances = _self_first(*self.search.nearest_of_points(n_neighbors))
        indptr = torch.arange(self.n_samples + 1, device=indices.device) * n_neighbors
        complete = np.inf if n_neighbors == self.n_samples else 0.0
        rows = DeviceRows(indptr, indices.flatten(), distances.flatten())
        return DeviceGraph.of_rows(rows, n_neighbors, complete, self._told(n_neighbors))


def device_search(
    space: EuclideanSpace, device: str, n_threads: int, memory_limit: int | None, recall: float | None
) -> Any:
    """The search of points that lie on a device, or for which it has no room; without a recall an exact one.

    Within a limit of memory, and where points are sent in chunks, it is exact whatever recall is asked for.
    """
    if not isinstance(space, DeviceSpace):
        return StreamedSearch(space, opened(device), n_threads, memory_limit)
    if memory_limit is not None:
        tables = len(space.points) * bytes_of_tables(space.points.shape[1])
        return GpuSearch(space, n_threads, memory_limit - space.sent_bytes - tables)
    return GpuSearch(space, n_threads) if recall is None else ApproximateGpuSearch(space, n_threads, recall)


def _self_first(indices: torch.Tensor, distances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Each point first in its own row: where others are as near as zero, it may be behind them."""
    n_samples, n_neighbors = indices.shape
    own = torch.arange(n_samples, dtype=torch.int32, device=indices.device)
    behind = (indices[:, 0] != own).nonzero()[:, 0]
    if len(behind):
        is_own = indices[behind] == own[behind, None]
        place = torch.where(is_own.any(dim=1), is_own.int().argmax(dim=1), n_neighbors - 1)[:, None]
        at = torch.arange(n_neighbors, device=indices.device).expand(len(behind), -1)
        source = torch.where(at == 0, place, at - ((at <= place) & (at > 0)).long())
        for values in (indices, distances):
            values[behind] = values[behind].gather(1, source)
        indices[behind, 0], distances[behind, 0] = own[behind], 0.0
    return indices, distances
