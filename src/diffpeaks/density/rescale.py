"""ReScale: attributes stretched where they are dense, so that clusters of different density become alike."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from diffpeaks._base.sklearn_parts import Interval
from diffpeaks._base.validation import check_finite
from diffpeaks.neighbors.inputs import transactional_fit

# Balls are closed, and the smallest and the largest value often lie on their rims: rounding shall not decide.
_ROUNDING = 1e-9


class ReScale(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each value by the share of its attribute's density that lies below it.

    A clustering of the rescaled data by density is one of the data by density ratio: the density of a
    sample relative to that of its surroundings (Zhu, Ting and Carman, 2016). The range of each attribute is
    divided into `n_intervals`. The density at an end of an interval is the number of samples within `radius`
    of it; the density below an end is the integral of the line through these (the rule of trapezoids), and
    the density below any other value is interpolated.

    Parameters
    ----------
    n_intervals : int
    radius : float
        A share of the attribute's range.

    Attributes
    ----------
    grid_ : array of shape (n_intervals + 1, n_features)
        The ends of the intervals.
    cumulative_ : array of shape (n_intervals + 1, n_features)
        What replaces them, from 0 to 1. Values beyond the range are replaced by 0 or 1, and the values of a
        constant attribute by 0.

    Examples
    --------
    >>> from diffpeaks import ReScale
    >>> ReScale(n_intervals=2, radius=0.2).fit_transform([[0.0], [1.0], [1.0], [10.0]]).round(2).tolist()
    [[0.0], [0.15], [0.15], [1.0]]
    """

    _parameter_constraints = {
        "n_intervals": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, n_intervals: int = 100, radius: float = 0.1) -> None:
        self.n_intervals = n_intervals
        self.radius = radius

    @transactional_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how to rescale each attribute of X, an array of shape (n_samples, n_features)."""
        X = self._validated(X, reset=True)
        shape = (self.n_intervals + 1, X.shape[1])
        self.grid_, self.cumulative_ = np.empty(shape), np.zeros(shape)
        for attribute, values in enumerate(X.T.astype(np.float64)):
            low, high = _range(values, attribute)
            self.grid_[:, attribute] = np.linspace(low, high, self.n_intervals + 1)
            if low < high:
                shares = (values - low) / (high - low)
                self.cumulative_[:, attribute] = _cumulative(shares, self.n_intervals, self.radius)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """X, of shape (n_samples, n_features), with each attribute rescaled as in the fit."""
        check_is_fitted(self, "cumulative_")
        X = self._validated(X, reset=False)
        columns = zip(X.T, self.grid_.T, self.cumulative_.T, strict=True)
        scaled = [np.interp(values, grid, cumulative) for values, grid, cumulative in columns]
        return np.column_stack(scaled).astype(X.dtype, copy=False)

    def _validated(self, X: Any, reset: bool) -> NDArray[Any]:
        X = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
        check_finite(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _range(values: NDArray[np.float64], attribute: int) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):
        raise ValueError(
            f"attribute {attribute} lies in {low:.3g} .. {high:.3g}, a range that is too wide for floats; "
            "scale it down first"
        )
    return low, high


def _cumulative(shares: NDArray[np.float64], n_intervals: int, radius: float) -> NDArray[np.float64]:
    """The density below each end of an interval of 0 .. 1, as a share of the whole."""
    ordered, ends = np.sort(shares), np.linspace(0, 1, n_intervals + 1)
    reach = radius + _ROUNDING
    up_to = np.searchsorted(ordered, ends + reach, side="right")
    density = up_to - np.searchsorted(ordered, ends - reach, side="left")
    below = np.concatenate(([0], np.cumsum(density[1:] + density[:-1])))
    return below / below[-1]
