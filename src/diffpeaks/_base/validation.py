"""Refusals shared by every room: each names the value, the bound and the remedy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_SAMPLES = np.iinfo(np.int32).max
_LEAST_WEIGHT = 1e-30  # of the largest: what is less has no part in a float's sum
_MAX_THREADS = 4096  # more than any machine has cores
BYTES_PER_NEIGHBOR = 4 + 8  # an int32 index and a float64 distance
# Distances from a matrix product leave that much to a point itself, relative to the largest distance.
_SELF_ROUNDING = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-5}


def n_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`: None and -1 take every core this process may use.

    Results never depend on the number of threads, so using all of them is safe by default.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs={n_jobs!r} must be an integer, or None for all cores")
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use a positive number, or None for all cores")
    if n_jobs > _MAX_THREADS:
        raise ValueError(f"n_jobs={n_jobs} must be at most {_MAX_THREADS} threads; use None for all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def some_of(values: NDArray[Any], most: int = 5) -> str:
    """The first few values and how many there are in all, for a message."""
    shown = ", ".join(str(value) for value in values[:most])
    return f"[{shown}{', ...' if len(values) > most else ''}] ({len(values)} in all)"


def check_unmasked(name: str, values: Any) -> None:
    """Refuse masked values, which numpy would take for numbers, naming the rows."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        rows = np.flatnonzero(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1))
        raise ValueError(
            f"{name} is masked in rows {some_of(rows)}; drop these rows, or impute what is masked, for "
            "example with .filled(...)"
        )


def check_distances(distances: NDArray[Any], origin: str) -> None:
    """Refuse distances that are NaN or negative, naming the row."""
    bad = ~(distances >= 0)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        what = "Negative values in data" if distances[row, column] < 0 else "NaN among the distances"
        raise ValueError(
            f"{what}: {origin} gives {distances[row, column]} at row {row}, column {column}; a distance must "
            "be a number of at least 0; drop such samples or use another metric"
        )


def is_self_rounding(values: NDArray[Any], largest: float) -> NDArray[np.bool_]:
    """Which distances of samples to themselves are zero but for rounding."""
    return abs(values) <= _SELF_ROUNDING[values.dtype] * largest


def check_self_distances(values: NDArray[Any], samples: NDArray[Any], largest: float) -> None:
    """Refuse distances of some samples to themselves that are more than rounding."""
    away = np.flatnonzero(~is_self_rounding(values, largest))
    if len(away):
        raise ValueError(
            f"the distance of a point to itself must be 0; it is {values[away[0]]} at sample "
            f"{samples[away[0]]} (samples {some_of(samples[away])}); a similarity must be turned into a "
            "distance first, and rounding be set to 0"
        )


def check_n_neighbors(n_neighbors: Any, n_samples: int) -> int:
    """An integer from 1 to n_samples."""
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)):
        raise TypeError(f"n_neighbors must be an integer, got {n_neighbors!r}")
    if not 1 <= n_neighbors <= n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} must lie in 1 .. n_samples={n_samples} (a point counts as its "
            "own first neighbour); use fewer neighbours or more points"
        )
    return int(n_neighbors)


def check_list_length(n_neighbors: Any, n_samples: int) -> int:
    """The length of lists of neighbours: an integer from 1 to n_samples, and such that memory holds them."""
    n_neighbors = check_n_neighbors(n_neighbors, n_samples)
    check_graph_size(n_samples, n_samples * n_neighbors)
    return n_neighbors


def check_positive(name: str, value: Any, remedy: str = "") -> float:
    """A finite number above zero."""
    if not is_number(value):
        raise TypeError(f"{name} must be a number above 0, got {value!r}")
    if not (value > 0 and np.isfinite(value)):
        raise ValueError(f"{name}={value} must be a finite number above 0" + (remedy and f"; {remedy}"))
    return float(value)


def check_radius(radius: Any) -> float:
    """The radius of a ball that holds some points and not all."""
    remedy = (
        "take one from distances, such as the median of neighbor_graph(X, n_neighbors=10).reach; for all "
    )
    return check_positive("radius", radius, remedy + "points use n_neighbors=n_samples")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_memory_limit(memory_limit: Any) -> int | None:
    """A number of bytes, or None for no limit."""
    if memory_limit is None:
        return None
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, (int, np.integer)):
        raise TypeError(f"memory_limit must be an integer number of bytes, got {memory_limit!r}")
    if memory_limit < 1:
        raise ValueError(f"memory_limit={memory_limit} must be at least 1 byte; use None for no limit")
    return int(memory_limit)


def check_graph_size(n_samples: int, n_entries: int) -> None:
    """Refuse a graph whose indices would overflow, or that the machine's memory cannot hold."""
    if n_samples > MAX_SAMPLES:
        raise ValueError(
            f"n_samples={n_samples} is above {MAX_SAMPLES}, the largest index of a neighbour graph; "
            "cluster a sample, or split the data"
        )
    needed = n_entries * BYTES_PER_NEIGHBOR
    memory = _physical_memory()
    if needed > memory:
        raise MemoryError(
            f"a graph of {n_entries:,} neighbours ({n_samples:,} samples, "
            f"{n_entries / n_samples:,.0f} each) needs {needed / 2**30:,.1f} GiB; this machine has "
            f"{memory / 2**30:,.1f} GiB; use a smaller n_neighbors or radius"
        )


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return np.iinfo(np.int64).max  # unknown here: numpy's own MemoryError is the bound


def check_claims(n_neighbors: Any, shortest: int, radius: Any, recall: Any, recall_error: Any) -> None:
    """Refuse what a graph cannot say of its rows, of which the shortest has that length."""
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)):
        raise TypeError(f"n_neighbors must be an integer or None, got {n_neighbors!r}")
    if not 1 <= n_neighbors <= shortest:
        raise ValueError(
            f"n_neighbors={n_neighbors} must lie in 1 .. {shortest}, the length of the shortest row; give "
            "None for that length"
        )
    numbers = {"radius": radius, "recall": 1.0 if recall is None else recall, "recall_error": recall_error}
    for name, value in numbers.items():
        if not is_number(value):
            raise TypeError(f"{name} must be a number, got {value!r}")
    if not radius >= 0:
        raise ValueError(f"radius={radius} must be a number of at least 0; 0 says that it is not known")
    if recall is not None and not 0 <= recall <= 1:
        raise ValueError(f"recall={recall} must lie in 0 .. 1, or be None where it is not known")
    if not 0 <= recall_error <= 1:
        raise ValueError(f"recall_error={recall_error} must lie in 0 .. 1; 0 says that a recall is exact")


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """An integer in `low` .. `high`."""
    bound = f"at least {low}" if high is None else f"in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer {bound}, got {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={value} must be {bound}")
    return int(value)


def check_density(density: Any, n_samples: int) -> NDArray[np.float64]:
    """One finite, non-negative value for each sample."""
    values = np.asarray(density)
    if values.shape != (n_samples,):
        raise ValueError(
            f"density has shape {values.shape}, but there are {n_samples} samples; "
            f"give one value for each sample, shape ({n_samples},)"
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(f"density must be real numbers, got an array of dtype {values.dtype}")
    values = values.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(
            f"density must be finite and not negative; it is {values[bad[0]]} at sample {bad[0]} "
            f"(samples {some_of(bad)}); shift or exponentiate scores that can be negative"
        )
    return values


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """One finite weight for each sample, none negative and not all of them zero."""
    check_unmasked("sample_weight", sample_weight)
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise TypeError("complex numbers")
        weights = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight must hold real numbers, got {sample_weight!r}") from error
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must hold one value for each of {n_samples} samples"
        )
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        raise ValueError(
            f"sample_weight of sample {bad[0]} is {weights[bad[0]]}; weights must be finite and not "
            "negative; a weight of 0 leaves a sample out"
        )
    if not weights.any():
        raise ValueError(f"sample_weight is zero for all {n_samples} samples; give at least one a weight")
    share = np.where(weights > 0, weights / weights.max(), 1.0)
    if share.min() < _LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight of sample {share.argmin()} is {weights[share.argmin()]:.3g}, the largest one is "
            f"{weights.max():.3g}; a weight must be zero, or at least {_LEAST_WEIGHT:g} times the largest"
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"sample_weight sums to {total}; divide the weights by the largest")
    return weights


def check_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """An array of integers, nothing converted."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got an array of dtype {array.dtype}")
    return array


def check_point_indices(indices: ArrayLike, indptr: NDArray[Any]) -> NDArray[Any]:
    """Indices of points, checked before they become int32."""
    array, n_samples = check_integers("indices", indices), len(indptr) - 1
    if array.dtype != np.int32 and len(array) and not (array.min() >= 0 and array.max() < n_samples):
        entry = np.flatnonzero((array < 0) | (array >= n_samples))[0]
        row = np.searchsorted(indptr, entry, side="right") - 1
        raise ValueError(f"row {row} of the graph names {array[entry]}, a point outside 0 .. {n_samples - 1}")
    return array


def check_flat(name: str, values: Any) -> Any:
    """A list of one dimension."""
    if np.ndim(values) != 1:
        raise ValueError(f"{name} has {np.ndim(values)} dimensions; give a flat list of samples")
    return values
