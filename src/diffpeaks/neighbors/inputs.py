"""Estimators of points, and from X, metric and search, as users give them, to points that can be searched."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from diffpeaks._base.sklearn_parts import with_params_checked
from diffpeaks._base.tensors import check_tensor, device_of, is_tensor, on_host
from diffpeaks._base.validation import check_finite, check_unmasked, n_threads
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors.cells.approximate import ApproximateSearch
from diffpeaks.neighbors.contract import Space
from diffpeaks.neighbors.euclidean import METRICS as EUCLIDEAN_METRICS
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.given_graph import GivenGraph
from diffpeaks.neighbors.memory.limited import check_memory_limit
from diffpeaks.neighbors.metric_params import checked_metric
from diffpeaks.neighbors.points import CHOICES, Choice, PointSet
from diffpeaks.neighbors.precomputed import graph_from_tables, points_of_distances
from diffpeaks.neighbors.spaces import MetricSpace, NanEuclideanSpace
from diffpeaks.progress import reported, stage

# NaN and infinity are refused by name, where the metric has no meaning for them
_AS_FLOATS = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}
_EXACT_INTEGERS = 2**53  # up to there a float64 holds every integer


class PointsEstimator(BaseEstimator):
    """An estimator whose parameters say how points are compared and searched."""

    metric: Any
    metric_params: dict[str, Any] | None
    search: Any
    n_jobs: int | None
    device: Any = None  # a parameter of some

    def _points_of(self, X: Any) -> PointSet | GivenGraph:
        return self._searchable(self._checked(X))

    def _checked(self, X: Any) -> Any:
        """X, checked: an array, a graph, or a tensor on a device."""
        on_device = self._device_of(X) is not None and is_tensor(X)
        return self._validated_tensor(X) if on_device else self._validated(X, reset=True)

    def _searchable(self, X: Any) -> PointSet | GivenGraph:
        """X with the metric, the search, the threads and the device of the estimator, or that of X."""
        return searchable(
            X,
            "euclidean" if self.metric is None else self.metric,
            "auto" if self.search is None else self.search,
            self.n_jobs,
            self.metric_params,
            device=self._device_of(X),
        )

    def _device_of(self, X: Any) -> str | None:
        """The device to search on: without one that is named, arrays stay on the host."""
        if self.device is None and isinstance(X, np.ndarray):
            return None
        return device_of(X, self.device)

    def _validated_tensor(self, X: Any) -> Any:
        """A tensor with its shape and dtype checked, for a search on a device."""
        check_tensor(X)
        return validate_data(self, check_table(X), skip_check_array=True)

    def _validated(self, X: Any, reset: bool) -> Any:
        """X with its shape, dtype and feature names checked."""
        X = _graph_or_array(X)
        if not isinstance(X, NeighborGraph):
            return validate_data(self, X, reset=reset, **_AS_FLOATS)
        if not reset:
            raise ValueError(
                "X is a graph among its own samples, which says nothing about those of the fit; give new "
                "samples as rows of features, or with metric='precomputed' of distances to all fitted samples"
            )
        self.n_features_in_ = X.n_samples
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit on a table
        return X

    def __sklearn_tags__(self) -> Any:
        """Sparse input is welcome; distances are pairwise and not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = is_precomputed(self.metric)
        return tags


def transactional_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Check parameters before the fit, and leave the estimator as it was if the fit fails."""
    checked = with_params_checked(fit)

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


def check_table(X: Any) -> Any:
    """Refuse a tensor that is no table of samples and features."""
    if X.ndim != 2 or not all(X.shape):
        raise ValueError(
            f"X is a tensor of shape {tuple(X.shape)}; give one of shape (n_samples, n_features), both at "
            "least 1"
        )
    return X


def as_floats(X: Any, device: str | None = None) -> Any:
    """X as `searchable` takes it: tables of neighbours as a graph, anything else as floats."""
    if device and is_tensor(X):
        check_tensor(X)
        return check_table(X)
    X = _graph_or_array(X)
    return X if isinstance(X, NeighborGraph) else check_array(X, **_AS_FLOATS)


def _graph_or_array(X: Any) -> Any:
    """Tables of neighbours as a graph; anything else unchanged, if it converts to floats without loss."""
    if not isinstance(X, np.ndarray):
        X = graph_from_tables(X) if isinstance(X, tuple) else on_host(X)
    if not isinstance(X, NeighborGraph):
        _check_columns(X)
        check_given(X)
    return X


def _check_columns(X: Any) -> None:
    """Refuse a table or a column whose cells are vectors, such as embeddings, or text."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))  # of Arrow; of pandas and polars
    columns = {f"the column {name!r}": (f"X[{name!r}]", X[name]) for name in names}
    if not columns and _n_dims(X) == 1:
        columns = {"X": ("X", X)}
    texts = []
    for told, (place, column) in columns.items():
        cells = np.asarray(column[:1])
        first = cells[0] if cells.ndim and len(cells) else None
        if isinstance(first, str) and not _is_number(first):
            texts.append(f"{told} holds text, such as {str(first)!r}")
        if isinstance(first, (list, tuple, np.ndarray)) and not hasattr(column, "columns"):
            raise ValueError(
                f"{told} holds {type(first).__name__}s, not numbers; give the vectors themselves: "
                f"np.stack(np.asarray({place}))"
            )
    if texts:
        raise ValueError(f"{texts[0]}, not numbers; leave the text out, or encode it as numbers")


def _n_dims(X: Any) -> int:
    if hasattr(X, "ndim"):
        return int(X.ndim)  # np.ndim may be taken over by X
    try:
        return np.asarray(X).ndim
    except ValueError as error:
        raise ValueError("the rows of X have different lengths; give each row the same features") from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@stage("points")
def searchable(
    X: Any,
    metric: Any = "euclidean",
    search: Any = "auto",
    n_jobs: int | None = None,
    metric_params: dict[str, Any] | None = None,
    memory_limit: int | None = None,
    n_neighbors: int | None = None,
    device: str | None = None,
) -> PointSet | GivenGraph:
    """Points that can be searched, on the host or on a device: X, floats or a graph, with metric and search.

    Under a limit of memory, no more than `n_neighbors` are searched.
    """
    if memory_limit is not None:
        memory_limit = check_memory_limit(memory_limit)
    check_search(search)
    choice = Choice(search, n_jobs, n_threads(n_jobs), memory_limit, n_neighbors or 1, device)
    if is_precomputed(metric):
        return points_of_distances(X, metric_params, choice)
    if device is not None:
        from diffpeaks.neighbors.gpu.space import DeviceSpace  # which needs torch

        if metric_params:
            metric, _ = checked_metric(metric, metric_params, sparse=sp.issparse(X))
        return choice.points(DeviceSpace.of(X, metric, device, memory_limit))
    check_points(X, metric)
    return choice.points(space_of(X, metric, metric_params))


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def check_points(X: Any, metric: Any) -> None:
    """Refuse a graph in the place of points, and points without a distance."""
    if isinstance(X, NeighborGraph):
        raise ValueError(f"X is a NeighborGraph, but metric={metric!r}; use metric='precomputed'")
    check_features(X, metric)


def check_features(X: Any, metric: Any) -> None:
    """Refuse NaN and infinity, unless the metric has a meaning for NaN."""
    if not (isinstance(metric, str) and metric == "nan_euclidean"):
        check_finite(X)


def check_given(X: Any) -> None:
    """Refuse values that a conversion to floats would change: masked ones, and integers beyond 2^53."""
    check_unmasked("X", X)
    values = _stored_values(X) if sp.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return
    low, high = int(values.min()), int(values.max())
    if low < -_EXACT_INTEGERS or high > _EXACT_INTEGERS:
        raise ValueError(
            f"X holds {high if high > _EXACT_INTEGERS else low}; beyond {_EXACT_INTEGERS} in size a "
            "float64 does not hold every integer; subtract an offset or rescale X, or give "
            "X.astype(np.float64) to accept the rounding"
        )


def _stored_values(X: Any) -> NDArray[Any]:
    """The values of any sparse format in one flat array."""
    return (X if X.format in ("csr", "csc", "coo") else X.tocsr()).data


def check_search(search: Any) -> None:
    """Refuse what is neither the name of a search nor an ApproximateSearch."""
    if not isinstance(search, ApproximateSearch) and search not in CHOICES:
        raise ValueError(
            f"search={search!r} is unknown; use one of {list(CHOICES)} or ApproximateSearch(recall=...)"
        )


def space_of(X: Any, metric: Any, params: dict[str, Any] | None = None) -> Space:
    """The space for a metric by name or callable."""
    if params is not None or not _is_euclidean(metric):
        metric, params = checked_metric(metric, params, sparse=sp.issparse(X))
    if _is_euclidean(metric):
        return EuclideanSpace(X, metric)
    if isinstance(metric, str) and metric == "nan_euclidean":
        return NanEuclideanSpace(X)
    return MetricSpace(X, metric, params or {})


def _is_euclidean(metric: Any) -> bool:
    return isinstance(metric, str) and metric in EUCLIDEAN_METRICS
