"""A map of the samples: a place in the plane for each, for the eye alone; no cluster depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import row_norms

from diffpeaks.neighbors import GivenGraph, PointSet
from diffpeaks.neighbors.gpu.devices import on_host
from diffpeaks.progress import stage

__all__ = ["axis_names", "map_coordinates"]

MAPS = ("pca", "umap")
_MOST_EXACT = 1024  # features or samples, of which all axes are found; beyond only two are sought
_BLOCK_VALUES = 1 << 22
_NEARLY_LARGEST = 1 - 1e-3  # loadings that rounding might put in another order


@stage("map")
def map_coordinates(
    X: Any, how: Any = "pca", metric: Any = "euclidean", random_state: Any = None
) -> NDArray[Any]:
    """Two coordinates for each sample.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or the points of a fit
        Points of a fit know their metric.
    how : {"pca", "umap"} or array of shape (n_samples, 2)
        "pca" turns the points so that the first coordinate has the largest variance, then the second; the
        largest loading of each is positive. Two features stay as they are, and of one the second coordinate
        is zero. "umap" needs umap-learn. Coordinates that are there already are checked alone.
    metric : str or callable
        "cosine" makes the map of the directions. Distances, "precomputed", have no axes: give coordinates.
    random_state : int, RandomState or None
        For UMAP, and where the axes of many samples with many features are sought; None stands for a fixed
        seed.

    Examples
    --------
    >>> from diffpeaks.maps import map_coordinates
    >>> map_coordinates([[0.0, 0.0, 5.0], [3.0, 4.0, 5.0]])[:, 0].round(6).tolist()
    [-2.5, 2.5]
    """
    if isinstance(X, (PointSet, GivenGraph)):
        X, metric = _points_and_metric(X)
    if not isinstance(how, str):
        return _checked_coordinates(how, X.shape[0] if hasattr(X, "shape") else len(X))
    if how not in MAPS:
        raise ValueError(f"map={how!r} is unknown; use one of {list(MAPS)}, or give coordinates")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            f"map={how!r} needs points, but with metric='precomputed' distances alone are known; give "
            "coordinates, an array of shape (n_samples, 2)"
        )
    X = _checked_points(X)
    random = check_random_state(0 if random_state is None else random_state)
    return _umap(X, metric, random) if how == "umap" else _principal(X, metric, random)


def axis_names(X: Any, how: Any = "pca", metric: Any = "euclidean") -> tuple[str, str]:
    """What the coordinates of such a map are called; nothing where they are given.

    >>> from diffpeaks.maps import axis_names
    >>> axis_names([[0.0, 0.0], [3.0, 4.0]])
    ('first feature', 'second feature')
    """
    if isinstance(X, (PointSet, GivenGraph)):
        X, metric = _points_and_metric(X)
    if not isinstance(how, str):
        return "", ""
    if how == "umap":
        return "UMAP 1", "UMAP 2"
    if np.shape(X)[1] != 2 or _is_cosine(metric):
        return "first principal axis", "second principal axis"
    first, second = getattr(X, "columns", ("first feature", "second feature"))
    return str(first), str(second)


def _points_and_metric(points: PointSet | GivenGraph) -> tuple[Any, Any]:
    if isinstance(points, GivenGraph):
        return np.empty((points.n_samples, 0)), "precomputed"
    return on_host(points.space.points), getattr(points.space, "metric", "euclidean")


def _checked_coordinates(given: Any, n_samples: int) -> NDArray[Any]:
    places = np.asarray(given)
    if places.shape != (n_samples, 2):
        raise ValueError(f"coordinates have shape {places.shape}; they must have ({n_samples}, 2)")
    return check_array(places, dtype=(np.float64, np.float32), input_name="coordinates")


def _checked_points(X: Any) -> Any:
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False)
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ValueError(
            "a map needs finite values, but X has NaN or infinity; impute them or give coordinates"
        )
    return X


def _umap(X: Any, metric: Any, random: np.random.RandomState) -> NDArray[Any]:
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError(
            "map='umap' needs umap-learn; install it with: pip install 'diffpeaks[umap]'"
        ) from error
    return UMAP(n_components=2, metric=metric, random_state=random, n_jobs=1).fit_transform(X)


def _principal(X: Any, metric: Any, random: np.random.RandomState) -> NDArray[Any]:
    if X.shape[1] == 2 and not _is_cosine(metric):
        return X.toarray() if sp.issparse(X) else np.array(X)
    rows = _CenteredRows(X, _inverse_lengths(X) if _is_cosine(metric) else None)
    axes = _signed(_axes(rows, random))
    places = np.zeros((X.shape[0], 2), X.dtype)
    for part, block in rows.blocks():
        places[part, : axes.shape[1]] = block @ axes
    return places


def _is_cosine(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "cosine"


def _inverse_lengths(X: Any) -> NDArray[Any]:
    lengths = row_norms(X)
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


class _CenteredRows:
    """Rows, each times a factor, less their mean: made block by block, so that X is never copied."""

    def __init__(self, X: Any, factors: NDArray[Any] | None) -> None:
        self.X = X
        self.factors = np.ones(X.shape[0], X.dtype) if factors is None else factors.astype(X.dtype)
        self.mean = np.zeros(X.shape[1], X.dtype)
        total = sum(block.sum(axis=0, dtype=np.float64) for _, block in self.blocks())
        self.mean = (total / X.shape[0]).astype(X.dtype)

    def blocks(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        step = max(1, _BLOCK_VALUES // self.X.shape[1])
        for start in range(0, self.X.shape[0], step):
            part = slice(start, start + step)
            rows = self.X[part].toarray() if sp.issparse(self.X) else self.X[part]
            yield part, rows * self.factors[part, None] - self.mean

    def whole(self) -> NDArray[Any]:
        return np.concatenate([block for _, block in self.blocks()])

    def operator(self) -> LinearOperator:
        """The matrix of the rows, which is only ever multiplied."""
        return LinearOperator(
            self.X.shape,
            matvec=lambda v: self.factors * (self.X @ v.ravel()) - self.mean @ v.ravel(),
            rmatvec=lambda u: self.X.T @ (self.factors * u.ravel()) - self.mean * u.sum(),
            dtype=self.X.dtype,
        )


def _axes(rows: _CenteredRows, random: np.random.RandomState) -> NDArray[Any]:
    """The directions of largest variance, at most two, as columns."""
    n_samples, n_features = rows.X.shape
    if n_features <= _MOST_EXACT:
        covariance = np.zeros((n_features, n_features))
        for _, block in rows.blocks():
            covariance += block.T @ block
        return _leading(covariance)
    if n_samples <= _MOST_EXACT:
        centered = rows.whole()
        axes = centered.T @ _leading((centered @ centered.T).astype(np.float64))
        lengths = np.linalg.norm(axes, axis=0)
        return np.divide(axes, lengths, out=np.zeros_like(axes), where=lengths > 0)
    start = random.uniform(-1, 1, min(rows.X.shape)).astype(rows.X.dtype)
    _, values, axes = svds(rows.operator(), k=2, v0=start, solver="arpack")
    return axes[np.argsort(-values)].T


def _leading(symmetric: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(symmetric)
    vectors = scipy.linalg.eigh(symmetric, subset_by_index=(max(0, size - 2), size - 1))[1]
    return vectors[:, ::-1]


def _signed(axes: NDArray[Any]) -> NDArray[Any]:
    """With the first of the largest loadings of each axis positive."""
    sizes = np.abs(axes)
    largest = (sizes >= _NEARLY_LARGEST * sizes.max(axis=0)).argmax(axis=0)
    return axes * np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1, 1)
