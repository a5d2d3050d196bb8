"""Nearest points of queries on a device: comparisons propose, distances decide, doubts are done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu.devices import (
    FEW_FEATURES,
    PAIR_BYTES,
    WORKSPACE,
    free_bytes,
    has_triton,
    on_device,
    runs_kernels,
)
from diffpeaks.neighbors.gpu.distances import measured, squared_distances
from diffpeaks.neighbors.gpu.table import (
    GROUP,
    ROUNDING,
    Columns,
    Compared,
    DifferenceTable,
    Listed,
    ProductTable,
    Proposed,
    Queries,
    best_columns,
)
from diffpeaks.progress import stage

if TYPE_CHECKING:
    from diffpeaks.neighbors.gpu.marks import Marks

_COLUMNS = 8 * GROUP  # tables are as wide as a multiple of that: products are slow otherwise
SPARE = 32  # points that are proposed beyond those that are asked for
_MOST_SORTED = 4096  # points of a list, in a kernel of our own
_MANY_ROWS = 1 << 13  # that are sorted there
_SAMPLE = 256  # queries that tell with which rung to begin
_MOST_UNCERTAIN = 0.1  # of them: beyond, the next rung is the better beginning


class Rung(NamedTuple):
    """How queries are compared with points, and how many points are proposed for each that is asked for."""

    table: str
    times: int = 1


class Found(NamedTuple):
    """The nearest of the points that were proposed for some queries."""

    indices: torch.Tensor
    distances: torch.Tensor
    farthest: torch.Tensor  # squared distance of the last, than which the true last one is no farther
    certain: torch.Tensor  # of each query: nothing that was not proposed belongs there

    def put(self, which: slice | torch.Tensor, some: Found) -> None:
        """What was found for some of the queries."""
        for values, new in zip(self, some, strict=True):
            values[which] = new


class DevicePoints:
    """Distinct points on a device, with the tables in which queries are compared with them."""

    def __init__(
        self,
        points: torch.Tensor,
        measure: Measure,
        device: torch.device,
        workspace: int | None = None,
    ) -> None:
        self._device, self._measure = device, measure
        self.points = points.to(device).contiguous()
        self._tables: dict[str, ProductTable | DifferenceTable] = {}
        self._marks: Marks | None = None
        self._limit, self._workspace = workspace, workspace or min(WORKSPACE, free_bytes(device) // 4)

    def found(self, queries: torch.Tensor | None, n_nearest: int) -> Found:
        """The first `n_nearest` points of each query by (distance, index); without queries, of each point."""
        asked = self.points if queries is None else queries
        with stage("neighbours", len(asked)) as done:
            return self._climbed(self._ladder(asked, n_nearest), asked, n_nearest, done)

    def _climbed(
        self, rungs: list[Rung], asked: torch.Tensor, n_nearest: int, done: Callable[[int], Any]
    ) -> Found:
        """What the rungs find, each for the queries about which those before it are not certain."""
        found, own = self.nothing(len(asked), n_nearest), asked is self.points
        for rung in rungs:
            is_first = rung is rungs[0]
            tell = done if is_first else _nobody  # the others have little to do
            listed = self._pairs(n_nearest, tell) if own and is_first and rung.table == "marks" else None
            for which in self._uncertain(found, rung):
                queries = Queries(asked[which], which if own else None, listed and listed.of(which))
                farthest = None if is_first else found.farthest[which]
                found.put(which, self._found(rung, queries, n_nearest, farthest))
                if listed is None:
                    tell(len(queries.rows))
        return found

    def _pairs(self, n_nearest: int, done: Callable[[int], Any]) -> Listed | None:
        """What is marked for all points, each pair compared once; None where the lists would be too large."""
        if self._limit is not None:
            return None
        most_bytes = min(max(WORKSPACE, 2 * self.points.nbytes), free_bytes(self._device) // 4)
        return self._marking().listed(n_nearest, most_bytes, done)

    def _uncertain(self, found: Found, rung: Rung) -> Iterator[slice | torch.Tensor]:
        """The queries that a rung must look at, so many at a time as the workspace holds."""
        left = (~found.certain).nonzero()[:, 0]
        if not len(left):
            return  # before the table of the rung is made
        step = self._n_queries(rung, found.indices.shape[1])
        if len(left) < len(found.certain):
            yield from left.split(step)
        else:
            yield from (slice(first, first + step) for first in range(0, len(left), step))

    def nothing(self, n_queries: int, n_nearest: int) -> Found:
        """Of so many queries nothing is known."""
        indices = torch.zeros((n_queries, n_nearest), dtype=torch.int32, device=self._device)
        distances = torch.zeros(indices.shape, dtype=self.points.dtype, device=self._device)
        farthest = torch.full((n_queries,), torch.inf, dtype=torch.float64, device=self._device)
        return Found(
            indices, distances, farthest, torch.zeros(n_queries, dtype=torch.bool, device=self._device)
        )

    def within(self, queries: torch.Tensor, squares: NDArray[np.float64]) -> Iterator[tuple[Any, Any, Any]]:
        """Pairs that may be as near as the squared distance of the point, block by block of queries.

        Each block is the number of points for each query, the points, and their distances.
        """
        table = "differences" if self.points.shape[1] <= FEW_FEATURES else "floats"
        reach = torch.zeros(self._n_columns, dtype=torch.float64, device=self._device)
        reach[: len(squares)] = on_device(squares, self._device)
        for asked in queries.split(self._n_queries(Rung(table), 0)) if len(queries) else ():
            near = self._table(table).compared(asked).may_be_within(reach)[:, : len(self.points)]
            owners, which = near.nonzero(as_tuple=True)
            sums = squared_distances(asked[owners], self.points, which[:, None])[:, 0]
            distances = measured(sums, self._measure, self.points.dtype)
            yield near.sum(dim=1).cpu().numpy(), which.int().cpu().numpy(), distances.cpu().numpy()

    def _ladder(self, asked: torch.Tensor, n_nearest: int) -> list[Rung]:
        """From the first table on that is certain about most of a sample of the queries."""
        tables = self._tables_for(n_nearest)
        sample = asked[:: max(1, len(asked) // _SAMPLE)].contiguous()  # as kernels expect rows
        while len(tables) > 1 and len(asked) > 4 * _SAMPLE:
            found = self._climbed(_rungs_of(tables[:1]), sample, n_nearest, _nobody)
            if float(found.certain.float().mean()) >= 1 - _MOST_UNCERTAIN:
                break
            tables = tables[1:]
        return [*_rungs_of(tables), Rung("all")]

    def _tables_for(self, n_nearest: int) -> list[str]:
        """The cheapest first."""
        few = self.points.shape[1] <= FEW_FEATURES
        if self._device.type == "cpu":
            return ["differences" if few else "floats"]  # a processor has no fast products of halves
        own = has_triton() and self._marking().suits(n_nearest)
        if few:
            return ["marks", "differences"] if own else ["differences"]
        return ["marks" if own else "halves", "floats"]

    def _found(self, rung: Rung, asked: Queries, n_nearest: int, farthest: torch.Tensor | None) -> Found:
        """The nearest of what a rung proposes, where the last one is no farther than `farthest`, if given."""
        return self.nearest_of(self._proposed(rung, asked, n_nearest, farthest), n_nearest)

    def nearest_of(self, proposed: Proposed, n_nearest: int) -> Found:
        """The first of what is proposed, by (distance, index)."""
        points, squares, beyond, in_order = proposed
        dtype = self.points.dtype
        # a kernel takes longer to compile than torch takes for some rows
        by_kernel = runs_kernels(self._device) and points.dtype == torch.int32 and dtype == torch.float32
        if by_kernel and len(points) >= _MANY_ROWS and points.shape[1] <= _MOST_SORTED:
            from diffpeaks.neighbors.gpu.marks import nearest_listed  # which needs Triton

            nearest, distances, last = nearest_listed(points, squares, self._measure, n_nearest)
        else:
            if not in_order:
                points, order = points.sort(dim=1)
                squares = squares.gather(1, order)
            distances, order = measured(squares, self._measure, dtype).sort(dim=1, stable=True)
            order, distances = order[:, :n_nearest], distances[:, :n_nearest]
            nearest, last = points.gather(1, order).int(), squares.gather(1, order[:, -1:])[:, 0]
        # rounding keeps the order: what is farther than all proposals must also count as farther
        certain = measured(beyond.clamp(min=0), self._measure, dtype) > distances[:, -1]
        return Found(nearest, distances, last, certain)

    def _proposed(
        self, rung: Rung, queries: Queries, n_nearest: int, farthest: torch.Tensor | None
    ) -> Proposed:
        if rung.table == "marks":
            return self._marking().proposed(queries, rung.times * n_nearest, farthest)
        n_points, asked = len(self.points), queries.rows
        n_proposed = min(n_points, rung.times * (n_nearest + SPARE))
        if rung.table == "all" or n_proposed == n_points:
            points = torch.arange(n_points, device=self._device).expand(len(asked), n_points)
            beyond = torch.full((len(asked),), torch.inf, dtype=torch.float64, device=self._device)
        else:
            points, beyond = _best_columns(self._table(rung.table).compared(asked), n_proposed)
        return Proposed(points, squared_distances(asked, self.points, points), beyond)

    def squares(self, queries: torch.Tensor, lists: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        """Squared distances to so many listed points; infinite where the number is that of no point."""
        if runs_kernels(self._device):
            from diffpeaks.neighbors.gpu.marks import squares_of_lists  # which needs Triton

            return squares_of_lists(queries, self.points, lists, counts)
        sums = squared_distances(queries, self.points, lists.clamp(max=len(self.points) - 1))
        return torch.where(lists < len(self.points), sums, torch.inf)

    def compared_columns(self) -> Columns:
        """Points as products compare them, in half floats where products of these are fast."""
        return Columns(*(values[: len(self.points)] for values in self._products.columns))

    def value_errors(self) -> torch.Tensor:
        """By how much the values of each point with such columns may be off."""
        asked = self._products.coordinates_of(Queries(self.points, slice(None)))
        return self._products.error(asked, ROUNDING)

    @property
    def _products(self) -> ProductTable:
        table: Any = self._table("halves" if runs_kernels(self._device) else "floats")
        return table

    def _marking(self) -> Marks:
        if self._marks is None:
            from diffpeaks.neighbors.gpu.marks import DifferenceMarks, ProductMarks  # which need Triton

            few = self.points.shape[1] <= FEW_FEATURES
            table: Any = self._table("differences" if few else "halves")
            self._marks = (DifferenceMarks if few else ProductMarks)(table, self.points)
        return self._marks

    def _table(self, name: str) -> ProductTable | DifferenceTable:
        if name not in self._tables:
            self._tables[name] = self._made(name)
        return self._tables[name]

    def _made(self, name: str) -> ProductTable | DifferenceTable:
        if name == "differences":
            return DifferenceTable(self.points, self._n_columns)
        dtype = torch.float16 if name == "halves" else torch.float32
        return ProductTable(self.points, dtype, self._n_columns)

    @property
    def _n_columns(self) -> int:
        return -(-len(self.points) // _COLUMNS) * _COLUMNS

    def _n_queries(self, rung: Rung, n_nearest: int) -> int:
        """So many at a time as the workspace holds."""
        each = self._bytes_per_query(rung, n_nearest)
        if self._limit is not None and self._limit < each:
            raise ValueError(
                f"memory_limit leaves {self._limit} bytes for comparisons on device='{self._device}', below "
                f"the {each} bytes that one sample takes; raise it by {each - self._limit}"
            )
        return max(1, self._workspace // each)

    def _bytes_per_query(self, rung: Rung, n_nearest: int) -> int:
        if rung.table == "all":
            return len(self.points) * PAIR_BYTES
        if rung.table == "marks":
            return self._marking().bytes_per_query(rung.times * n_nearest)
        n_proposed = min(len(self.points), rung.times * (n_nearest + SPARE))
        compared = 2 * self._n_columns * self._table(rung.table).bytes_per_column
        return compared + n_proposed * (GROUP * 10 + PAIR_BYTES)


def _nobody(n_done: int) -> None:
    """Is told how far the work is."""


def _rungs_of(tables: list[str]) -> list[Rung]:
    return [Rung(table, times) for table in tables for times in (1, 4)]


def _best_columns(compared: Compared, n_proposed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The columns of the largest values, in order, and a squared distance than which no other is nearer."""
    values, columns = best_columns(compared.values, n_proposed)
    return columns.sort(dim=1).values, compared.squares_beyond(values.amin(dim=1))
