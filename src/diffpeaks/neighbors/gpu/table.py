"""Points as queries are compared with them: in one product of short floats, or difference by difference."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

GROUP = 64  # columns of which the best is looked at first
ROUNDING = 2.0**-22  # of a value in float, and of what it is compared with
_LENGTH = 8.0  # of the longest row: half floats hold it, its square and small parts of it
_ONE_LENGTH = 1e-5  # by which share lengths of rows may differ that count as one
_ROUNDING = 2.0**-23  # of each sum of a product of floats
_OTHER_ROUNDINGS = 16  # of lengths, of the shift, and of distances that become equal
_ALIGNED = 8  # features: rows of other lengths are multiplied slowly
_BLOCK_VALUES = 1 << 25


class Compared(NamedTuple):
    """Queries with all columns of a table, the larger a value, the nearer a point.

    A point of value v is no nearer to a query than the squared distance `slope` x (`offset` - v).
    """

    values: torch.Tensor
    offset: torch.Tensor  # of each query, in double
    slope: float

    def squares_beyond(self, values: torch.Tensor) -> torch.Tensor:
        """Points of these values, one for each query, or of smaller ones are no nearer than that."""
        return self.slope * (self.offset - values.double())

    def may_be_within(self, squares: torch.Tensor) -> torch.Tensor:
        """Which points may be as near as a squared distance, one for each column or for all of them."""
        least = (self.offset[:, None] - squares / self.slope).to(self.values.dtype)
        # rounded away from the values, so that none is lost
        return self.values >= torch.nextafter(least, torch.full_like(least, -torch.inf))


class Listed(NamedTuple):
    """Points that are marked for queries, in order; what has no room is counted alone."""

    lists: torch.Tensor
    counts: torch.Tensor
    beyond: torch.Tensor  # no point without a mark is nearer than that squared distance

    def of(self, which: slice | torch.Tensor) -> Listed:
        return Listed(*(values[which] for values in self))


class Queries(NamedTuple):
    """Rows whose nearest points are sought; which of the points they are, and their marks, if known."""

    rows: torch.Tensor
    which: slice | torch.Tensor | None = None
    listed: Listed | None = None


class Proposed(NamedTuple):
    """Points that may be the nearest of queries.

    No point that is not proposed is nearer than the squared distance `beyond`.
    """

    points: torch.Tensor
    squares: torch.Tensor  # of the distances; infinite for none
    beyond: torch.Tensor  # of each query
    in_order: bool = True  # of their numbers, none last


class Coordinates(NamedTuple):
    """Rows as products compare them: shifted, scaled and in a short dtype."""

    rows: torch.Tensor
    squares: torch.Tensor  # of their lengths before they were shortened, in double
    residuals: torch.Tensor  # lengths of what was left away


class Columns(NamedTuple):
    """The side of the points in a product, and what is added to it."""

    rows: torch.Tensor
    bias: torch.Tensor

    def values(self, rows: torch.Tensor) -> torch.Tensor:
        with _full_precision():
            return torch.addmm(self.bias, rows, self.rows.T)

    def beginning(self, first: int) -> Columns:
        """Those from a certain one on."""
        return Columns(self.rows[first:], self.bias[first:])


class ProductTable:
    """Half of |x|^2 - |x - y|^2 is x.y - |y|^2 / 2: one product, and a bias.

    Points are shifted to their mean, unless they have one length. Then they have one bias, `common_bias`.
    """

    def __init__(self, points: torch.Tensor, dtype: torch.dtype, n_columns: int) -> None:
        """There are `n_columns` columns, of which those beyond the points are farther than all others."""
        self._dtype, self._scale = dtype, 1.0
        self._center = torch.zeros(points.shape[1], dtype=torch.float64, device=points.device)
        shortest, longest = self._lengths(points)
        if longest - shortest <= _ONE_LENGTH * longest:
            self.common_bias: float | None = -(_LENGTH**2) / 2
        else:
            self.common_bias, self._center = None, _mean(points)
            _, longest = self._lengths(points)
        self._scale = _LENGTH / longest if longest else 1.0
        n_features = -(-points.shape[1] // _ALIGNED) * _ALIGNED
        rows = torch.zeros((n_columns, n_features), dtype=dtype, device=points.device)
        squares = torch.full((n_columns,), torch.inf, dtype=torch.float64, device=points.device)
        residuals = torch.zeros_like(squares)
        first = 0
        for block in _blocks(points):
            known, last = self.coordinates(block), first + len(block)
            rows[first:last], squares[first:last], residuals[first:last] = known
            first = last
        self._points = Coordinates(*(values[:first] for values in (rows, squares, residuals)))
        self._residual = float(residuals.max())
        bias = -squares / 2
        short = bias.clone()
        if self.common_bias is not None:
            short[:first] = self.common_bias
        self.columns = Columns(rows, short.to(dtype))
        self._bias_error = float((self.columns.bias[:first].double() - bias[:first]).abs().max())

    @property
    def bytes_per_column(self) -> int:
        return self._dtype.itemsize

    def compared(self, queries: torch.Tensor) -> Compared:
        asked = self.coordinates(queries)
        offset = self._offset(asked, torch.finfo(self._dtype).eps)
        return Compared(self.columns.values(asked.rows), offset, 2 / self._scale**2)

    def squares_beyond(self, asked: Coordinates, values: torch.Tensor, rounding: float) -> torch.Tensor:
        """Points of these values, one for each query, or of smaller ones are no nearer than that.

        Values were rounded by that share.
        """
        return Compared(values, self._offset(asked, rounding), 2 / self._scale**2).squares_beyond(values)

    def least_value(self, asked: Coordinates, squares: torch.Tensor, rounding: float) -> torch.Tensor:
        """Points of smaller values are farther from their query than these squared distances."""
        return self._offset(asked, rounding) - squares * self._scale**2 / 2

    def coordinates_of(self, queries: Queries) -> Coordinates:
        """Those of points are known."""
        if queries.which is None:
            return self.coordinates(queries.rows)
        return Coordinates(*(values[queries.which] for values in self._points))

    def coordinates(self, rows: torch.Tensor) -> Coordinates:
        exact = self._shifted(rows)
        # a query may lie far out; of products the lengths of both are a bound
        most = torch.finfo(self._dtype).max / _LENGTH**2 / math.sqrt(rows.shape[1])
        short = exact.clamp(-most, most).to(self._dtype)
        residuals = (exact - short.double()).norm(dim=1)
        short = torch.nn.functional.pad(short, (0, -rows.shape[1] % _ALIGNED))
        return Coordinates(short, exact.square().sum(dim=1), residuals)

    def _lengths(self, points: torch.Tensor) -> tuple[float, float]:
        """The shortest and the longest, shifted and scaled."""
        found = [self._shifted(block).norm(dim=1).aminmax() for block in _blocks(points)]
        return min(float(length.min) for length in found), max(float(length.max) for length in found)

    def _shifted(self, rows: torch.Tensor) -> torch.Tensor:
        return (rows - self._center) * self._scale

    def _offset(self, asked: Coordinates, rounding: float) -> torch.Tensor:
        """Half of the squared lengths, less what values may be off by."""
        return asked.squares / 2 - self.error(asked, rounding)

    def error(self, asked: Coordinates, rounding: float) -> torch.Tensor:
        """By how much values may be off, if they are rounded by that share."""
        lengths, longest = asked.squares.sqrt(), _LENGTH + self._residual
        products = (lengths + asked.residuals) * longest
        error = asked.residuals * longest + lengths * self._residual + self._bias_error
        error += asked.rows.shape[1] * _ROUNDING * products
        error += _OTHER_ROUNDINGS * _ROUNDING * (products + longest**2 + asked.squares)
        return error + rounding * (products + longest**2)


class DifferenceTable:
    """Points as they are, compared in double, where no square leaves the range of floats.

    The error of a squared distance is a share of it, however near points are.
    """

    bytes_per_column = 3 * 8

    def __init__(self, points: torch.Tensor, n_columns: int) -> None:
        columns = torch.full((points.shape[1], n_columns), torch.inf, dtype=torch.float64)
        self.columns = columns.to(points.device)
        self.columns[:, : len(points)] = points.T
        self.slope = 1 - 2 * (points.shape[1] + _OTHER_ROUNDINGS) * torch.finfo(torch.float64).eps

    def compared(self, queries: torch.Tensor) -> Compared:
        shape = len(queries), self.columns.shape[1]
        values = torch.zeros(shape, dtype=torch.float64, device=queries.device)
        for feature, column in enumerate(self.columns):
            difference = queries[:, feature, None] - column
            values.addcmul_(difference, difference, value=-1)
        offset = torch.zeros(len(queries), dtype=torch.float64, device=queries.device)
        return Compared(values, offset, self.slope)


def best_columns(values: torch.Tensor, n_best: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest values of each row, and their columns.

    The best of each group of columns come first: as many groups hold all that are wanted.
    """
    n_rows, n_columns = values.shape
    if n_columns < 4 * n_best * GROUP:
        best, columns = values.topk(n_best, dim=1, sorted=False)
        return best, columns
    # a group is spread over all columns: neighbours may stand together
    groups = values.view(n_rows, GROUP, n_columns // GROUP)
    which = groups.amax(dim=1).topk(n_best, dim=1, sorted=False).indices
    members = groups.gather(2, which[:, None, :].expand(-1, GROUP, -1)).reshape(n_rows, -1)
    best, places = members.topk(n_best, dim=1, sorted=False)
    row = torch.div(places, n_best, rounding_mode="floor")
    return best, row * groups.shape[2] + which.gather(1, places % n_best)


def _mean(points: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(points.shape[1], dtype=torch.float64, device=points.device)
    for block in _blocks(points):
        total += block.sum(dim=0, dtype=torch.float64)
    return total / len(points)


def _blocks(rows: torch.Tensor) -> Iterator[torch.Tensor]:
    """Consecutive rows, so few that copies of them in double are small."""
    return iter(rows.split(max(1, _BLOCK_VALUES // rows.shape[1])))


@contextlib.contextmanager
def _full_precision() -> Iterator[None]:
    """Products whose errors are those of their dtype: floats are not shortened, sums are in float."""
    matmul = torch.backends.cuda.matmul
    before = matmul.allow_tf32, matmul.allow_fp16_reduced_precision_reduction
    matmul.allow_tf32 = matmul.allow_fp16_reduced_precision_reduction = False
    try:
        yield
    finally:
        matmul.allow_tf32, matmul.allow_fp16_reduced_precision_reduction = before
