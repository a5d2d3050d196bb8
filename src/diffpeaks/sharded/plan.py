"""What clustering in shards takes before it starts: memory, disk, what moves over a network, and hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpeaks._base.validation import check_integer
from diffpeaks.neighbors.points import AFFORDABLE
from diffpeaks.recipes import DEFAULT, Recipe
from diffpeaks.sharded.blocks import BLOCK_ROWS
from diffpeaks.sharded.budget import LIBRARIES, OF_POINT, Budget, bytes_of

_SEARCHES = 2  # smoothing takes a second one
_ENTRY_BYTES = 20  # of files for each neighbour: an index, a distance, a weight, and links
# Seconds on one worker (benchmarks/scaling/shards.py): for a feature of a point that is searched at the
# default recall, at least, and times the root of the number of points; of one that is compared with another;
# and for what follows, for each neighbour.
_SEARCHED, _COMPARED, _FOLLOWING = (2.5e-7, 6e-10), 3e-11, 1e-6
_READ_AGAIN = 24  # times that a search reads each point for the blocks of others, at most


@dataclass(frozen=True)
class ShardsPlan:
    """What `ShardedDensityPeaks` would take for so many points.

    Attributes
    ----------
    search : {"exact", "approximate"}
    worker_bytes : int
        Memory of each worker, at most.
    driver_bytes : int
        Memory of the driver, which holds some numbers for each sample, at most.
    disk_bytes : int
        The files of all stages.
    moved_bytes : int
        What is read from files and written to them: the volume over the network, where they are not local.
    hours : float
        On workers like those of our measurements; others may take three times as long, or a third.
    """

    search: str
    worker_bytes: int
    driver_bytes: int
    disk_bytes: int
    moved_bytes: int
    hours: float


def plan_shards(
    n_samples: int,
    n_features: int,
    n_workers: int = 2,
    memory_limit: int | str = "4GB",
    dtype: Any = np.float32,
    recipe: Recipe | None = None,
) -> ShardsPlan:
    """What clustering in shards takes, without a look at the points.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of all points.
    n_workers : int
        Each on a processor of its own.
    memory_limit : int or str
        What each process may take.
    dtype : float32 or float64
    recipe : Recipe, optional
        As in `DensityPeaks`.

    Examples
    --------
    >>> from diffpeaks.sharded import plan_shards
    >>> plan_shards(10_000_000, 128, n_workers=16).search
    'approximate'
    """
    n_samples, n_features = (
        check_integer("n_samples", n_samples, 1),
        check_integer("n_features", n_features, 1),
    )
    n_workers = check_integer("n_workers", n_workers, 1)
    n_neighbors = (recipe or DEFAULT).n_neighbors(n_samples)
    points = n_samples * n_features * np.dtype(dtype).itemsize
    limit = bytes_of(memory_limit)
    entries = min(n_samples, BLOCK_ROWS) * n_neighbors
    Budget.of(limit, n_samples, points // n_samples, entries)  # refuses a limit that is too little
    is_exact = float(n_samples) ** 2 * n_features <= AFFORDABLE
    least, growing = _SEARCHED
    compared = n_samples * _COMPARED if is_exact else least + growing * np.sqrt(n_samples)
    seconds = n_samples * (_SEARCHES * compared * n_features + _FOLLOWING * n_neighbors)
    n_blocks = -(-n_samples // BLOCK_ROWS)
    disk = 2 * _SEARCHES * points + _SEARCHES * _ENTRY_BYTES * n_samples * n_neighbors
    return ShardsPlan(
        search="exact" if is_exact else "approximate",
        worker_bytes=limit,
        driver_bytes=LIBRARIES + OF_POINT * n_samples,
        disk_bytes=disk,
        moved_bytes=2 * disk + _SEARCHES * min(n_blocks, _READ_AGAIN) * points,
        hours=float(seconds / n_workers / 3600),
    )
