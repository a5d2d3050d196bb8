"""Distances of pairs and lengths of rows, the very numbers of the compiled core (native/distance.hpp)."""

from __future__ import annotations

import numpy as np
import torch

from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu.devices import runs_kernels

_LANES = 16


def squared_distances(queries: torch.Tensor, points: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
    """Sums of squared differences from each query to its points `which`, in double.

    In every full block of sixteen features each lane sums its own feature; the lanes are added in halves,
    then come the remaining features in order. Products and sums are calls of their own: none are fused.
    """
    n_features = points.shape[1]
    in_lanes = n_features - n_features % _LANES
    lanes = torch.zeros((*which.shape, _LANES), dtype=torch.float64, device=points.device)
    for first in range(0, in_lanes, _LANES):
        part = slice(first, first + _LANES)
        difference = queries[:, None, part].double() - points[:, part][which].double()
        lanes.add_(difference.mul_(difference))
    sums = _in_halves(lanes)
    for feature in range(in_lanes, n_features):
        difference = queries[:, None, feature].double() - points[:, feature][which].double()
        sums = sums + difference.mul_(difference)
    return sums


def squared_lengths(rows: torch.Tensor) -> torch.Tensor:
    """Sums of the squares of each row, in the same way."""
    if runs_kernels(rows.device):
        from diffpeaks.neighbors.gpu.marks import squares_of_lists  # which needs Triton

        zero = torch.zeros((1, rows.shape[1]), dtype=rows.dtype, device=rows.device)
        lists = torch.zeros((len(rows), 1), dtype=torch.int32, device=rows.device)
        return squares_of_lists(rows.contiguous(), zero, lists, torch.ones_like(lists[:, 0]))[:, 0]
    n_features = rows.shape[1]
    in_lanes = n_features - n_features % _LANES
    lanes = torch.zeros((len(rows), _LANES), dtype=torch.float64, device=rows.device)
    for first in range(0, in_lanes, _LANES):
        lanes.add_(rows[:, first : first + _LANES].double().square())
    sums = _in_halves(lanes)
    for feature in range(in_lanes, n_features):
        sums = sums + rows[:, feature].double().square()
    return sums


def _in_halves(lanes: torch.Tensor) -> torch.Tensor:
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def measured(sums: torch.Tensor, measure: Measure, dtype: torch.dtype) -> torch.Tensor:
    """Sums of squares as distances, in the dtype of the points."""
    values = measure.factor * (sums if measure.squared else roots(sums))
    values = values.to(dtype)
    return torch.where(values.double() < measure.zero, torch.zeros_like(values), values)


def roots(sums: torch.Tensor) -> torch.Tensor:
    """Rounded to the nearest double, as a GPU and the compiled core do; torch is off by one on processors."""
    return sums.sqrt() if sums.device.type != "cpu" else torch.from_numpy(np.sqrt(sums.numpy()))
