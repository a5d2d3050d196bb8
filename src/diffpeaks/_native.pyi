"""Types of the compiled core (native/*.cpp). Arrays are C-contiguous; outputs are filled in place."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Index: TypeAlias = NDArray[np.int32]
Offset: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Measure: TypeAlias = tuple[float, bool, float, float]  # order, squared, factor, zero

def observe_loops(tell: Callable[[float], Any], seconds: float) -> None: ...
def first_fault(indptr: Offset, indices: Index, distances: Real) -> tuple[int, int]: ...
def some_asymmetric(
    indptr: Offset, indices: Index, distances: Real, tolerance: float, n_threads: int
) -> int: ...
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
    points: Real,
    indptr: Offset,
    indices: Index,
    weights: NDArray[np.float64],
    moved: Real,
    n_threads: int,
) -> None: ...
def keep_nearest(
    indptr: Offset,
    indices: Index,
    values: Real,
    slack: NDArray[np.float64],
    n_nearest: int,
    kept: Offset,
) -> None: ...
def sort_rows(indptr: Offset, indices: Index, distances: Real, n_threads: int) -> None: ...
def move_self_first(indptr: Offset, indices: Index, distances: Real, n_threads: int) -> int: ...
def merge_hills(
    indptr: Offset,
    indices: Index,
    distances: Real,
    max_link: float,
    order: Index,
    rank: Index,
    parent: Index,
    saddle: Index,
    crossing: Index,
    n_threads: int,
) -> None: ...
def merge_ranked(
    indptr: Offset,
    indices: Index,
    lengths: Real,
    max_link: float,
    parent: Index,
    hill: Index,
    saddle: Index,
    crossing: Index,
) -> None: ...
def join_hills(
    walk_indptr: Offset,
    walk_indices: Index,
    walk_lengths: Real,
    chances: NDArray[np.float64],
    masses: NDArray[np.float64],
    hill_of_walker: Index,
    indptr: Offset,
    indices: Index,
    lengths: Real,
    max_link: float,
    order: Index,
    rank: Index,
    hill_of_rank: Index,
    log_density: NDArray[np.float64],
    tops: Index,
    flow_weight: float,
    usual_flow: float,
    saddle: Index,
    crossing: Index,
    prominence: NDArray[np.float64],
) -> None: ...
def follow_majority(
    indptr: Offset,
    indices: Index,
    distances: Real,
    max_link: float,
    order: Index,
    rank: Index,
    wanted: Index,
    labels: Index,
    parent: Index,
    delta: NDArray[np.float64],
) -> None: ...
def first_denser(indptr: Offset, indices: Index, rank: Index, position: Offset, n_threads: int) -> None: ...
def follow_links(links: Index, ends: Index) -> None: ...
def join_cores(indptr: Offset, indices: Index, core: Mask, component: Index) -> None: ...
def join_within(
    indptr: Offset, indices: Index, lengths: Real, max_length: float, core: Mask, component: Index
) -> None: ...
def rank_distances(
    indptr: Offset, indices: Index, distances: NDArray[np.float64], n_threads: int
) -> None: ...
def shared_counts(
    indptr: Offset, indices: Index, min_shared: int, counts: NDArray[np.float64], n_threads: int
) -> None: ...
def mark_border(
    indptr: Offset, indices: Index, distances: Real, max_link: float, labels: Index, border: Mask
) -> None: ...
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

def kernels() -> list[str]: ...
def first_equal(points: Real, first: Index, n_threads: int) -> None: ...
def project(
    kernel: str,
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
    def nearest(
        self,
        kernel: str,
        queries: _Queries,
        points: Real,
        probes: Probes,
        measure: Measure,
        indices: Index,
        distances: Real,
        n_threads: int,
    ) -> None: ...
    def nearest_listed(
        self,
        kernel: str,
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
        kernel: str,
        queries: _Queries,
        points: Real,
        reach: NDArray[np.float64],
        cell_reach: NDArray[np.float64],
        measure: Measure,
        n_threads: int,
    ) -> tuple[Offset, Index, Real]: ...

def weigh_rows(
    indptr: Offset,
    indices: Index,
    distances: Real,
    kernel: int,
    by_row: NDArray[np.float64],
    by_entry: NDArray[np.float64],
    masses: NDArray[np.float64],
    weights: Real,
    volume: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def row_spreads(
    indptr: Offset,
    indices: Index,
    distances: Real,
    fewest: int,
    least: float,
    spreads: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def n_sending_parts(n_rows: int) -> int: ...
def send_mass(
    indptr: Offset,
    indices: Index,
    weights: Real,
    sent_by_weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    arriving: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def count_links(
    indptr: Offset,
    indices: Index,
    distances: Real,
    nearest: Offset,
    within: Offset,
    reach: Real,
    counts: Offset,
    n_threads: int,
) -> None: ...
def fill_links(
    indptr: Offset,
    indices: Index,
    distances: Real,
    nearest: Offset,
    within: Offset,
    reach: Real,
    starts: Offset,
    linked: Index,
    lengths: Real,
    n_threads: int,
) -> None: ...
