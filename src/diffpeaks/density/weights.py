"""Weights of samples: which densities take them; a fit leaves out samples of weight zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks._base.tensors import on_host
from diffpeaks._base.validation import check_unmasked
from diffpeaks.density.base import GraphDensity
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.inputs import check_features, is_precomputed

_LEAST_WEIGHT = 1e-30  # of the largest: what is less has no part in a float's sum


@dataclass(frozen=True, eq=False)
class Absent:
    """Samples of weight zero: the fit leaves them out, and predicts their labels.

    Attributes
    ----------
    samples : array of shape (n_absent,)
        Their numbers among all samples.
    present : array of shape (n_present,)
        The numbers of the others.
    X : array or sparse matrix with a row for each of them
        Features, or distances to the present samples.
    has_distances : bool
    """

    samples: NDArray[np.int64]
    present: NDArray[np.int64]
    X: Any
    has_distances: bool = False

    @property
    def n_samples(self) -> int:
        return len(self.samples) + len(self.present)

    def among(self, present: NDArray[Any], absent: Any) -> NDArray[Any]:
        """Values of all samples, from the values of the present and of the absent ones."""
        values = np.empty(self.n_samples, present.dtype)
        values[self.present], values[self.samples] = present, absent
        return values

    def as_fitted(self, X: Any) -> Any:
        """New samples in the form of the fit: of distances to all samples, those to the present ones."""
        return X[:, self.present] if self.has_distances else X


def check_none_absent(absent: Absent | None) -> None:
    """Refuse what shows or edits all samples, where some are not in the fit."""
    if absent is not None:
        raise ValueError(
            f"{len(absent.samples)} of {absent.n_samples} samples have weight zero and are not in the fit; "
            "for maps, reports, edits and the explorer fit X[sample_weight > 0]"
        )


class Weighed(NamedTuple):
    """Samples of positive weight, their weights, and the samples of weight zero; None if there are none."""

    X: Any
    weights: NDArray[np.float64]
    absent: Absent | None = None


def weighed(X: Any, sample_weight: Any, density: GraphDensity, metric: Any) -> Weighed:
    """Checked samples with the weights that a user gave."""
    _check_knows_weights(density)
    weights = _checked_weights(sample_weight, _n_samples(X))
    if weights.all():
        return Weighed(X, weights)
    present, absent = np.flatnonzero(weights), np.flatnonzero(weights == 0)
    if not is_precomputed(metric):
        check_features(on_host(X), metric)
        return Weighed(X[present], weights[present], Absent(absent, present, on_host(X[absent])))
    if isinstance(X, NeighborGraph) or sp.issparse(X):
        raise ValueError(
            f"sample_weight of sample {absent[0]} is zero: its label would be predicted, which a precomputed "
            "graph cannot; leave such samples out of the graph, or give points or a dense matrix of distances"
        )
    distances = X[:, present]
    return Weighed(distances[present], weights[present], Absent(absent, present, distances[absent], True))


def _checked_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
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


def _check_knows_weights(density: GraphDensity) -> None:
    """Refuse weights where they would have no effect.

    Shared neighbours are counted in lists of one length, in which a neighbour counts once whatever it weighs;
    and a density that is given as values, or by a function of the graph, was made without weights.
    """
    if not density.knows_weights:
        raise ValueError(
            f"sample_weight has no effect on {density!r}; use density=None, KernelDiffusion, NaiveDensity or "
            "LocalContrast"
        )


def _n_samples(X: Any) -> int:
    return X.n_samples if isinstance(X, NeighborGraph) else X.shape[0]
