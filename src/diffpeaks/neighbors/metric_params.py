"""Names of metrics and their parameters, checked and settled once for all blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpeaks._base.validation import is_number, some_of
from diffpeaks.neighbors.euclidean import METRICS as EUCLIDEAN_METRICS

# Parameters of metrics; those that are not named here take weights of the features alone.
_PARAMETERS = {
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("V", "VI"),
    "correlation": ("w", "centered"),
    **dict.fromkeys((*EUCLIDEAN_METRICS, "nan_euclidean", "haversine", "manhattan", "cityblock", "l1"), ()),
}
_ALIASES = {"infinity": "chebyshev", "p": "minkowski"}
_SPARSE = {*EUCLIDEAN_METRICS, "manhattan", "cityblock", "l1"}


def checked_metric(metric: Any, params: dict[str, Any] | None, sparse: bool) -> tuple[Any, dict[str, Any]]:
    """The metric under its common name, and its parameters without what that name already says."""
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"metric_params must be a dict of arguments of the metric, got {params!r}")
    params = dict(params or {})
    if callable(metric):
        return metric, params
    if not isinstance(metric, str):
        raise TypeError(
            f"metric must be the name of a metric or a callable, got {metric!r}; see neighbor_graph"
        )
    metric = _ALIASES.get(metric, metric)
    if metric not in EUCLIDEAN_METRICS:
        _check_known(metric)
    _check_params(metric, params)
    if metric == "minkowski" and params.get("p", 2) == 2 and params.get("w") is None:
        metric, params = "euclidean", {}
    if sparse and metric not in _SPARSE:
        raise ValueError(
            f"metric={metric!r} takes no sparse matrix, only {sorted(_SPARSE)} do; use X.toarray()"
        )
    return metric, params


def _check_known(metric: str) -> None:
    from sklearn.neighbors import VALID_METRICS

    known = {*VALID_METRICS["brute"], *EUCLIDEAN_METRICS, *_ALIASES} - {"precomputed"}
    if metric not in known:
        raise ValueError(f"metric={metric!r} is unknown; use a callable or one of {sorted(known)}")


def _check_params(metric: str, params: dict[str, Any]) -> None:
    """Refuse parameters that a metric does not have, and orders that make none."""
    takes = _PARAMETERS.get(metric, ("w",))
    unknown = [name for name in params if name not in takes]
    if unknown and not takes:
        raise ValueError(f"metric={metric!r} takes no metric_params, got {params}")
    if unknown:
        raise ValueError(
            f"metric_params={params}: metric={metric!r} has no {unknown[0]!r}, only {list(takes)}"
        )
    p = params.get("p", 2)
    if not is_number(p):
        raise TypeError(f"metric_params={{'p': ...}} must be a number of at least 1, got {p!r}")
    if not p >= 1:
        raise ValueError(
            f"metric_params={{'p': {p}}} must be at least 1, below which Minkowski's sum is no metric; use 1 "
            "(manhattan), 2 (euclidean) or more, up to infinity (chebyshev)"
        )


def fixed_params(X: Any, metric: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters that scikit-learn would estimate from each block are estimated once, from all of X."""
    if isinstance(metric, str) and metric == "seuclidean" and "V" not in params:
        return {**params, "V": _variances(X)}
    if isinstance(metric, str) and metric == "mahalanobis" and "VI" not in params:
        covariance = params.get("V", np.atleast_2d(np.cov(X, rowvar=False, dtype=np.float64)))
        return {"VI": _inverse(np.asarray(covariance))}
    return params


def _variances(X: Any) -> Any:
    variances = np.var(X, axis=0, ddof=1, dtype=np.float64)
    constant = np.flatnonzero(variances == 0)
    if len(constant):
        raise ValueError(
            f"metric='seuclidean' divides by the variance, which is 0 for features {some_of(constant)}; "
            "drop these features or give metric_params={'V': ...}"
        )
    return variances


def _inverse(covariance: Any) -> Any:
    rank = np.linalg.matrix_rank(covariance, hermitian=True)
    if rank < len(covariance):
        raise ValueError(
            "metric='mahalanobis' needs features that do not determine each other; their covariance has rank "
            f"{rank} of {len(covariance)}; drop features or give metric_params={{'VI': ...}}"
        )
    return np.linalg.inv(covariance)
