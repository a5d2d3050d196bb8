"""Scores of a clustering against the truth, as face clustering counts them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from diffpeaks._validation import some_of
from diffpeaks.order import NOISE


class Scores(NamedTuple):
    """Precision, recall, and their harmonic mean."""

    precision: float
    recall: float
    f: float


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


def _contingency(y_true: Any, labels: Any) -> tuple[sp.coo_array, NDArray[np.int64], NDArray[np.int64]]:
    """Class x cluster counts as a sparse matrix, and the sizes of classes and clusters."""
    y_true, labels = column_or_1d(y_true), column_or_1d(labels).copy()
    check_consistent_length(y_true, labels)
    if not len(labels):
        raise ValueError("y_true and labels are empty; at least one sample is needed")
    for name, values in (("y_true", y_true), ("labels", labels)):
        missing = np.flatnonzero(values != values)  # only NaN differs from itself, in any dtype
        if len(missing):
            raise ValueError(f"{name} has NaN at samples {some_of(missing)}; give these a label or drop them")
    row = np.unique(y_true, return_inverse=True)[1]
    column = np.unique(labels, return_inverse=True)[1]
    noise = labels == NOISE
    column[noise] = column.max() + 1 + np.arange(noise.sum())
    ones = np.ones(len(labels), np.int64)
    overlap = sp.coo_array((ones, (row, column)), (row.max() + 1, column.max() + 1))
    return overlap.tocsr().tocoo(), np.bincount(row), np.bincount(column)


def _pairs(counts: NDArray[np.int64]) -> int:
    return int(np.sum(counts * (counts - 1)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _scores(precision: float, recall: float) -> Scores:
    total = precision + recall
    return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)
