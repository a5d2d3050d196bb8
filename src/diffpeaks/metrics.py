"""Scores of a clustering against the truth, as face clustering counts them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from diffpeaks._base.constants import NOISE
from diffpeaks._base.validation import some_of

__all__ = ["Scores", "bcubed_scores", "pairwise_scores"]


class Scores(NamedTuple):
    """Precision, recall, and their harmonic mean: numbers, or arrays with one for each clustering."""

    precision: Any
    recall: Any
    f: Any


def pairwise_scores(y_true: Any, labels: Any) -> Scores:
    """Scores over pairs of samples: of the pairs put together, how many belong together, and so on.

    A sample with label -1 is a cluster of its own. Where no pair is put together the precision is
    1, where none belongs together the recall is 1.

    Examples
    --------
    >>> from diffpeaks.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 0, 1], [0, 0, 1, 1])
    Scores(precision=0.5, recall=0.3333333333333333, f=0.4)
    """
    overlap, classes, clusters = _contingency(y_true, labels)
    together = _pairs(overlap.data)
    return _scores(_share(together, _pairs(clusters)), _share(together, _pairs(classes)))


def bcubed_scores(y_true: Any, labels: Any) -> Scores:
    """Scores averaged over samples: the share of a sample's cluster that is of its class, and so on.

    A sample with label -1 is a cluster of its own.

    Examples
    --------
    >>> from diffpeaks.metrics import bcubed_scores
    >>> bcubed_scores([0, 0, 0, 1], [0, 0, 1, 1]).precision
    0.75
    """
    overlap, classes, clusters = _contingency(y_true, labels)
    squared = overlap.data.astype(np.float64) ** 2
    n_samples = classes.sum()
    precision = np.sum(squared / clusters[overlap.col]) / n_samples
    recall = np.sum(squared / classes[overlap.row]) / n_samples
    return _scores(float(precision), float(recall))


def classes_of(name: str, values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels as 0, 1, ..., and how many samples have each; NaN is refused."""
    values = column_or_1d(values)
    if not len(values):
        raise ValueError(f"{name} is empty; at least one sample is needed")
    missing = np.flatnonzero(values != values)  # only NaN differs from itself, in any dtype
    if len(missing):
        raise ValueError(f"{name} has NaN at samples {some_of(missing)}; give these a label or drop them")
    _, classes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return classes, sizes


def f_of(precision: Any, recall: Any) -> Any:
    """Harmonic mean; zero where both are zero."""
    total = np.asarray(precision + recall)
    return np.divide(2 * precision * recall, total, out=np.zeros(total.shape), where=total > 0)[()]


def _contingency(y_true: Any, labels: Any) -> tuple[sp.coo_array, NDArray[np.int64], NDArray[np.int64]]:
    """Class x cluster counts as a sparse matrix, and the sizes of classes and clusters."""
    row, classes = classes_of("y_true", y_true)
    column, clusters = classes_of("labels", labels)
    check_consistent_length(row, column)
    noise = column_or_1d(labels) == NOISE
    column[noise] = len(clusters) + np.arange(noise.sum())
    ones = np.ones(len(row), np.int64)
    overlap = sp.coo_array((ones, (row, column)), (len(classes), column.max() + 1))
    return overlap.tocsr().tocoo(), classes, np.bincount(column)


def _pairs(counts: NDArray[np.int64]) -> int:
    return int(np.sum(counts * (counts - 1)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _scores(precision: float, recall: float) -> Scores:
    return Scores(precision, recall, float(f_of(precision, recall)))
