"""Numbers by which people know clusters: they stay with the members while clusterings change."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.validation import check_integer
from diffpeaks.explorer.clustering import Shown
from diffpeaks.results.numbering import continued_clusters


class Numbers:
    """Gives clusters their numbers; a number is never given to another cluster.

    A state that comes back has the numbers that it had. Otherwise a cluster that continues one before, by its
    members, has its number. One that comes back with the peak that it had has its number again, if that is
    free. All others are new and count on.
    """

    def __init__(self, state: Hashable, fitted: Shown) -> None:
        self._of_state: dict[Hashable, NDArray[np.int64]] = {}
        self._of_peak = np.full(len(fitted.labels), NOISE, np.int64)
        self._next = 0
        self.keep(state, fitted)

    def of(self, state: Hashable, now: Shown, before: Shown) -> NDArray[np.int64]:
        if state in self._of_state:
            return self._of_state[state]
        continued = continued_clusters(before.labels, now.labels)
        numbers = np.append(before.numbers, NOISE)[continued]
        self._number_by_peak(numbers, now.peaks)
        fresh = np.flatnonzero(numbers == NOISE)
        numbers[fresh] = self._next + np.arange(len(fresh))
        return numbers

    @property
    def n_given(self) -> int:
        """All numbers below it were given for good; those from it on to what only passes by."""
        return self._next

    def of_samples(self, now: Shown, named: Mapping[int, int]) -> NDArray[np.int64]:
        """Numbers given to clusters by samples in them, of several the first; other clusters count on."""
        numbers = np.full(len(now.peaks), NOISE, np.int64)
        taken = set()
        for sample, number in named.items():
            label = now.labels[sample]
            if label != NOISE and numbers[label] == NOISE and number not in taken:
                numbers[label] = check_integer("number", number, 0)
                taken.add(number)
        fresh = np.flatnonzero(numbers == NOISE)
        numbers[fresh] = max(self._next, int(numbers.max(initial=NOISE)) + 1) + np.arange(len(fresh))
        return numbers

    def keep(self, state: Hashable, shown: Shown) -> None:
        """Remember the numbers of a clustering that is more than passed by."""
        self._of_state[state] = shown.numbers
        self._of_peak[shown.peaks] = shown.numbers
        self._next = max(self._next, int(shown.numbers.max(initial=NOISE)) + 1)

    def _number_by_peak(self, numbers: NDArray[np.int64], peaks: NDArray[np.int64]) -> None:
        """Give clusters without a number that of their peak, where it is free."""
        fresh = np.flatnonzero(numbers == NOISE)
        again = self._of_peak[peaks[fresh]]
        again[np.isin(again, numbers)] = NOISE
        known, first = np.unique(again, return_index=True)  # two peaks may have had one number
        first = first[known != NOISE]
        numbers[fresh[first]] = again[first]
