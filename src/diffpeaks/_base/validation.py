"""Refusals shared by every room: each names the value, the bound and the remedy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_SAMPLES = np.iinfo(np.int32).max
MAX_THREADS = 4096  # more than any machine has cores
BYTES_PER_NEIGHBOR = 4 + 8  # an int32 index and a float64 distance


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
    if n_jobs > MAX_THREADS:
        raise ValueError(f"n_jobs={n_jobs} must be at most {MAX_THREADS} threads; use None for all cores")
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


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """An integer in `low` .. `high`."""
    bound = f"at least {low}" if high is None else f"in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer {bound}, got {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={value} must be {bound}")
    return int(value)


def check_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """An array of integers, nothing converted."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got an array of dtype {array.dtype}")
    return array
