"""The parts of scikit-learn outside its public interface, in one place."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
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

from diffpeaks._base.validation import check_given
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import graph_from_tables
from diffpeaks.progress import reported

__all__ = [
    "Interval",
    "Options",
    "StrOptions",
    "check_params",
    "validated",
    "whole_fit",
    "with_input_tags",
]


def check_params(estimator: Any, **params: Any) -> None:
    """Hold some parameters to the estimator's constraints."""
    constraints = {name: estimator._parameter_constraints[name] for name in params}
    validate_parameter_constraints(constraints, params, type(estimator).__name__)


def whole_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Check parameters before the fit, and leave the estimator as it was if the fit fails."""
    checked = _fit_context(prefer_skip_nested_validation=True)(fit)

    @wraps(fit)
    def checked_whole_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        told = reported(getattr(self, "verbose", False), getattr(self, "callback", None))
        try:
            with told:
                return checked(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return checked_whole_fit


def with_input_tags(tags: Any, metric: Any) -> Any:
    """Sparse input is welcome; distances are pairwise and not negative."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = tags.input_tags.positive_only = (
        isinstance(metric, str) and metric == "precomputed"
    )
    return tags


def validated(estimator: Any, X: Any, reset: bool) -> Any:
    """X with its shape, dtype and feature names checked; NaN and infinity are named elsewhere."""
    if isinstance(X, tuple):
        X = graph_from_tables(X)
    if isinstance(X, NeighborGraph):
        if not reset:
            raise ValueError(
                "X is a graph among its own samples, which says nothing about those of the fit; give new "
                "samples as rows of features, or with metric='precomputed' of distances to all fitted samples"
            )
        estimator.n_features_in_ = X.n_samples
        vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a table
        return X
    check_given(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
