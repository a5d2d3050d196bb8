"""Principal axes: a map that is turned, never bent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms

from diffpeaks.neighbors.euclidean import check_scale

_MOST_EXACT = 1024  # features or samples, of which all axes are found; beyond only two are sought
_BLOCK_VALUES = 1 << 22
_NEARLY_LARGEST = 1 - 1e-3  # loadings that rounding might put in another order


def checked_points(X: Any) -> Any:
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False)
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ValueError(
            "a map needs finite values, but X has NaN or infinity; impute them or give coordinates"
        )
    return X


def principal_coordinates(X: Any, of_directions: bool, random: np.random.RandomState) -> NDArray[Any]:
    """The points along the two directions of largest variance; two features stay as they are."""
    if X.shape[1] == 2 and not of_directions:
        return X.toarray() if sp.issparse(X) else np.array(X)
    check_scale(X, X.dtype)
    rows = _CenteredRows(X, _inverse_lengths(X) if of_directions else None)
    axes = _signed(_axes(rows, random))
    places = np.zeros((X.shape[0], 2), X.dtype)
    for part, block in rows.blocks():
        places[part, : axes.shape[1]] = block @ axes
    return places


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
