"""Types of the compiled core (native/*.cpp).

Arrays are C-contiguous; outputs are filled in place. A wrong length is a ValueError that names the array.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Index: TypeAlias = NDArray[np.int32]
Offset: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Measure: TypeAlias = tuple[float, bool, float, float]  # order, squared, factor, zero

class Rows(Protocol):
    """Rows of neighbours in flat arrays."""

    @property
    def indptr(self) -> Offset: ...
    @property
    def indices(self) -> Index: ...

class Graph(Rows, Protocol):
    """The same with distances: a NeighborGraph, or Neighbors."""

    @property
    def distances(self) -> Real: ...

def observe_loops(tell: Callable[[float], Any], seconds: float) -> None: ...
def first_fault(graph: Graph) -> tuple[int, int]: ...
def some_asymmetric(graph: Graph, tolerance: float, n_threads: int) -> int: ...
def pair_distances(
    queries: Real,
    points: Real,
    indptr: Offset,
    indices: Index,
    distances: Real,
    measure: Measure,
    n_threads: int,
) -> None: ...
def shift_towards(
    queries: Real,
    rows: Graph,
    own_first: bool,
    targets: tuple[Real, NDArray[np.float64] | None, Real],  # points, masses, reach
    pull: tuple[float, int, bool],  # kept, n_filled, distances_squared
    moved: Real,
    n_threads: int,
) -> None: ...
def count_on_grid(
    places: NDArray[np.float64],
    grid: tuple[float, float, float, int],  # low_x, low_y, spacing, width
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def potential_at(
    places: NDArray[np.float64],
    grid: tuple[float, float, float, int],
    potential: NDArray[np.float64],
    found: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def next_steps(
    rows: Rows,
    weights: NDArray[np.float32],
    places: NDArray[np.float64],
    potential: NDArray[np.float64],
    descent: tuple[float, float, float, float, float],  # pull, gravity, push, momentum, longest
    steps: NDArray[np.float64],
    gains: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def keep_nearest(
    indptr: Offset,
    indices: Index,
    distances: Real,
    slack: NDArray[np.float64],
    n_nearest: int,
    kept: Offset,
) -> None: ...
def sort_rows(indptr: Offset, indices: Index, distances: Real, n_threads: int) -> None: ...
def move_self_first(indptr: Offset, indices: Index, distances: Real, n_threads: int) -> int: ...
def short_links(
    graph: Graph, nearest: Offset, within: Offset, reach: Real, n_threads: int
) -> tuple[Offset, Index, Real]: ...
def merge_hills(
    graph: Graph,
    max_link: float,
    order: Index,
    parent: Index,
    saddle: Index,
    crossing: Index,
    n_threads: int,
) -> None: ...

class KeptFlow:
    """What each row of a walk carries to hills; those under links of any length have the first numbers."""

    def __init__(
        self,
        graph: Graph,
        hill: Index,
        weights: Real,
        sent_by_weight: NDArray[np.float64],
        longest_up: NDArray[np.float64],  # the longest link from each point to the top of its hill
        n_threads: int,
    ) -> None: ...

class KeptLinks:
    """The highest links of each row to hills, likewise."""

    def __init__(
        self, links: Graph, hill: Index, rank: Index, longest_up: NDArray[np.float64], n_threads: int
    ) -> None: ...

class JoiningHills:
    """Hills by number, which join over passes; points of links are numbered by rank."""

    def __init__(self, tops: Index, hill_of_rank: Index, log_density: NDArray[np.float64]) -> None: ...
    def add_flow(
        self,
        graph: Graph,
        hill: Index,
        weights: Real,
        sent_by_weight: NDArray[np.float64],
        max_link: float,
        kept: KeptFlow | None,
        n_threads: int,
    ) -> None: ...
    @property
    def n_hills(self) -> int: ...
    def add_sums(self, a: Index, b: Index, flow: NDArray[np.float64], volume: NDArray[np.float64]) -> None:
        """What flows between pairs of hills, each pair once, and what flows in each hill."""

    def open_passes(
        self, links: Graph, hill: Index, rank: Index, max_link: float, kept: KeptLinks | None, n_threads: int
    ) -> None: ...
    def join(self, flow_weight: float, usual_flow: float) -> tuple[Index, Index, Index, NDArray[np.float64]]:
        """Tops that joined others, passes, their ends on the other hill, and how far apart both were."""

def first_denser(rows: Rows, rank: Index, position: Offset, n_threads: int) -> None: ...
def follow_links(links: Index, ends: Index) -> None: ...
def split_hills(
    parent: Index,
    delta: NDArray[np.float64],
    hill: Index,
    longest_up: NDArray[np.float64] | None,
    max_link: float,
    short_parent: Index,
    short_delta: NDArray[np.float64],
    part: Index,
    n_threads: int,
) -> None: ...
def sort_descending(values: NDArray[np.float64], order: Index) -> None: ...
def join_cores(rows: Rows, core: Mask, component: Index) -> None: ...
def join_within(rows: Rows, lengths: Real, max_length: float, core: Mask, component: Index) -> None: ...
def rank_distances(rows: Rows, distances: NDArray[np.float64], n_threads: int) -> None: ...
def shared_counts(rows: Rows, min_shared: int, counts: NDArray[np.float64], n_threads: int) -> None: ...
def mark_border(graph: Graph, max_link: float, labels: Index, border: Mask) -> None: ...
def score_merges(
    classes: Index,
    n_classes: int,
    from_: Index,
    to: Index,
    pairs: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> None: ...

class KDTree:
    """KDTreeOfFloat32 or KDTreeOfFloat64: one for each dtype of points."""

    def order(self, order: Index) -> None: ...
    def nearest(
        self,
        queries: Real,
        order: Index | None,
        n_neighbors: int,
        measure: Measure,
        indices: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...
    def leaves_visited(self, queries: Real, n_neighbors: int, measure: Measure) -> int: ...
    def nearest_denser(
        self,
        queries: Real,
        order: Index,
        query_rank: Index,
        rank: Index,
        measure: Measure,
        points: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...
    def counts(
        self,
        queries: Real,
        order: Index | None,
        radii: NDArray[np.float64],
        measure: Measure,
        counts: Offset,
        n_threads: int,
    ) -> None: ...
    def balls(
        self,
        queries: Real,
        order: Index | None,
        radii: NDArray[np.float64],
        measure: Measure,
        indptr: Offset,
        indices: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...

def kd_tree(points: Real, n_threads: int) -> KDTree: ...

FEATURE_BLOCK: int
PANEL_WIDTH: int

KERNEL_VARIABLE: str

def cpu_kernel() -> str: ...
def kernels() -> list[str]: ...
def first_equal(points: Real, first: Index, n_threads: int) -> None: ...
def squared_lengths(rows: Real, squares: NDArray[np.float64], n_threads: int) -> None: ...
def limits_at(distances: Real, measure: Measure, scale: float, limits: NDArray[np.float64]) -> None: ...
def project(
    rows: Real,
    center: NDArray[np.float64],
    directions: NDArray[np.float32],
    out: NDArray[np.float32],
    squares: NDArray[np.float32],
    n_threads: int,
) -> None: ...

class _Queries:
    def __init__(
        self,
        rows: Real,
        coordinates: Real,
        tails: NDArray[np.float32],
        error: float,
        block_starts: Offset,
        block_origins: NDArray[np.float64],
        order: Index,
    ) -> None: ...

class QueriesFloat(_Queries): ...
class QueriesDouble(_Queries): ...
class QueriesDoubleAlong(_Queries): ...

class Probes:
    """Which cells are visited; all of them without arguments."""

    def __init__(
        self,
        beside: Index = ...,
        n_probes: int = ...,
        spread_weight: float = ...,
        reach: float = ...,
        n_reached: int = ...,
        centroids: PackedCells = ...,
        rows: Real = ...,
    ) -> None: ...
    def set_limits(self, limits: NDArray[np.float64]) -> None: ...
    def set_last_scores(self, last_scores: NDArray[np.float64]) -> None: ...

class PackedCells:
    def __init__(
        self,
        centroids: NDArray[np.float64],
        scale: float,
        starts: Offset,
        slot_point: Index,
        n_features: int,
    ) -> None: ...
    def pack(self, rows: Real, tails: NDArray[np.float32], row: Index, n_threads: int) -> None: ...
    def put_farther(self, squares: NDArray[np.float32]) -> None: ...
    def spread(self) -> NDArray[np.float32]: ...
    def radius(self) -> NDArray[np.float32]: ...
    def set_spread(self, spread: NDArray[np.float32]) -> None: ...
    def nearest(
        self,
        queries: _Queries,
        points: Real,
        probes: Probes,
        measure: Measure,
        indices: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...
    def mark_visited(
        self,
        queries: _Queries,
        probes: Probes,
        visited: NDArray[np.bool_],
        last_scores: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...
    def nearest_listed(
        self,
        queries: QueriesFloat | QueriesDoubleAlong,
        points: Real,
        coordinates: NDArray[np.float32],
        n_listed: int,
        probes: Probes,
        measure: Measure,
        indices: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...
    def within(
        self,
        queries: _Queries,
        points: Real,
        reach: NDArray[np.float64],
        cell_reach: NDArray[np.float64],
        measure: Measure,
        n_threads: int,
    ) -> tuple[Offset, Index, Real]: ...

def weigh_rows(
    rows: Graph,
    kernel: int,
    by_row: NDArray[np.float64],
    by_entry: NDArray[np.float64],
    masses: NDArray[np.float64],
    weights: Real,
    volume: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def row_spreads(
    graph: Graph, fewest: int, least: float, spreads: NDArray[np.float64], n_threads: int
) -> None: ...

RATIOS_IN_PRODUCT: int

def spreads_by_products(
    products: NDArray[np.float64], spreads: NDArray[np.float64], n_threads: int
) -> None: ...
def n_parts_of(n_rows: int) -> int: ...
def send_mass(
    rows: Rows,
    weights: Real,
    sent_by_weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    arriving: NDArray[np.float64],
    step: tuple[float, float],
    n_threads: int,
) -> None: ...
