"""Numbers of clusters: which cluster of one clustering is which of another, and numbers given by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.validation import check_integer

_MOST_CELLS = 4  # for each sample, of a table of all pairs of clusters; for more, the pairs are sorted


def numbered(labels: ArrayLike, numbers: Mapping[int, int]) -> NDArray[np.int64]:
    """Labels in which some clusters have other numbers; noise stays noise.

    Parameters
    ----------
    labels : array of shape (n_samples,)
    numbers : mapping from samples to numbers
        The cluster of each sample takes the number beside it; clusters that are not named keep theirs.

    Examples
    --------
    >>> from diffpeaks import numbered
    >>> numbered([0, 0, 1, -1], {2: 7}).tolist()
    [0, 0, 7, -1]
    """
    labels = np.asarray(labels, np.int64)
    number_of = np.arange(labels.max(initial=NOISE) + 1)
    named: dict[int, int] = {}
    for sample, number in numbers.items():
        check_integer("sample", sample, 0, len(labels) - 1)
        cluster = int(labels[sample])
        if cluster == NOISE:
            raise ValueError(f"sample {sample} is noise, which has no number; name samples of clusters")
        if named.setdefault(cluster, number) != number:
            raise ValueError(f"the cluster of sample {sample} has two numbers, {named[cluster]} and {number}")
        number_of[cluster] = check_integer("number", number, 0)
    present = np.unique(labels[labels != NOISE])
    taken, count = np.unique(number_of[present], return_counts=True)
    if np.any(count > 1):
        raise ValueError(f"two clusters have the number {taken[count > 1][0]}; give each its own")
    return np.append(number_of, NOISE)[labels]


def continued_clusters(before: NDArray[np.int64], now: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each cluster now the one before that it continues, by their members; NOISE for a new one.

    A cluster continues another if each has most of its samples in the other: no cluster before gave it more
    samples, and it gave no other cluster more. Of equal ones the first counts.

    >>> import numpy as np
    >>> from diffpeaks.results.numbering import continued_clusters
    >>> continued_clusters(np.array([0, 0, 0, 1, 2]), np.array([1, 1, 0, 2, 2])).tolist()
    [-1, 0, 1]
    """
    n_now = int(now.max(initial=NOISE)) + 1
    old, new, count = _shared_samples(before, now)
    heir = _first_of(old, new, count, int(before.max(initial=NOISE)) + 1)
    origin = _first_of(new, old, count, n_now)
    found = np.full(n_now, NOISE, np.int64)
    known = np.flatnonzero(origin != NOISE)
    mutual = known[heir[origin[known]] == known]
    found[mutual] = origin[mutual]
    return found


def _shared_samples(before: NDArray[np.int64], now: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Pairs of clusters before and now that share samples, and how many."""
    n_before, n_now = (int(labels.max(initial=NOISE)) + 1 for labels in (before, now))
    in_both = (before != NOISE) & (now != NOISE)
    if not in_both.all():
        before, now = before[in_both], now[in_both]
    pairs = before * n_now + now
    if n_before * n_now <= _MOST_CELLS * len(pairs):
        table = np.bincount(pairs, minlength=n_before * n_now)
        found = np.flatnonzero(table)
        count = table[found]
    else:
        found, count = np.unique(pairs, return_counts=True)
    return *np.divmod(found, max(1, n_now)), count


def _first_of(
    keys: NDArray[np.int64], others: NDArray[np.int64], count: NDArray[np.int64], n_keys: int
) -> NDArray[np.int64]:
    """For each key the other that it shares most samples with, of equal ones the first; NOISE without any."""
    order = np.lexsort((others, -count, keys))
    found = np.full(n_keys, NOISE, np.int64)
    present, first = np.unique(keys[order], return_index=True)
    found[present] = others[order[first]]
    return found
