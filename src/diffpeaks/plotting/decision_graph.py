"""The decision graph: which samples are dense and far from denser ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.palette import NOISE_COLOR, cluster_colors
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.plotting._style import (
    Display,
    check_alike,
    check_offers,
    log_axes,
    mark_peaks,
    positive,
    scatter,
)
from diffpeaks.results.facts import counted


@dataclass
class DecisionGraphDisplay(Display):
    """Density against delta, the distance to the nearest denser sample: peaks stand out at the top right.

    Both axes are logarithmic. The densest sample has no denser one; it is drawn just above the
    largest delta. Samples at delta or density zero are drawn at the edge.

    Parameters
    ----------
    density, delta : arrays of shape (n_samples,)
    peak_indices : array, optional
        Samples to colour as peaks, in the order of their labels.
    color_indices : array, optional
        The colour of each number, as in `cluster_colors`.
    numbers : array, optional
        What the clusters of these peaks are called, and so coloured by; 0, 1, ... by default.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import DecisionGraphDisplay
    >>> model = DensityPeaks(n_clusters=2).fit([[0.0], [1.0], [3.0], [9.0], [9.5]])
    >>> DecisionGraphDisplay.from_estimator(model).ax_.get_title()
    '2 peaks among 5 samples'
    """

    density: NDArray[Any]
    delta: NDArray[Any]
    peak_indices: NDArray[Any] = field(default_factory=lambda: np.empty(0, int))
    color_indices: NDArray[np.int64] | None = None
    numbers: NDArray[Any] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: DensityPeaks, *, color_indices: NDArray[np.int64] | None = None, ax: Any = None
    ) -> Self:
        """The decision graph of a fitted `DensityPeaks`, drawn."""
        check_offers(estimator, "decision_graph", cls)
        density, delta = estimator.decision_graph()
        return cls(density, delta, estimator.peak_indices_, color_indices).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        check_alike(density=self.density, delta=self.delta)
        x, y = positive(self.density), positive(self.delta)
        others = np.ones(len(x), bool)
        others[self.peak_indices] = False
        log_axes(ax)
        scatter(ax, x[others], y[others], color=NOISE_COLOR)
        numbers = np.arange(len(self.peak_indices)) if self.numbers is None else self.numbers
        colors = cluster_colors(numbers, self.color_indices)
        mark_peaks(ax, x[self.peak_indices], y[self.peak_indices], c=colors)
        ax.set(xlabel="density", ylabel="distance to a denser sample")
        ax.set_title(f"{counted(len(self.peak_indices), 'peak')} among {counted(len(x), 'sample')}")
