"""The parts of scikit-learn outside its public interface, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import validate_data

from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import is_precomputed

__all__ = [
    "Interval",
    "Options",
    "StrOptions",
    "check_params",
    "checked_params",
    "validated",
    "with_input_tags",
]


def check_params(estimator: Any, **params: Any) -> None:
    """Hold some parameters to the estimator's constraints."""
    constraints = {name: estimator._parameter_constraints[name] for name in params}
    validate_parameter_constraints(constraints, params, type(estimator).__name__)


checked_params = _fit_context(prefer_skip_nested_validation=True)


def with_input_tags(tags: Any, metric: Any) -> Any:
    """Sparse input is welcome; distances are pairwise and not negative."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = tags.input_tags.positive_only = is_precomputed(metric)
    return tags


def validated(estimator: Any, X: Any, reset: bool) -> Any:
    """X with its shape, dtype and feature names checked; NaN and infinity are named elsewhere."""
    if isinstance(X, NeighborGraph):
        estimator.n_features_in_ = X.n_samples
        vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a table
        return X
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
