"""Points on a device of torch: distances, lengths and means of them, the very numbers of the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from diffpeaks._base.tensors import HOST, is_tensor, on_host
from diffpeaks._base.validation import some_of
from diffpeaks.neighbors.duplicates import Duplicates, equal_rows, first_points
from diffpeaks.neighbors.euclidean import METRICS, EuclideanSpace, Pull, check_directions
from diffpeaks.neighbors.gpu.devices import (
    fewest_bytes,
    has_room,
    launching_on,
    memory_told,
    on_device,
    opened,
    runs_kernels,
)
from diffpeaks.neighbors.gpu.distances import measured, roots, squared_distances, squared_lengths

_BLOCK_VALUES = 1 << 25
_PAIRS = 1 << 20  # whose distances are computed at once


class DeviceSpace(EuclideanSpace):
    """As `EuclideanSpace`, but its points and the queries of searches are tensors."""

    sent_bytes = 0  # what points take of the device that did not lie there

    @classmethod
    def of(cls, X: Any, metric: Any, device: str, memory_limit: int | None = None) -> EuclideanSpace:
        """The space of X, an array or a tensor, on the device of that name, or on the host if too large."""
        if sp.issparse(X) or not (isinstance(metric, str) and metric in METRICS):
            raise ValueError(
                f"device={device!r} needs dense points and a Euclidean, cosine or inner product metric; "
                "use device=None"
            )
        where = opened(device)
        n_samples, n_features = X.shape
        least = fewest_bytes(n_samples, n_features, X.dtype.itemsize)
        is_there = is_tensor(X) and X.device.type == "cuda"
        if not is_there and not has_room(where, least, memory_limit):
            _check_finite(on_device(X, torch.device(HOST)))
            return EuclideanSpace(on_host(X), metric)
        with memory_told(where, X.nbytes):
            tensor = on_device(X, where)
            _check_finite(tensor)
            space = cls(tensor, metric)
        space.sent_bytes = 0 if is_there else X.nbytes
        return space

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in a file is on the host: the device may not be there."""
        return EuclideanSpace, (on_host(self.points), self.metric, True)

    @staticmethod
    def _dtype_of(X: Any) -> Any:
        return np.dtype(str(X.dtype).removeprefix("torch."))

    def queries(self, X: Any) -> torch.Tensor:
        X = X.toarray() if hasattr(X, "toarray") else X
        found: torch.Tensor = self._directions(on_device(X, self.points.device).to(self.points.dtype))
        return found

    def unit_vectors(self, X: torch.Tensor) -> torch.Tensor:
        """Each row divided by its length, in double."""
        unit = torch.empty_like(X)
        largest = torch.maximum(X.amax(dim=1), -X.amin(dim=1))
        check_directions(on_host(largest))
        for rows in _blocks(X):
            block = X[rows].double() / largest[rows].double()[:, None]
            unit[rows] = (block / roots(squared_lengths(block))[:, None]).to(X.dtype)
        return unit

    def lengths_of(self, X: torch.Tensor, n_threads: int = 1) -> NDArray[np.float64]:
        return np.sqrt(np.concatenate([on_host(squared_lengths(X[rows])) for rows in _blocks(X)]))

    def duplicates(self, n_threads: int) -> Duplicates:
        if self._duplicates is None:
            first = first_equal(self.points)
            self._duplicates = Duplicates(len(self.points), None if first is None else first.cpu().numpy())
        return self._duplicates

    def same(self, queries: torch.Tensor, first: int) -> NDArray[np.bool_]:
        return equal_rows(on_host(queries), on_host(self.points[first : first + len(queries)]))

    def moved(self, points: Any) -> Self:
        return super().moved(on_device(points, self.points.device))

    def restricted(self, which: NDArray[Any] | slice) -> Self:
        rows = which if isinstance(which, slice) else on_device(which, self.points.device).long()
        return type(self)(self.points[rows], self.metric, True)

    def between(self, first: NDArray[Any], second: NDArray[Any], n_threads: int) -> NDArray[Any]:
        return on_host(self.distances_between(first, second))

    def distances_between(self, first: NDArray[Any], second: NDArray[Any]) -> torch.Tensor:
        """From each of the first points to each of the second ones, on the device."""
        other = on_device(second, self.points.device).long()
        step = max(1, _PAIRS // max(1, len(second)))
        found = [torch.empty((0, len(second)), dtype=self.points.dtype, device=other.device)]
        for rows in on_device(first, other.device).long().split(step):
            sums = squared_distances(self.points[rows], self.points, other.expand(len(rows), -1))
            found.append(measured(sums, self.measure, self.points.dtype))
        return torch.cat(found)

    def shifted(
        self, queries: Any, rows: Any, own_first: bool, masses: Any, reach: Any, pull: Pull, n_threads: int
    ) -> torch.Tensor:
        device = self.points.device
        if not runs_kernels(device):
            host = EuclideanSpace(on_host(self.points), self.metric, True)
            moved = host.shifted(on_host(queries), rows, own_first, masses, reach, pull, n_threads)
            return on_device(moved, device)
        from diffpeaks.neighbors.gpu.graph import device_rows  # which needs Triton
        from diffpeaks.neighbors.gpu.kernels.shifts import shifted

        masses = None if masses is None else on_device(masses, device)
        targets = self.points, masses, on_device(reach, device)
        with launching_on(device):
            moved = shifted(queries, device_rows(rows, device), own_first, targets, pull)
        if pull.length is not None:
            for part in _blocks(moved):
                lengths = roots(squared_lengths(moved[part]))
                ones = torch.ones_like(lengths)
                # a number divided by a tensor would be multiplied by its reciprocal, which is rounded
                ratio = torch.where(lengths > 0, pull.length * ones / lengths, ones)
                moved[part] = (moved[part].double() * ratio[:, None]).to(moved.dtype)
        return moved


def first_equal(points: torch.Tensor) -> torch.Tensor | None:
    """The first point that lies where each point lies; None where none coincide."""
    hashes, order = _row_hashes(points).sort(stable=True)
    new = torch.ones(len(points), dtype=torch.bool, device=points.device)
    new[1:] = hashes[1:] != hashes[:-1]
    if bool(new.all()):
        return None
    starts = new.nonzero()[:, 0]
    first = torch.empty_like(order)
    first[order] = order[starts[new.cumsum(dim=0) - 1]]
    repeats = (first != torch.arange(len(points), device=points.device)).nonzero()[:, 0]
    alike = (points[repeats] == points[first[repeats]]).all(dim=1)
    if not bool(alike.all()):  # rows of one hash: the host tells them apart
        return on_device(first_points(on_host(points), 1), points.device)
    return first.int()


def _row_hashes(points: torch.Tensor) -> torch.Tensor:
    """Sums of the bits of values, each times an odd number of its feature; equal rows have equal ones."""
    random = np.random.RandomState(0)
    odd = 2 * random.randint(-(2**62), 2**62, points.shape[1], dtype=np.int64) + 1
    factors = on_device(odd, points.device)
    hashes = torch.empty(len(points), dtype=torch.int64, device=points.device)
    for rows in _blocks(points):
        values = points[rows] + 0.0  # -0.0 becomes 0.0
        bits = values.view(torch.int32 if values.dtype == torch.float32 else torch.int64).long()
        mixed = (bits ^ (bits >> 15)) * factors
        hashes[rows] = (mixed ^ (mixed >> 29)).sum(dim=1)
    return hashes


def _check_finite(points: torch.Tensor) -> None:
    """Refuse NaN and infinity, naming the rows."""
    if bool(points.sum(dtype=torch.float64).isfinite()):
        return
    finite = points.isfinite()
    if bool(finite.all()):
        return  # the sum itself overflowed
    rows = (~finite.all(dim=1)).nonzero()[:, 0].cpu().numpy()
    raise ValueError(
        f"X contains NaN or infinity in rows {some_of(rows)}; drop or impute these rows, "
        "for example with sklearn.impute.SimpleImputer"
    )


def _blocks(rows: torch.Tensor) -> Iterator[slice]:
    """Consecutive rows, so few that copies of them in double are small."""
    step = max(1, _BLOCK_VALUES // rows.shape[1])
    return (slice(first, first + step) for first in range(0, len(rows), step))
