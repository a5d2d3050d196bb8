"""What a neighbour graph costs before it is built: memory and a class of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpeaks._base.tensors import device_of
from diffpeaks._base.validation import check_graph_size, check_n_neighbors, n_threads
from diffpeaks._native import cpu_kernel
from diffpeaks.neighbors.euclidean import METRICS
from diffpeaks.neighbors.gpu.devices import device_bytes
from diffpeaks.neighbors.memory.cell_bytes import bytes_for_cells
from diffpeaks.neighbors.points import AFFORDABLE, AFFORDABLE_ON_GPU
from diffpeaks.neighbors.trees import FEW_FEATURES, MOST_FEATURES, SOME_FEATURES, bytes_for_tree

# Multiplications in a second on one thread, with all that goes with them; classes of time are coarse.
_PRODUCTS = {"amx": 2e11, "avx512bf16": 7e10, "avx512": 4e10, "avx2": 4e10, "portable": 7e9}
_GPU_PRODUCTS = 1e14  # on a card of 2023 (benchmarks/gpu); others are slower by up to ten times
_TREE_VISITS = 2e7  # distances in a second on one thread
_TIMES = ((1, "under a second"), (60, "seconds"), (3600, "minutes"), (np.inf, "hours"))


@dataclass(frozen=True)
class Plan:
    """What `neighbor_graph` would do with so many points.

    Attributes
    ----------
    search : str
        What "auto" would choose: "tree", "cells" or "approximate"; on a device "gpu" (exact) or
        "approximate". With 5 to 32 features the points themselves decide, and this is the likely choice.
    graph_bytes : int
        The size of the graph.
    peak_bytes : int
        Memory that is needed at most beside the points, the graph included.
    time : str
        "under a second", "seconds", "minutes" or "hours".
    device_bytes : int
        Memory of the device that is needed at most, points and lists included; 0 on the host. Where there is
        less, points are sent in chunks.
    """

    search: str
    graph_bytes: int
    peak_bytes: int
    time: str
    device_bytes: int = 0


def plan(
    n_samples: int,
    n_features: int,
    n_neighbors: int,
    dtype: Any = np.float32,
    n_jobs: int | None = None,
    metric: str = "euclidean",
    device: Any = None,
) -> Plan:
    """What a graph of nearest neighbours costs, without building it.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the points, which are dense.
    n_neighbors : int
    dtype : float32 or float64
    n_jobs : int, optional
        Threads, each of which takes memory; None means all cores.
    metric : {"euclidean", "l2", "sqeuclidean", "cosine", "inner_product"}
        Cosine takes a copy of the points.
    device : str or torch.device, optional
        As in `neighbor_graph`; it need not be there.

    Examples
    --------
    >>> from diffpeaks import plan
    >>> plan(1_000_000, 2, 16).search
    'tree'
    """
    for name, value in (("n_samples", n_samples), ("n_features", n_features)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name}={value!r} must be an integer of at least 1")
    check_graph_size(n_samples, 0)
    check_n_neighbors(n_neighbors, n_samples)
    dtype, threads = np.dtype(dtype), n_threads(n_jobs)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype} must be float32 or float64")
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} must be one of {list(METRICS)}, for which memory is predicted")
    copied = n_samples * n_features * dtype.itemsize if metric == "cosine" else 0
    graph = n_samples * (n_neighbors * (4 + dtype.itemsize) + 8)
    n_products = float(n_samples) ** 2 * n_features
    if device_of(None, device) is not None:
        on_device = device_bytes(n_samples, n_features, n_neighbors, dtype.itemsize)
        search = "gpu" if n_products <= AFFORDABLE_ON_GPU else "approximate"
        return Plan(search, graph, 2 * graph + copied, _time(n_products / _GPU_PRODUCTS), on_device)
    exact = n_products <= AFFORDABLE
    cells = bytes_for_cells(n_samples, n_features, n_neighbors, dtype, threads, approximate=not exact)
    tree = bytes_for_tree(n_samples, n_features, dtype)
    if n_features <= FEW_FEATURES:
        beside = copied + tree
    else:
        beside = copied + (max(tree, cells) if n_features <= MOST_FEATURES else cells)
    if n_features <= SOME_FEATURES:
        seconds = n_samples * n_neighbors * 4.0 * 1.6**n_features / (_TREE_VISITS * threads)
        return Plan("tree", graph, graph + beside, _time(seconds))
    compared = float(n_samples) if exact else 3000.0 + 60 * np.sqrt(n_samples)
    products = n_samples * (compared + 20 * n_neighbors) * n_features
    seconds = products / (_PRODUCTS[cpu_kernel()] * threads)
    return Plan("cells" if exact else "approximate", graph, graph + beside, _time(seconds))


def _time(seconds: float) -> str:
    return next(name for most, name in _TIMES if seconds < most)
