"""Refusals shared by every room: each names the value, the bound and the remedy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_SAMPLES = np.iinfo(np.int32).max
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
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def some_of(values: NDArray[Any], most: int = 5) -> str:
    """The first few values and how many there are in all, for a message."""
    shown = ", ".join(str(value) for value in values[:most])
    return f"[{shown}{', ...' if len(values) > most else ''}] ({len(values)} in all)"


def check_finite(X: Any) -> None:
    """Refuse NaN and infinity, naming the rows."""
    values = X.data if hasattr(X, "indptr") else X
    if not np.issubdtype(values.dtype, np.floating):
        return
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return  # one sum answers the common case without a mask of the size of X
    finite = np.isfinite(values)
    if finite.all():
        return  # the sum itself overflowed
    rows = np.flatnonzero(~finite.all(axis=1)) if values is X else _sparse_rows(X, ~finite)
    what = "NaN" if np.isnan(values).any() else "infinity"
    if np.isnan(values).any() and np.isinf(values).any():
        what = "NaN and infinity"
    raise ValueError(
        f"X contains {what} in rows {some_of(rows)}; drop or impute these rows, "
        "for example with sklearn.impute.SimpleImputer"
    )


def _sparse_rows(X: Any, bad: NDArray[np.bool_]) -> NDArray[Any]:
    return np.unique(np.searchsorted(X.indptr, np.flatnonzero(bad), side="right") - 1)


def check_scale(X: Any, dtype: Any) -> Any:
    """Refuse values whose squares a float of that dtype cannot hold; the dtype in which blocks are safe."""
    largest = max(float(X.max()), -float(X.min()))  # without a copy of X
    low, high = (1e-150, 1e153) if dtype == np.float64 else (1e-15, 1e18)
    high /= np.sqrt(X.shape[1])
    if largest and not low <= largest <= high:
        raise ValueError(
            f"the largest value of X is {largest:.3g} in size; it must lie between {low:g} and {high:.3g}, "
            "where squares of distances stay in the range of floats; rescale X, for example X / abs(X).max()"
        )
    return X.dtype if not largest or 1e-15 <= largest <= 1e15 else np.dtype(np.float64)


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


def check_self_distances(values: NDArray[Any], samples: NDArray[Any], largest: float) -> None:
    """Refuse distances of some samples to themselves that are more than rounding."""
    away = np.flatnonzero(abs(values) > _SELF_ROUNDING[values.dtype] * largest)
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


def check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number above 0, got {value!r}")
    if not (value > 0 and np.isfinite(value)):
        raise ValueError(f"{name}={value} must be a finite number above 0")
    return float(value)


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
