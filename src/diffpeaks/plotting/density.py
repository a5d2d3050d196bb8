"""The landscape of a density: samples in the plane, and contours between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import cluster_colors
from diffpeaks.density.named import check_density
from diffpeaks.maps import axis_names, color_indices, map_coordinates
from diffpeaks.plotting._style import (
    MANY_SAMPLES,
    Display,
    mark_peaks,
    plain_numbers,
    positive,
    scatter,
)
from diffpeaks.results.facts import counted

_GRID_POINTS = 150  # along each axis
_MOST_CONTOURS = 10


class Grid(NamedTuple):
    """A density at all (x, y): `density[j, i]` is that at (x[i], y[j])."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    density: NDArray[np.float64]


@dataclass
class DensityDisplay(Display):
    """Samples in the plane, coloured by density, or by cluster where labels are given.

    Colours of densities are on a logarithmic scale. Density zero has the colour of the lowest.

    Parameters
    ----------
    positions : array of shape (n_samples, 2)
    density : array of shape (n_samples,)
        With labels, denser samples are drawn larger.
    labels : array of shape (n_samples,), optional
        Noise is grey.
    peak_indices : array, optional
        Samples to mark as peaks.
    grid : Grid, optional
        The density between the samples, drawn as contours; from one to the next it doubles. Samples
        without labels are then black dots, and left out where they are so many (10,000) that they would
        hide it.
    axis_names : tuple of two strings
        What the axes are called.
    color_indices : array of shape (n_clusters,), optional
        The colour of each cluster; by default as `diffpeaks.maps.color_indices` chooses, so that neighbours
        differ.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import DensityDisplay
    >>> X = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [9.0, 5.0], [9.5, 5.0]]
    >>> model = DensityPeaks(n_clusters=2).fit(X)
    >>> DensityDisplay.from_estimator(model, X, color="cluster").ax_.get_title()
    '2 clusters, 5 samples'
    """

    positions: NDArray[Any]
    density: NDArray[Any]
    labels: NDArray[Any] | None = None
    peak_indices: NDArray[Any] = field(default_factory=lambda: np.empty(0, int))
    grid: Grid | None = None
    axis_names: tuple[str, str] = ("", "")
    color_indices: NDArray[np.int64] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        positions: Any = None,
        color: str = "density",
        contours: bool = False,
        color_indices: NDArray[np.int64] | None = None,
        ax: Any = None,
    ) -> Self:
        """The samples of a fitted density or clusterer, drawn.

        Parameters
        ----------
        estimator : fitted density or clusterer
        X : array of shape (n_samples, n_features)
            The samples of the fit.
        positions : array of shape (n_samples, 2), optional
            Where to draw them, such as a map by t-SNE or UMAP. The default is X itself if it has one or two
            features, otherwise the map of `diffpeaks.maps` that is laid out from the graph of the fit.
        color : {"density", "cluster"}
        contours : bool
            Draw the density between the samples, too; only for X with two features, without `positions`.
        color_indices : array, optional
            The colour of each cluster, as in `cluster_colors`. By default neighbours on the map differ.
        ax : matplotlib axes, optional
        """
        if color not in ("density", "cluster"):
            raise ValueError(f"color={color!r} is unknown; use 'density' or 'cluster'")
        check_is_fitted(estimator, "density_")
        if color == "cluster" and not hasattr(estimator, "labels_"):
            raise ValueError(f"{type(estimator).__name__} has no clusters; use color='density'")
        n_given = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_given != len(estimator.density_):
            raise ValueError(
                f"X has {n_given} samples, but the fit has {len(estimator.density_)}; give the X of the fit"
            )
        labels = estimator.labels_ if color == "cluster" else None
        peaks = getattr(estimator, "peak_indices_", np.empty(0, int))
        names = ("", "")
        grid = _density_between(estimator, X, positions) if contours else None
        if positions is None:
            mapped = X if contours else estimator  # which are between samples at their own place
            positions, names = map_coordinates(mapped), axis_names(mapped)
        return cls(positions, estimator.density_, labels, peaks, grid, names, color_indices).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        positions = check_array(self.positions, ensure_min_features=2)[:, :2]
        density = check_density(self.density, len(positions))
        if self.grid is not None:
            _draw_contours(ax, self.grid)
        self._draw_samples(ax, positions, density)
        tops = positions[self.peak_indices]
        mark_peaks(ax, tops[:, 0], tops[:, 1], largest=110.0, marker="*", color="white")
        ax.set_aspect("equal", "datalim")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.set_title(self._title())

    def _title(self) -> str:
        samples = counted(len(self.density), "sample")
        if self.labels is None:
            return samples
        clusters = np.setdiff1d(self.labels, [NOISE])
        return f"{counted(len(clusters), 'cluster')}, {samples}"

    def _draw_samples(self, ax: Any, positions: NDArray[Any], density: NDArray[np.float64]) -> None:
        order = np.argsort(density, kind="stable")  # the densest on top
        x, y = positions[order].T
        if self.labels is not None:
            sizes = np.linspace(0.4, 1.6, len(x))
            chosen = self.color_indices
            if chosen is None:
                chosen = color_indices(positions, self.labels)
            scatter(ax, x, y, sizes, c=cluster_colors(np.asarray(self.labels)[order], chosen))
        elif self.grid is None:
            drawn = scatter(ax, x, y, c=positive(density)[order], cmap="viridis", norm="log")
            _add_colorbar(ax, drawn)
        elif len(x) <= MANY_SAMPLES:
            scatter(ax, x, y, 0.4, color="black", alpha=0.5)


def _density_between(estimator: Any, X: Any, positions: Any) -> Grid:
    """The density at the points of a grid over the samples."""
    X = check_array(X)
    density = getattr(estimator, "density_estimator_", estimator)
    if X.shape[1] != 2 or positions is not None:
        raise ValueError(
            f"contours=True needs samples that are drawn at their own 2 features, got {X.shape[1]} features"
            f"{' and positions' if positions is not None else ''}; use contours=False"
        )
    margin = 0.05 * np.ptp(X, axis=0) + (np.ptp(X) == 0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    x, y = np.linspace(low, high, _GRID_POINTS, dtype=np.float64).T
    points = np.column_stack([values.ravel() for values in np.meshgrid(x, y)]).astype(X.dtype)
    return Grid(x, y, density.score_samples(points).reshape(len(y), len(x)))


def _draw_contours(ax: Any, grid: Grid) -> None:
    shown = grid.density[grid.density > 0]
    if not len(shown):
        return
    last = int(np.ceil(np.log2(shown.max())))
    first = min(max(int(np.floor(np.log2(shown.min()))), last - _MOST_CONTOURS), last - 1)
    levels = 2.0 ** np.arange(first, last + 1)
    drawn = ax.contourf(grid.x, grid.y, grid.density, levels, cmap="viridis", norm="log")
    _add_colorbar(ax, drawn).set_ticks(levels, labels=[f"{level:.3g}" for level in levels])


def _add_colorbar(ax: Any, drawn: Any) -> Any:
    bar = ax.figure.colorbar(drawn, ax=ax, label="density")
    plain_numbers(bar.ax.yaxis)
    return bar
