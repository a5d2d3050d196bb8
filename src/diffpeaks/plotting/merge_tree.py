"""The cluster tree: which hill is absorbed by which, and at what prominence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.palette import cluster_colors
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.plotting._style import LINE_COLOR, Display, check_offers, size_in_points
from diffpeaks.results.facts import counted
from diffpeaks.results.hierarchy import Hierarchy


def fitted_hierarchy(estimator: DensityPeaks, max_link: float | None, display: type[Display]) -> Hierarchy:
    """The tree in which the labels of a fit are found, or that of another `max_link`."""
    check_offers(estimator, "hierarchy", display)
    if max_link is None and hasattr(estimator, "cut_") and not estimator.cut_.is_of_all_samples:
        max_link = estimator.cut_.max_link
    return estimator.hierarchy(max_link)


def fitted_level(estimator: DensityPeaks) -> float | None:
    """The prominence that a fit asks of its peaks; none with `n_clusters`, which is no level."""
    return None if estimator.cut_.is_of_all_samples else estimator.cut_.min_prominence


@dataclass
class MergeTreeDisplay(Display):
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

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import MergeTreeDisplay
    >>> model = DensityPeaks(n_neighbors=3).fit([[0.0], [1.0], [3.0], [9.0], [9.5], [10.5]])
    >>> MergeTreeDisplay.from_estimator(model).hills_.tolist()
    [4, 1]
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

        Links of length `max_link` or longer are dropped first; by default it is that of the fit, infinity
        drops none. A fit with `n_clusters` has no level to draw.
        """
        hierarchy = fitted_hierarchy(estimator, max_link, cls)
        return cls(hierarchy, estimator.labels_, fitted_level(estimator), max_hills).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        self.hills_, into, ends = self.hierarchy.most_prominent(self.max_hills)
        level = np.inf if self.min_prominence is None else self.min_prominence
        # a little above the longest bar that ends, and above the level
        top = max(0.6 * self.hierarchy.height_apart, 1.2 * level if np.isfinite(level) else 0.0)
        heights = np.minimum(ends, top)
        x = np.arange(len(into))
        colors = cluster_colors(x if self.labels is None else self.labels[self.hills_])
        room = size_in_points(ax)[0] / len(x)
        ax.vlines(x, 0, heights, colors=colors, linewidth=min(3.0, 0.6 * room))
        ax.hlines(heights, x[into], x, colors=colors, linewidth=1.2)
        apart = np.isinf(ends)
        ax.scatter(
            x[apart], heights[apart], marker="^", s=min(60, (1.5 * room) ** 2), c=colors[apart], zorder=3
        )
        if level < top:
            ax.axhline(level, color=LINE_COLOR, linestyle="--", linewidth=1)
        every = int(np.ceil(10 / room))  # a label needs ten points
        ax.set_xticks(x[::every], self.hills_[::every], rotation=90, fontsize="small")
        ax.set(xlabel="hill (its densest sample)", ylabel="prominence (log density)", ylim=(0, None))
        ax.set_title(f"{len(x):,} of {counted(len(self.hierarchy.hills), 'hill')}")
