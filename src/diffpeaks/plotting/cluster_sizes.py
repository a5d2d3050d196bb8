"""How large clusters are, in a picture that stays readable from three of them to thirty thousand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.constants import NOISE
from diffpeaks._base.palette import HUES, NOISE_COLOR, cluster_colors
from diffpeaks.plotting._style import Display, log_axes
from diffpeaks.results.facts import counted

_MOST_BARS = 60
_MOST_NUMBERED_BARS = 30
_MOST_OF_LARGEST = 1.5  # of the largest cluster: a bar of noise beyond that is cut, and its number written
_LEAST_PLACES = 6  # for bars: fewer would be too broad to look like bars


@dataclass
class ClusterSizesDisplay(Display):
    """How large clusters are, largest first: a bar for each, or a curve over ranks where they are many.

    Parameters
    ----------
    sizes : array of shape (n_clusters,)
    n_noise : int
        Drawn as a bar of its own beside the others.
    color_indices : array, optional
        The colour of each number, as in `cluster_colors`.
    numbers : array of shape (n_clusters,), optional
        What clusters are called and coloured by; 0, 1, ... by default.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import ClusterSizesDisplay
    >>> model = DensityPeaks(n_clusters=2).fit([[0.0], [1.0], [3.0], [9.0], [9.5]])
    >>> sorted(ClusterSizesDisplay.from_estimator(model).sizes.tolist())
    [2, 3]
    """

    sizes: NDArray[Any]
    n_noise: int = 0
    color_indices: NDArray[np.int64] | None = None
    numbers: NDArray[Any] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, color_indices: NDArray[np.int64] | None = None, ax: Any = None
    ) -> Self:
        """The clusters of a fitted clusterer, drawn."""
        check_is_fitted(estimator, "labels_")
        n_noise, *sizes = np.bincount(np.asarray(estimator.labels_) - NOISE, minlength=1)
        return cls(np.array(sizes, np.int64), int(n_noise), color_indices).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        order = np.argsort(-np.asarray(self.sizes), kind="stable")
        if len(order) > _MOST_BARS:
            self._plot_ranks(ax, np.asarray(self.sizes)[order])
        else:
            self._plot_bars(ax, order)
        ax.set_ylabel("samples")
        ax.set_title(counted(len(order), "cluster"))

    def _plot_bars(self, ax: Any, order: NDArray[np.int64]) -> None:
        numbers = order if self.numbers is None else np.asarray(self.numbers)[order]
        labels = np.append(numbers, [NOISE] if self.n_noise else []).astype(int)
        heights = np.append(np.asarray(self.sizes)[order], [self.n_noise] if self.n_noise else [])
        ax.bar(np.arange(len(labels)), heights, color=cluster_colors(labels, self.color_indices), width=0.8)
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
            above = {"xytext": (-2, 3), "textcoords": "offset points", "ha": "right"}
            ax.annotate("noise", (1, self.n_noise), xycoords=ax.get_yaxis_transform(), **above)
        log_axes(ax)
        ax.set(xlabel="clusters, by rank of size", xlim=(1, len(sizes)))
