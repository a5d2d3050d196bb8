"""What is asked of the numbers of any file; a refusal names the file, the row and the column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffpeaks.files.contract import BadFileError, Samples, Source

_BLOCK_VALUES = 1 << 20  # looked at together, so that a mapped file is never in memory as a whole
_LEAST_COUNTED = 10  # rows: fewer may count by chance
EXACT_INTEGERS = 2**53  # up to there a float64 holds every integer


def as_floats(source: Source, samples: Samples) -> Any:
    """The points as float32 or float64, sparse or not; no number changes its value."""
    X = samples.X.tocsr() if sp.issparse(samples.X) else samples.X
    if X.ndim != 2:
        raise source.fault(f"the array has shape {X.shape}; it must be (n_samples, n_features)")
    if 0 in X.shape:
        raise source.fault(f"has {X.shape[0]} rows of {X.shape[1]} features; at least one of each is needed")
    if X.dtype.kind not in "biuf":
        raise source.fault(f"holds values of dtype {X.dtype}, no real numbers")
    if X.dtype.kind in "iu" and X.dtype.itemsize == 8:
        check_integers(source, X, samples.columns)
    is_small = X.dtype.kind == "f" and X.dtype.itemsize <= 4
    return X.astype(np.float32 if is_small else np.float64, copy=False)


def check_integers(source: Source, X: Any, columns: tuple[str, ...] | None) -> None:
    """Refuse integers that a float64 would change."""
    found = first_bad(X, lambda values: (values > EXACT_INTEGERS) | (values < -EXACT_INTEGERS))
    if found is not None:
        raise inexact_integer(source, place_of(source, found, columns), X[found])


def inexact_integer(source: Source, place: str, value: Any) -> BadFileError:
    return source.fault(
        f"{place}: {value} is beyond {EXACT_INTEGERS}, up to where a float64 holds every integer; if it is "
        "an id, name it with --id"
    )


def check_finite(source: Source, X: Any, columns: tuple[str, ...] | None, may_miss: bool) -> None:
    """Refuse infinity and, unless values may miss, NaN, which stands for one that does."""
    found = first_bad(X, np.isinf if may_miss else lambda values: ~np.isfinite(values))
    if found is None:
        return
    if np.isnan(X[found]):
        problem = "missing; leave the row out or fill it in, or use --metric nan_euclidean"
    else:
        problem = f"{X[found]}; leave the row out or give it a finite value"
    raise source.fault(f"{place_of(source, found, columns)}: the value is {problem}")


def first_bad(X: Any, is_bad: Callable[[Any], Any]) -> tuple[int, int] | None:
    """Row and column of the first bad value; those that a sparse matrix leaves out are zero, and good."""
    step = max(1, _BLOCK_VALUES // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        if is_bad(block.data if sp.issparse(block) else block).any():
            row, column = np.argwhere(is_bad(block.toarray() if sp.issparse(block) else block))[0]
            return start + int(row), int(column)
    return None


def place_of(source: Source, place: tuple[int, int], columns: tuple[str, ...] | None) -> str:
    """A row and a column for a message."""
    row, column = place
    return f"{source.row(row)}, column {column if columns is None else repr(columns[column])}"


def notes_on_counters(source: Source, X: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Columns that only count rows, which say nothing of samples; nobody chose them."""
    n_samples = X.shape[0]
    if columns is None or len(columns) < 2 or n_samples < _LEAST_COUNTED or sp.issparse(X):
        return ()
    steps = np.arange(n_samples)
    return tuple(
        f"{source.name!r}: the column {name!r} only counts rows, and is clustered like the others; name it "
        "with --id, or name the columns of numbers with --columns"
        for place, name in enumerate(columns)
        if np.array_equal(X[:, place] - X[0, place], steps)
    )
