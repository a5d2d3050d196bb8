"""The prominence diagram: how far each hill rises above its saddle, and which rise above the cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import NOISE_COLOR, cluster_colors
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.plotting._style import (
    LINE_COLOR,
    Display,
    check_alike,
    log_axes,
    mark_peaks,
    positive,
    scatter,
)
from diffpeaks.plotting.merge_tree import fitted_hierarchy, fitted_level
from diffpeaks.results.facts import counted


@dataclass
class ProminenceDisplay(Display):
    """The density of each hill's peak against that of its saddle: what is far above the diagonal stands out.

    Both axes are logarithmic, so that the height above the diagonal is the prominence. Where flow counts in
    the cut, a hill is drawn where its prominence says, as if the saddle were that much lower than the peak.
    Hills that meet no denser one have no saddle, and are drawn left of the dashed line. Elsewhere this is
    known as a persistence diagram.

    Parameters
    ----------
    peak_density, saddle_density : arrays of shape (n_hills,)
        A saddle of density zero stands for none.
    labels : array of shape (n_hills,), optional
        The cluster that a hill is the peak of; -1 for the others.
    min_prominence : float, optional
        Hills that rise less are in the band along the diagonal.
    color_indices : array of shape (n_clusters,), optional
        The colour of each cluster, as in `cluster_colors`.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import ProminenceDisplay
    >>> model = DensityPeaks(n_neighbors=3).fit([[0.0], [1.0], [3.0], [9.0], [9.5], [10.5]])
    >>> ProminenceDisplay.from_estimator(model).ax_.get_title()
    '2 clusters of 2 hills'
    """

    peak_density: NDArray[Any]
    saddle_density: NDArray[Any]
    labels: NDArray[Any] | None = None
    min_prominence: float | None = None
    color_indices: NDArray[np.int64] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: DensityPeaks,
        *,
        max_link: float | None = None,
        color_indices: NDArray[np.int64] | None = None,
        numbers: NDArray[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """The hills of a fitted `DensityPeaks`, drawn; peaks have the colours of their clusters.

        Links of length `max_link` or longer are dropped first; by default it is that of the fit, infinity
        drops none. A fit with `n_clusters` has no band, and its peaks may be no tops of hills. `numbers` are
        what clusters are called, and so coloured by; 0, 1, ... by default.
        """
        hierarchy = fitted_hierarchy(estimator, max_link, cls)
        label = np.full(len(estimator.density_), NOISE)
        label[estimator.peak_indices_] = np.arange(estimator.n_clusters_) if numbers is None else numbers
        hills, density = hierarchy.hills, estimator.density_
        saddle_density = np.zeros(len(density))
        absorbed = hierarchy.merges.absorbed
        # where flow counts, that is not the density of the saddle itself
        saddle_density[absorbed] = density[absorbed] * np.exp(-hierarchy.merges.prominence)
        arrays = (density[hills], saddle_density[hills], label[hills])
        return cls(*arrays, fitted_level(estimator), color_indices).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        check_alike(peak_density=self.peak_density, saddle_density=self.saddle_density)
        top, saddle = positive(self.peak_density), np.asarray(self.saddle_density, np.float64)
        labels = np.full(len(top), NOISE) if self.labels is None else np.asarray(self.labels)
        met = saddle > 0
        low, high = min(saddle.min(where=met, initial=np.inf), top.min()), top.max()
        margin = max((high / low) ** 0.08, 1.1)
        log_axes(ax)
        ax.set(
            xlim=(low / margin ** (1 if met.all() else 3), high * margin), ylim=(low / margin, high * margin)
        )
        self._draw_cut(ax, low / margin, high * margin)
        if not met.all():
            ax.axvline(low / margin, color=LINE_COLOR, linestyle="--", linewidth=0.8)
        x = np.where(met, saddle, low / margin**2)
        is_peak = labels != NOISE
        scatter(ax, x[~is_peak], top[~is_peak], color=NOISE_COLOR)
        mark_peaks(ax, x[is_peak], top[is_peak], c=cluster_colors(labels[is_peak], self.color_indices))
        ax.set(xlabel="density of the saddle", ylabel="density of the peak")
        ax.set_title(f"{counted(int(is_peak.sum()), 'cluster')} of {counted(len(top), 'hill')}")

    def _draw_cut(self, ax: Any, low: float, high: float) -> None:
        """The diagonal, which no hill is below, and the band of those that do not stand out."""
        ends = np.array([low, high])
        ax.plot(ends, ends, color=LINE_COLOR, linewidth=0.8)
        if self.min_prominence and np.isfinite(self.min_prominence):
            upper = ends * np.exp(self.min_prominence)
            ax.fill_between(ends, ends, upper, color=LINE_COLOR, alpha=0.2, linewidth=0, zorder=0)
