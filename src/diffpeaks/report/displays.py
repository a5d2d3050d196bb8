"""Pictures that stay readable from three clusters to thirty thousand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.members import Members
from diffpeaks.order import NOISE
from diffpeaks.palette import HUES, NOISE_COLOR, cluster_colors
from diffpeaks.plotting import new_axes

_MOST_BARS = 60
_MOST_NUMBERED_BARS = 30
_MOST_OF_LARGEST = 1.5  # of the largest cluster: a bar of noise beyond that is cut, and its number written
_LEAST_PLACES = 6  # for bars: fewer would be too broad to look like bars


@dataclass
class ClusterSizesDisplay:
    """How large clusters are, largest first: a bar for each, or a curve over ranks where they are many.

    Parameters
    ----------
    sizes : array of shape (n_clusters,)
    n_noise : int
        Drawn as a bar of its own beside the others.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot
    """

    sizes: NDArray[Any]
    n_noise: int = 0

    @classmethod
    def from_members(cls, members: Members, *, ax: Any = None) -> Self:
        return cls(members.sizes, members.n_noise).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        ax = new_axes(ax)
        order = np.argsort(-np.asarray(self.sizes), kind="stable")
        if len(order) > _MOST_BARS:
            self._plot_ranks(ax, np.asarray(self.sizes)[order])
        else:
            self._plot_bars(ax, order)
        ax.set_ylabel("samples")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_bars(self, ax: Any, order: NDArray[np.int64]) -> None:
        labels = np.append(order, [NOISE] if self.n_noise else []).astype(int)
        heights = np.append(np.asarray(self.sizes)[order], [self.n_noise] if self.n_noise else [])
        ax.bar(np.arange(len(labels)), heights, color=cluster_colors(labels), width=0.8)
        is_numbered = len(labels) <= _MOST_NUMBERED_BARS
        names = ["noise" if label == NOISE else str(label) for label in labels] if is_numbered else []
        ax.set_xticks(np.arange(len(names)), names)
        ax.set(xlabel="cluster, largest first", xlim=(-0.7, max(len(labels), _LEAST_PLACES) - 0.3))
        ax.yaxis.get_major_locator().set_params(integer=True)
        largest = int(np.max(self.sizes, initial=0))
        if largest and self.n_noise > _MOST_OF_LARGEST * largest:
            ax.set_ylim(0, _MOST_OF_LARGEST * largest)
            above = ax.get_xaxis_transform()
            told = f"{self.n_noise:,}, cut off here"
            ax.annotate(told, (len(order) + 0.4, 1), xycoords=above, ha="right", va="bottom")

    def _plot_ranks(self, ax: Any, sizes: NDArray[Any]) -> None:
        """Only where the size changes, which keeps the picture small."""
        last = np.flatnonzero(np.append(np.diff(sizes) != 0, True))
        ranks, heights = np.append(1, last + 1), np.append(sizes[0], sizes[last])
        ax.fill_between(ranks, heights, min(1, sizes[-1]), step="pre", color=HUES[0], alpha=0.25, linewidth=0)
        ax.step(ranks, heights, where="pre", color=HUES[0], linewidth=1.5)
        if self.n_noise:
            ax.axhline(self.n_noise, color=NOISE_COLOR, linestyle="--", linewidth=1)
            _name_line(ax, "noise", self.n_noise)
        ax.set(xscale="log", yscale="log", xlabel="clusters, by rank of size", xlim=(1, len(sizes)))
        _plain_numbers(ax.xaxis)
        _plain_numbers(ax.yaxis)


@dataclass
class ProminenceDisplay:
    """How far each hill rises above its saddle, most prominent first: clusters stand above the cut.

    Hills that meet no denser one rise for ever; they are drawn as triangles above the others.

    Parameters
    ----------
    prominences : array of shape (n_hills,)
    min_prominence : float, optional
        Level of the cut, drawn as a line; without one no hill is told from the others.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot
    """

    prominences: NDArray[Any]
    min_prominence: float | None = None

    @classmethod
    def from_estimator(cls, estimator: DensityPeaks, *, ax: Any = None) -> Self:
        """The hills of a fitted `DensityPeaks`, drawn; a fit with `n_clusters` has no level."""
        cut = estimator.cut_
        hierarchy = estimator.hierarchy(cut.max_link if cut.max_link < np.inf else None)
        n_apart = len(hierarchy.hills) - len(hierarchy.merges.prominence)
        prominences = np.append(np.full(n_apart, np.inf), hierarchy.merges.prominence[::-1])
        return cls(prominences, cut.min_prominence if cut.n_clusters is None else None).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        ax = new_axes(ax)
        heights = -np.sort(-np.asarray(self.prominences, np.float64))
        ranks = 1 + np.arange(len(heights))
        finite = np.isfinite(heights)
        level = self.min_prominence or 0.0
        drawn_level = level if level < np.inf else 0.0  # an infinite one has no place
        top = 1.15 * max(heights[finite].max(initial=0.0), drawn_level) or 1.0
        for is_drawn, marker, y in ((finite, "o", heights), (~finite, "^", np.full(len(heights), top))):
            colors = np.where((heights >= level)[is_drawn], HUES[0], NOISE_COLOR)
            ax.scatter(ranks[is_drawn], y[is_drawn], s=14, c=colors, marker=marker, linewidths=0)
        if drawn_level:
            ax.axhline(level, color=HUES[4], linestyle="--", linewidth=1)
            _name_line(ax, "cut", level)
        ax.set(xscale="log", xlabel="hills, by rank of prominence", ylabel="prominence (log density)")
        ax.set(xlim=(0.8, 1.25 * len(heights)), ylim=(0, 1.08 * top))
        _plain_numbers(ax.xaxis)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _name_line(ax: Any, name: str, height: float) -> None:
    """The name of a level line, above its right end."""
    where = ax.get_yaxis_transform()
    ax.annotate(name, (1, height), xycoords=where, xytext=(-2, 3), textcoords="offset points", ha="right")


def _plain_numbers(axis: Any) -> None:
    """Counts on a log axis as 1, 10, 100, and nothing between."""
    axis.set_major_formatter("{x:,.0f}")
    axis.set_minor_formatter("")
