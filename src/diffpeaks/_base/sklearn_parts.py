"""The parts of scikit-learn outside its public interface, in one place."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from diffpeaks.progress import reported

__all__ = [
    "Interval",
    "Options",
    "StrOptions",
    "check_params",
    "transactional_fit",
]


def check_params(estimator: Any, **params: Any) -> None:
    """Hold some parameters to the estimator's constraints."""
    constraints = {name: estimator._parameter_constraints[name] for name in params}
    validate_parameter_constraints(constraints, params, type(estimator).__name__)


def transactional_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
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
