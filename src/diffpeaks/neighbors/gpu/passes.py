"""Passes over all rows of a graph on a device: the loops of the compiled core, with the same bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks._native import RATIOS_IN_PRODUCT, n_parts_of, spreads_by_products
from diffpeaks.graph.passes import HostPasses, RowsOfHills, Step, Weighing
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.gpu.devices import launching_on, on_device
from diffpeaks.neighbors.gpu.kernels import listed_rows, rows

UNFUSED = {"enable_fp_fusion": False}  # the compiled core fuses no multiply-adds either


class DeviceRows(NamedTuple):
    """Rows of neighbours as flat tensors."""

    indptr: torch.Tensor
    indices: torch.Tensor
    distances: torch.Tensor


@dataclass(frozen=True, eq=False)
class DevicePasses(HostPasses):
    """By kernels of our own in Triton. Values of points travel; those of entries stay on the device."""

    rows: DeviceRows  # type: ignore[assignment]

    @property
    def _n_rows(self) -> int:
        return len(self.rows.indptr) - 1

    @property
    def _grid(self) -> tuple[int]:
        return (-(-self._n_rows // rows.ROWS),)

    def _launch(self, kernel: Any, *given: Any, **how: Any) -> None:
        with launching_on(self.rows.indices.device):
            kernel[self._grid](*given, **how)

    def _on_device(self, values: Any) -> torch.Tensor:
        return on_device(np.asarray(values), self.rows.indices.device)

    def _empty(self, n_values: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(n_values, dtype=dtype, device=self.rows.indices.device)

    def spreads(self, fewest: int, least: float, n_threads: int) -> NDArray[np.float64]:
        n_samples = self._n_rows
        n_products = max(1, -(-(int(self.rows.indptr.diff().max()) - 1) // RATIOS_IN_PRODUCT))
        products = self._empty(n_samples * n_products, torch.float64)
        smallest = self._on_device([least])
        given = self.rows.indptr, self.rows.distances, products, n_samples, n_products, fewest, smallest
        self._launch(rows.products_of_ratios, *given, TOGETHER=RATIOS_IN_PRODUCT, **UNFUSED)
        spreads = np.empty(n_samples)
        # the logarithms are those of the host
        spreads_by_products(products.view(n_samples, n_products).cpu().numpy(), spreads, n_threads)
        return spreads

    def weighed(self, how: Weighing, n_threads: int) -> tuple[Any, NDArray[np.float64]]:
        dtype = self.rows.distances.dtype
        if how.dtype is not None:
            dtype = torch.float32 if how.dtype == np.float32 else torch.float64
        weights = self._empty(len(self.rows.indices), dtype)
        volume = self._empty(self._n_rows, torch.float64)
        lengths = how.by_row, how.by_entry, how.masses
        one = {
            f"ONE_{name}": len(of) == 1 for name, of in zip(("ROW", "ENTRY", "MASS"), lengths, strict=True)
        }
        given = *self.rows, *map(self._on_device, lengths), weights, volume, self._n_rows
        self._launch(rows.weigh, *given, KERNEL=how.kernel, **one, **UNFUSED)
        return weights, volume.cpu().numpy()

    def step(self, weights: torch.Tensor, n_threads: int) -> Step:
        n_samples = self._n_rows
        indptr, order = _columns(self.rows.indices, n_samples)
        degrees = self.rows.indptr.diff()
        senders = torch.arange(n_samples, dtype=torch.int32, device=order.device)
        senders, received = senders.repeat_interleave(degrees)[order], weights[order]

        def arriving(sent_by_weight: NDArray[np.float64], part: tuple[float, float]) -> NDArray[np.float64]:
            found = self._empty(n_samples, torch.float64)
            sent = self._on_device(sent_by_weight)
            given = indptr, senders, received, sent, found, n_samples, n_parts_of(n_samples)
            self._launch(rows.receive, *given, **UNFUSED)
            arrived: NDArray[np.float64] = found.cpu().numpy()
            return arrived

        return arriving

    def short_links(
        self, nearest: NDArray[np.int64], within: NDArray[np.int64], n_threads: int
    ) -> DeviceRows:
        counts = self._on_device(nearest), self._on_device(within)
        reach = self.rows.distances[self.rows.indptr[:-1] + counts[1] - 1]
        asked = *self.rows, *counts, reach
        dtypes = torch.int32, self.rows.distances.dtype
        starts, links, lengths = self._listed(listed_rows.short_links, asked, dtypes)
        return DeviceRows(starts, links, lengths)

    def first_denser(
        self, rank: NDArray[np.int32], n_threads: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[Any]]:
        position = self._empty(len(rank), torch.int64)
        given = self.rows.indptr, self.rows.indices, self._on_device(rank), position, len(rank)
        self._launch(rows.first_denser, *given)
        at = position.clamp(min=0)
        found = position >= 0, self.rows.indices[at], self.rows.distances[at]
        linked, first, distance = (values.cpu().numpy() for values in found)
        return linked, first, distance

    def flow_rows(
        self, hill: NDArray[np.int32], weights: Any, sent_by_weight: NDArray[np.float64], max_link: float
    ) -> RowsOfHills:
        """Each row with an entry for each hill: the host adds them up in its order."""
        sent, longest = self._on_device(sent_by_weight), self._on_device([max_link])
        asked = *self.rows, self._on_device(hill), weights, sent, longest
        found = self._listed(listed_rows.flows, asked, (torch.int32, torch.float64))
        indptr, indices, sums = (values.cpu().numpy() for values in found)
        by_hill = RaggedRows(indptr, indices, np.zeros(len(indices), np.float32))
        return RowsOfHills(by_hill, sums, np.ones(self._n_rows), np.inf)

    def rows_between(
        self, hill: NDArray[np.int32], rank: NDArray[np.int32], max_link: float
    ) -> tuple[RaggedRows, float]:
        asked = *self.rows, self._on_device(hill), self._on_device([max_link])
        found = self._listed(listed_rows.links_out, asked, (torch.int32,))
        indptr, indices = (values.cpu().numpy() for values in found)
        return RaggedRows(indptr, indices, np.zeros(len(indices), np.float32)), np.inf

    def _listed(
        self, kernel: Any, asked: tuple[torch.Tensor, ...], dtypes: tuple[torch.dtype, ...]
    ) -> tuple[torch.Tensor, ...]:
        """Where the list of each row starts, and what a kernel lists, of these dtypes."""
        n_rows = self._n_rows
        counts, starts = self._empty(n_rows, torch.int64), torch.zeros_like(self.rows.indptr)
        nothing = [self._empty(1, dtype) for dtype in dtypes]
        self._launch(kernel, *asked, counts, starts, *nothing, n_rows, FILL=False, **UNFUSED)
        starts[1:] = counts.cumsum(dim=0)
        lists = [self._empty(int(starts[-1]), dtype) for dtype in dtypes]
        self._launch(kernel, *asked, counts, starts, *lists, n_rows, FILL=True, **UNFUSED)
        return starts, *lists


def _columns(indices: torch.Tensor, n_samples: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Entries by the point that they lead to, in the order of rows: where each begins, and the entries."""
    order = indices.sort(stable=True).indices
    starts = torch.zeros(n_samples + 1, dtype=torch.int64, device=indices.device)
    starts[1:] = torch.bincount(indices, minlength=n_samples).cumsum(dim=0)
    return starts, order
