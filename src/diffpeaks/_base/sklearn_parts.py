"""The parts of scikit-learn outside its public interface, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = [
    "Interval",
    "Options",
    "StrOptions",
    "check_params",
    "with_params_checked",
]


def check_params(estimator: Any, **params: Any) -> None:
    """Hold some parameters to the estimator's constraints."""
    constraints = {name: estimator._parameter_constraints[name] for name in params}
    validate_parameter_constraints(constraints, params, type(estimator).__name__)


def with_params_checked(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that holds the parameters of its estimator to their constraints first."""
    return _fit_context(prefer_skip_nested_validation=True)(fit)
