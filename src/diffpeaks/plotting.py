"""Pictures of a fitted density: arrays in, axes out. Needs matplotlib."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks._validation import check_density
from diffpeaks.hierarchy import Hierarchy
from diffpeaks.maps import map_coordinates
from diffpeaks.palette import cluster_colors


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install matplotlib") from error
    return plt


def new_axes(ax: Any) -> Any:
    """The axes that are given, or those of a new figure."""
    return pyplot().subplots(layout="constrained")[1] if ax is None else ax


@dataclass
class DecisionGraphDisplay:
    """Density against delta, the distance to the nearest denser sample: peaks stand out at the top right.

    Both axes are logarithmic. The densest sample has no denser one; it is drawn just above the
    largest delta. Samples at delta or density zero are drawn at the edge.

    Parameters
    ----------
    density, delta : arrays of shape (n_samples,)
    peak_indices : array, optional
        Samples to colour as peaks, in the order of their labels.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot
    """

    density: NDArray[Any]
    delta: NDArray[Any]
    peak_indices: NDArray[Any] = field(default_factory=lambda: np.empty(0, int))

    @classmethod
    def from_estimator(cls, estimator: DensityPeaks, *, ax: Any = None) -> Self:
        """The decision graph of a fitted `DensityPeaks`, drawn."""
        density, delta = estimator.decision_graph()
        return cls(density, delta, estimator.peak_indices_).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        ax = new_axes(ax)
        if np.shape(self.density) != np.shape(self.delta):
            raise ValueError(f"density has shape {np.shape(self.density)} and delta {np.shape(self.delta)}")
        x, y = _above_zero(self.density), _above_zero(self.delta)
        others = np.ones(len(x), bool)
        others[self.peak_indices] = False
        ax.scatter(x[others], y[others], s=8, color="0.6", linewidths=0, rasterized=len(x) > 10_000)
        colors = cluster_colors(np.arange(len(self.peak_indices)))
        peaks = x[self.peak_indices], y[self.peak_indices]
        many = len(self.peak_indices) > 1000  # then they are small, and no thousands of shapes in a file
        style = {"s": 10, "linewidths": 0} if many else {"s": 45, "edgecolors": "black"}
        ax.scatter(*peaks, c=colors, zorder=3, rasterized=many, **style)
        ax.set(xscale="log", yscale="log", xlabel="density", ylabel="delta (distance to the nearest denser)")
        ax.set_title(f"{len(self.peak_indices)} peaks among {len(x):,} samples")
        _plain_numbers(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass
class DensityDisplay:
    """Samples in the plane, coloured by density, or by cluster where labels are given.

    Parameters
    ----------
    positions : array of shape (n_samples, 2)
    density : array of shape (n_samples,)
        With labels, denser samples are drawn larger.
    labels : array of shape (n_samples,), optional
        Noise is grey.
    peak_indices : array, optional
        Samples to mark as peaks.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot
    """

    positions: NDArray[Any]
    density: NDArray[Any]
    labels: NDArray[Any] | None = None
    peak_indices: NDArray[Any] = field(default_factory=lambda: np.empty(0, int))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, color: str = "density", ax: Any = None) -> Self:
        """The samples of a fitted density or clusterer, drawn; X beyond two columns on the map of `maps`.

        `color` is "density" or "cluster".
        """
        if color not in ("density", "cluster"):
            raise ValueError(f"color={color!r} is unknown; use 'density' or 'cluster'")
        check_is_fitted(estimator, "density_")
        if color == "cluster" and not hasattr(estimator, "labels_"):
            raise ValueError(f"{type(estimator).__name__} has no clusters; use color='density'")
        labels = estimator.labels_ if color == "cluster" else None
        peaks = getattr(estimator, "peak_indices_", np.empty(0, int))
        return cls(map_coordinates(X), estimator.density_, labels, peaks).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        ax = new_axes(ax)
        positions = np.asarray(self.positions)
        density = check_density(self.density, len(positions))
        order = np.argsort(density)  # the densest on top
        x, y = positions[order].T
        rasterized = len(x) > 10_000
        if self.labels is None:
            drawn = ax.scatter(
                x, y, c=density[order], s=9, cmap="viridis", linewidths=0, rasterized=rasterized
            )
            ax.figure.colorbar(drawn, ax=ax, label="density")
        else:
            sizes = 4 + 14 * np.argsort(order)[order] / max(len(x), 1)
            colors = cluster_colors(np.asarray(self.labels)[order])
            ax.scatter(x, y, c=colors, s=sizes, linewidths=0, rasterized=rasterized)
        tops = positions[self.peak_indices]
        ax.scatter(tops[:, 0], tops[:, 1], marker="*", s=110, color="white", edgecolors="black", zorder=3)
        ax.set_aspect("equal", "datalim")
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass
class MergeTreeDisplay:
    """Hills as bars that end where they are absorbed: a level line crosses one bar for each cluster.

    The height is the prominence. At its end a bar turns to the hill that absorbs it; a bar with an arrow is
    never absorbed.

    Parameters
    ----------
    hierarchy : Hierarchy
    labels : array of shape (n_samples,), optional
        Colours a hill by the label of its top; noise is grey.
    min_prominence : float, optional
        Level of a cut, drawn as a line.
    max_hills : int
        Only so many are drawn, the most prominent ones.

    Attributes
    ----------
    hills_ : array
        The tops of the hills that were drawn, from left to right.
    ax_, figure_ : the axes and figure of the last plot
    """

    hierarchy: Hierarchy
    labels: NDArray[Any] | None = None
    min_prominence: float | None = None
    max_hills: int = 40

    @classmethod
    def from_estimator(
        cls, estimator: DensityPeaks, *, max_link: float | None = None, max_hills: int = 40, ax: Any = None
    ) -> Self:
        """The tree of a fitted `DensityPeaks`, drawn in the colours of its labels.

        `max_link` is that of `DensityPeaks.hierarchy`. A fit with `n_clusters` has no level to draw.
        """
        hierarchy = estimator.hierarchy(max_link)
        level = estimator.cut_.min_prominence if estimator.cut_.n_clusters is None else None
        return cls(hierarchy, estimator.labels_, level, max_hills).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        ax = new_axes(ax)
        self.hills_, into, ends = self.hierarchy.most_prominent(self.max_hills)
        top = 0.6 * self.hierarchy.height_apart  # a little above the longest bar that ends
        heights = np.minimum(ends, top)
        x, labels = (
            np.arange(len(into)),
            np.arange(len(into)) if self.labels is None else self.labels[self.hills_],
        )
        colors = cluster_colors(np.asarray(labels))
        ax.vlines(x, 0, heights, colors=colors, linewidth=3)
        ax.hlines(heights, x[into], x, colors=colors, linewidth=1.2)
        apart = np.isinf(ends)
        ax.scatter(x[apart], heights[apart], marker="^", s=60, c=colors[apart], zorder=3)
        if self.min_prominence is not None and self.min_prominence < top:
            ax.axhline(self.min_prominence, color="0.3", linestyle="--", linewidth=1)
        ax.set_xticks(x, self.hills_, rotation=90, fontsize="small")
        ax.set(xlabel="hill (its densest sample)", ylabel="prominence (log density)", ylim=(0, None))
        ax.set_title(f"{len(x)} of {len(self.hierarchy.hills):,} hills")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _plain_numbers(ax: Any) -> None:
    """Ticks of log axes as 40, not as 4 x 10^1."""
    from matplotlib.ticker import LogFormatter

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(LogFormatter())
        axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))


def _above_zero(values: NDArray[Any]) -> NDArray[np.float64]:
    """Values that a log axis can show: infinity just above the largest, zero just below the smallest."""
    values = np.asarray(values, np.float64)
    shown = values[np.isfinite(values) & (values > 0)]
    low, high = (shown.min(), shown.max()) if len(shown) else (1.0, 1.0)
    return np.where(values > 0, np.minimum(values, 1.2 * high), low / 2)
