"""Who is in a cluster: its size, its most central members and its most doubtful ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks.results.fitted_methods import FittedMethods


class Doubt(NamedTuple):
    """A sample that may belong elsewhere.

    Attributes
    ----------
    sample : int
    probability : float
        Of its own cluster.
    next_label : int
        The cluster with the largest share beside its own.
    """

    sample: int
    probability: float
    next_label: int


class Members:
    """The samples of each cluster, and of noise, in two orders.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        0 to `n_clusters` - 1, and -1 for noise.
    density, probabilities : arrays of shape (n_samples,)
    next_labels : array of shape (n_samples,)
        The cluster that each sample would belong to otherwise, -1 where there is none.
    n_clusters : int, optional
        By default one more than the largest label.

    Attributes
    ----------
    sizes : array of shape (n_clusters,)
    n_noise : int

    Examples
    --------
    >>> from diffpeaks.results.members import Members
    >>> members = Members([0, 0, 1, -1], [1.0, 2.0, 1.0, 0.1], [0.6, 1.0, 1.0, 0.0], [1, -1, -1, -1])
    >>> members.sizes.tolist(), members.n_noise, members.central(0, 5).tolist(), members.doubtful(0, 5)
    ([2, 1], 1, [1, 0], [Doubt(sample=0, probability=0.6, next_label=1)])
    """

    def __init__(
        self, labels: Any, density: Any, probabilities: Any, next_labels: Any, n_clusters: int | None = None
    ) -> None:
        labels, self._density = np.asarray(labels), np.asarray(density)
        self._probabilities, self._next = np.asarray(probabilities), np.asarray(next_labels)
        n_clusters = int(labels.max(initial=NOISE)) + 1 if n_clusters is None else n_clusters
        counts = np.bincount(labels - NOISE, minlength=n_clusters - NOISE)
        self.n_noise, self.sizes = int(counts[0]), counts[1:]
        self._order = np.lexsort((-self._density, labels))  # stable: the index decides last
        self._start = np.concatenate([[0], np.cumsum(counts)])

    def central(self, label: int, most: int) -> NDArray[np.int64]:
        """The densest samples of a cluster, densest first; -1 asks for those of noise."""
        return self._of(label)[:most]

    def doubtful(self, label: int, most: int) -> list[Doubt]:
        """The samples with the least probability that have another cluster to belong to, least first.

        Those of one probability come in the order of density, the least dense first.
        """
        samples = self._of(label)[::-1]
        samples = samples[self._next[samples] != NOISE]
        samples = samples[np.argsort(self._probabilities[samples], kind="stable")[:most]]
        found = zip(samples, self._probabilities[samples], self._next[samples], strict=True)
        return [Doubt(int(sample), float(own), int(other)) for sample, own, other in found]

    def mean_probability(self, label: int) -> float:
        return float(np.mean(self._probabilities[self._of(label)]))

    def largest_first(self) -> NDArray[np.int64]:
        """The numbers of the clusters by size, those of one size in their order."""
        return np.argsort(-self.sizes, kind="stable")

    def _of(self, label: int) -> NDArray[np.int64]:
        return self._order[self._start[label - NOISE] : self._start[label - NOISE + 1]]


def members_of(model: FittedMethods) -> Members:
    """The members of a fit's clusters."""
    found = model._whole()
    others = next_labels(found.labels, found.memberships(top=2))
    return Members(found.labels, found.landscape.density, found.probabilities, others, found.n_clusters)


def next_labels(labels: NDArray[np.int64], memberships: sp.csr_array) -> NDArray[np.int64]:
    """The cluster with the largest share beside the label's, of at most two shares a row; -1 without one."""
    owners = np.repeat(np.arange(len(labels)), np.diff(memberships.indptr))
    is_other = memberships.indices != labels[owners]
    found = np.full(len(labels), NOISE, np.int64)
    found[owners[is_other]] = memberships.indices[is_other]
    return found
