"""The neighbour graph: what searches make of points, and densities and hills are computed from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.validation import check_n_neighbors, n_threads
from diffpeaks._native import some_asymmetric
from diffpeaks.graph.checks import check_claims, checked_rows
from diffpeaks.graph.graph_file import read_graph_file, write_graph_file
from diffpeaks.graph.passes import HostPasses, Rows
from diffpeaks.graph.rows import RaggedRows, csr, row_blocks, row_prefixes
from diffpeaks.graph.tables import check_metric_of_tables, check_triangles, checked_tables, rows_of_tables

FEWEST_NEIGHBORS = 4  # the point itself counted, of which a dimension can be told
_LEAST_RATIO = 1e-6  # of lengths in a row: less is as good as no length


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The neighbours of each point and their distances, as flat arrays that cannot be changed.

    Row `i` is `indices[indptr[i]:indptr[i + 1]]`. It starts with `i` itself at distance zero; the
    others follow in the order (distance, index). This holds among duplicates, too.

    Parameters
    ----------
    indptr, indices, distances : arrays of shape (n_samples + 1,), (n_entries,), (n_entries,)
    n_neighbors : int, optional
        Every row holds at least that many nearest points. By default the shortest row's length.
    radius : float, optional
        Every row holds all points within that distance; 0 if no such radius is known. The default is
        infinity: the rows of a graph made elsewhere count as complete.
    search : str
        How the neighbours were found.
    recall : float, optional
        The share of the true nearest neighbours that the rows hold: 1 from an exact search, measured on a
        sample of the points from an approximate one, None where it is not known. A graph that is cut
        to fewer neighbours keeps it.
    recall_error : float
        Half the width of the 95% interval around a measured recall.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    distances: NDArray[Any]
    n_neighbors: int | None = None
    radius: float = np.inf
    search: str = "given"
    recall: float | None = None
    recall_error: float = 0.0

    def __post_init__(self) -> None:
        rows = checked_rows(self.indptr, self.indices, self.distances)
        shortest = int(np.diff(rows[0]).min())
        n_neighbors = shortest if self.n_neighbors is None else self.n_neighbors
        check_claims(n_neighbors, shortest, self.radius, self.recall, self.recall_error)
        for field, value in zip(fields(self), (*rows, n_neighbors), strict=False):
            object.__setattr__(self, field.name, value)

    @classmethod
    def of_valid(cls, *values: Any) -> Self:
        """A graph of valid values, in the order of the fields; arrays become read-only."""
        graph = object.__new__(cls)
        for field, value in zip(fields(cls), values, strict=True):
            freeze(value)
            object.__setattr__(graph, field.name, value)
        return graph

    @classmethod
    def from_arrays(
        cls, indices: ArrayLike, distances: ArrayLike, metric: str = "euclidean", search: str = "given"
    ) -> Self:
        """The graph of neighbours that another library found.

        Each row is put into the order (distance, index) with the point itself first; where the point
        is absent from its own row it is added, and the row is one longer. The neighbours are taken for the
        nearest ones, but not for all within any radius.

        Parameters
        ----------
        indices, distances : arrays of shape (n_samples, k)
            Row numbers of the neighbours of each point, and how far they are. Padding, similarities and
            points named twice are refused.
        metric : str
            What the distances are. Those of a true metric ("euclidean", "manhattan", "chebyshev") are held
            to the triangle inequality on a sample of rows, which squared distances break unless the points
            fill dozens of dimensions; "cosine", "inner_product" (1 - x.y), "precomputed" and the others are
            not.
        search : str
            How the neighbours were found, for `graph.search`.

        Examples
        --------
        >>> from diffpeaks import NeighborGraph
        >>> graph = NeighborGraph.from_arrays([[1], [0], [1]], [[1.0], [1.0], [2.0]])
        >>> graph.n_neighbors, graph.indices.tolist()
        (2, [0, 1, 1, 0, 2, 1])
        """
        check_metric_of_tables(metric)
        points, lengths = checked_tables(indices, distances)
        rows = rows_of_tables(points, lengths)
        for values in rows:
            freeze(values)  # nobody else has them: no copy is needed
        complete = np.all(np.diff(rows[0]) == len(points))  # every row holds every point
        graph = cls(*rows, radius=np.inf if complete else 0.0, search=search)
        check_triangles(points, lengths, metric)
        return graph

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file, under exactly that name, for `NeighborGraph.load`.

        A file that is there already is replaced in one step, so that an interruption leaves it whole.
        """
        write_graph_file(path, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | os.PathLike[str], mmap: bool = True, check: bool = True) -> Self:
        """A saved graph.

        Parameters
        ----------
        path : path of a file that `save` wrote
        mmap : bool
            Map the file into memory instead of reading it: what is not used is not read, and processes
            share it. The file may be replaced or deleted meanwhile, but not written into.
        check : bool
            Read the arrays once, and refuse the file if one differs from what was saved or a row is not
            in order. Without it the graph opens at once, however large; a file that is damaged, or was
            made to do harm, may then crash the process.

        Examples
        --------
        >>> import tempfile
        >>> from diffpeaks import NeighborGraph, neighbor_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=2).save(f"{folder}/line.graph")
        ...     graph = NeighborGraph.load(f"{folder}/line.graph")
        >>> graph.n_samples, graph.search, graph.recall
        (3, 'tree', 1.0)
        """
        values = read_graph_file(path, {field.name: field.default for field in fields(cls)}, mmap, check)
        if check:
            return cls(**values)
        return cls.of_valid(*(values[field.name] for field in fields(cls)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, field.name) for field in fields(self)))

    def __repr__(self) -> str:
        return (
            f"NeighborGraph(n_samples={self.n_samples}, n_entries={self.indptr[-1]}, "
            f"n_neighbors={self.n_neighbors}, radius={self.radius}, search={self.search!r}, "
            f"recall={'unknown' if self.recall is None else f'{self.recall:.4g}'})"
        )

    @cached_property
    def n_samples(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def reach(self) -> NDArray[Any]:
        """Distance from each point to the last of its row."""
        return self.distances_at(self.indptr[1:] - 1)

    def distances_at(self, entries: NDArray[np.int64]) -> NDArray[Any]:
        """The distances of some entries."""
        return self.distances[entries]

    @cached_property
    def passes(self) -> HostPasses:
        """Loops over all rows, by the engine that holds the rows."""
        return HostPasses(RaggedRows(self.indptr, self.indices, self.distances))

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Length of each row, the point itself included."""
        return np.diff(self.indptr)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Consecutive (rows, entries) slices, small enough that temporaries of a block are cheap."""
        return row_blocks(self.indptr)

    def check_holds(self, n_neighbors: int | None = None, radius: float | None = None) -> None:
        """Refuse what the rows are not known to hold."""
        held = self.n_neighbors or 0
        if n_neighbors is not None and check_n_neighbors(n_neighbors, self.n_samples) > held:
            raise ValueError(
                f"n_neighbors={n_neighbors} is more than the {held} that this graph holds for every point; "
                "build the graph with more neighbours"
            )
        if radius is not None and not radius >= 0:
            raise ValueError(f"radius={radius} must be a number of at least 0")
        if radius is not None and radius > self.radius:
            raise ValueError(
                f"radius={radius} is more than {self.radius}, up to which this graph is known to be complete "
                "(rows of one length count as nearest neighbours); build the graph with that radius, or say "
                "NeighborGraph(..., radius=...)"
            )

    def nearest(self, n_neighbors: int | None) -> NeighborGraph:
        """The graph with only the `n_neighbors` nearest points in each row; None keeps whole rows."""
        if n_neighbors is None:
            return self
        if self.indptr[-1] == n_neighbors * self.n_samples and n_neighbors == self.n_neighbors:
            return self
        self.check_holds(n_neighbors=n_neighbors)
        complete = np.inf if n_neighbors == self.n_samples else 0.0
        return self._prefix(np.minimum(self.degrees, n_neighbors), int(n_neighbors), complete)

    def within(self, radius: float) -> NeighborGraph:
        """The graph with only the points at distance `radius` or less, and all of them."""
        self.check_holds(radius=radius)
        return self.up_to(radius)

    def up_to(self, distance: float) -> NeighborGraph:
        """The graph with only the entries of at most that distance: of the balls, what the rows hold."""
        if not distance >= 0:
            raise ValueError(f"distance={distance} must be a number of at least 0")
        inside = self.distances <= np.array([distance], np.float64)  # an array is not rounded to float32
        lengths = np.add.reduceat(inside, self.indptr[:-1], dtype=np.int64)
        return self._prefix(lengths, None, min(float(distance), self.radius))

    def below(self, distance: float) -> NeighborGraph:
        """The graph with only the entries below that distance; the graph itself where that is infinite."""
        return self if distance == np.inf else self.up_to(np.nextafter(distance, 0))

    def _prefix(self, lengths: NDArray[np.int64], n_neighbors: int | None, radius: float) -> NeighborGraph:
        rows = row_prefixes(self.indptr, lengths, self.indices, self.distances)
        return self.with_rows(RaggedRows(*rows), n_neighbors or int(lengths.min()), radius)

    def short_links(
        self, nearest: NDArray[np.int64], within: NDArray[np.int64], n_threads: int
    ) -> NeighborGraph:
        """The graph with the `nearest` entries of each row, and the mutual ones of the first `within`."""
        return self.with_rows(self.passes.short_links(nearest, within, n_threads))

    def with_rows(self, rows: Rows, n_neighbors: int = 1, radius: float = 0.0) -> NeighborGraph:
        """Other rows, found by the same search, that are known to be valid."""
        told = self.search, self.recall, self.recall_error
        return NeighborGraph.of_valid(*rows, n_neighbors, radius, *told)

    def intrinsic_dimension(self, distance_power: int = 1, n_jobs: int | None = None) -> float:
        """The estimate of Levina and Bickel (2004), averaged as by MacKay and Ghahramani (2005).

        Rows of fewer than four neighbours, the point itself counted, do not count. Distances are lengths to
        the power `distance_power`.
        """
        return intrinsic_dimension(self, distance_power, n_threads(n_jobs))

    @cached_property
    def _dimensions(self) -> dict[int, float]:
        """The intrinsic dimensions that were asked for, by `distance_power`."""
        return {}

    def check_symmetric(self) -> None:
        """Refuse a graph in which some point does not return a neighbour at the same distance."""
        # a metric may round d(x, y) and d(y, x) differently
        tolerance = 1e-5 if self.distances.dtype == np.float32 else 1e-9
        row = some_asymmetric(self, tolerance, n_threads(None))
        if row >= 0:
            raise ValueError(
                f"the symmetric kernel needs symmetric distances; point {row} has a neighbour that does "
                "not return the same distance; symmetrise the distances, or use n_neighbors without "
                "radius for the asymmetric kernel"
            )

    def to_scipy(self) -> sp.csr_array:
        """A new sparse matrix of distances with explicit zeros, as scikit-learn's `precomputed` takes it."""
        return csr(self, self.distances).copy()


def intrinsic_dimension(graph: NeighborGraph, distance_power: int, n_threads: int) -> float:
    """`NeighborGraph.intrinsic_dimension`, on that many threads; measured once."""
    if distance_power not in graph._dimensions:
        spreads = graph.passes.spreads(FEWEST_NEIGHBORS, _LEAST_RATIO**distance_power, n_threads)
        spread = float(spreads.sum()) / distance_power
        n_ratios = int(np.maximum(graph.degrees - (FEWEST_NEIGHBORS - 1), 0).sum())
        graph._dimensions[distance_power] = n_ratios / spread if spread > 0 else np.inf
    return graph._dimensions[distance_power]


def freeze(value: Any) -> None:
    """Make an array read-only, and the arrays of which it is a view; nobody else may hold it."""
    while isinstance(value, np.ndarray):
        value.flags.writeable = False
        value = value.base
