"""Passes over all rows of a graph on a device: the loops of the compiled core, with the same bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks._native import RATIOS_IN_PRODUCT, JoiningHills, KeptFlow, n_parts_of, spreads_by_products
from diffpeaks.graph.passes import HostPasses, Step, Weighing
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
            given = indptr, senders, received, sent, found, n_samples, n_samples, n_parts_of(n_samples)
            self._launch(rows.receive, *given, ONE_SENT=False, **UNFUSED)
            arrived: NDArray[np.float64] = found.cpu().numpy()
            return arrived

        return arriving

    def sort_descending(self, values: NDArray[np.float64], order: NDArray[np.int32]) -> None:
        given = self._on_device(order)
        by_value = self._on_device(values)[given] + 0.0  # both zeros are one value
        order[:] = given[by_value.sort(descending=True, stable=True).indices].cpu().numpy()

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

    def add_flow(
        self,
        merging: JoiningHills,
        hill: NDArray[np.int32],
        weights: Any,
        sent_by_weight: NDArray[np.float64],
        max_link: float,
        kept: KeptFlow | None,
        n_threads: int,
    ) -> None:
        """Sums of pairs of hills and of hills, whose parts are added up in the order of the core."""
        hills, sent, longest = (self._on_device(v) for v in (hill, sent_by_weight, [max_link]))
        asked = *self.rows, hills, weights, sent, longest
        starts, ends, flow = self._listed(listed_rows.flows, asked, (torch.int32, torch.float64))
        sender = torch.arange(self._n_rows, dtype=torch.int32, device=ends.device)
        sender = sender.repeat_interleave(starts.diff())
        both = torch.stack([hills[sender], ends], dim=1)
        twice = sender.repeat_interleave(2), flow.repeat_interleave(2)
        n_hills = merging.n_hills
        volume = self._summed(_columns(both.flatten(), n_hills), *twice)
        between = (both[:, 0] != both[:, 1]).nonzero()[:, 0]
        lower, upper = both[between].long().aminmax(dim=1)
        pairs, number = (lower * n_hills + upper).unique(return_inverse=True)
        flows = self._summed(_columns(number, len(pairs)), sender[between], flow[between])
        a, b = ((values.int()).cpu().numpy() for values in (pairs // n_hills, pairs % n_hills))
        merging.add_sums(a, b, flows.cpu().numpy(), volume.cpu().numpy())

    def _summed(
        self, columns: tuple[torch.Tensor, torch.Tensor], senders: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Sums over entries, of which each column has some, by the rows that send them."""
        starts, order = columns
        found, one = self._empty(len(starts) - 1, torch.float64), self._on_device([1.0])
        given = starts, senders[order], values[order], one, found, len(found), self._n_rows
        with launching_on(found.device):
            rows.receive[(max(1, -(-len(found) // rows.ROWS)),)](
                *given, n_parts_of(self._n_rows), ONE_SENT=True, **UNFUSED
            )
        return found

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
