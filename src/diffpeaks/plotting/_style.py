"""What all displays share: axes, sizes of marks, log axes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.palette import cluster_colors, ink_on
from diffpeaks.maps import separated_tags

MANY_SAMPLES = 10_000  # more are drawn as pixels also in vector formats, which would grow without bound
_DIGIT_POINTS, _TAG_POINTS = 5.8, 6.5  # width of a digit of a tag, and what its box adds
LINE_COLOR = "0.5"  # seen on white and on near-black


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install matplotlib") from error
    return plt


def paper_style(width: float = 3.3, height: float | None = None) -> AbstractContextManager[None]:
    """Figures for a column of a paper: draw and save them inside this context.

    Text has 8 points, fonts are embedded as text, and what is drawn as pixels has 300 to the inch.

    Parameters
    ----------
    width, height : float
        Of new figures, in inches; by default a column of two, and three quarters of the width.

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.plotting import DecisionGraphDisplay, paper_style
    >>> model = DensityPeaks().fit([[0.0], [1.0], [3.0], [9.0], [9.5]])
    >>> with paper_style():
    ...     figure = DecisionGraphDisplay.from_estimator(model).figure_
    >>> float(figure.get_figwidth())
    3.3
    """
    settings = {
        "figure.figsize": (width, 0.75 * width if height is None else height),
        "savefig.dpi": 300,
        "pdf.fonttype": 42,
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.linewidth": 0.6,
        "legend.fontsize": 7,
    }
    return pyplot().rc_context(settings)


class Display:
    """Arrays that can be drawn; a display says how in `_draw`.

    Attributes
    ----------
    ax_, figure_ : the axes and figure of the last plot
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes."""
        if ax is None:
            ax = pyplot().subplots(layout="constrained")[1]
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def check_offers(estimator: Any, method: str, display: type[Display]) -> None:
    """Refuse an estimator that cannot be drawn so."""
    if not hasattr(estimator, method):
        raise TypeError(
            f"{display.__name__} needs an estimator with the method {method}; {type(estimator).__name__} has "
            "none, DensityPeaks has"
        )


def check_alike(**arrays: Any) -> None:
    """Refuse two arrays of different shapes."""
    (name, shape), (other, other_shape) = ((name, np.shape(array)) for name, array in arrays.items())
    if shape != other_shape:
        raise ValueError(f"{name} has shape {shape} and {other} {other_shape}")


def scatter(ax: Any, x: NDArray[Any], y: NDArray[Any], scale: Any = 1.0, **style: Any) -> Any:
    """Samples as dots without edges, the smaller the more there are for the room on the axes."""
    width, height = size_in_points(ax)
    size = np.clip(0.15 * width * height / max(len(x), 1), 1.0, 14.0)
    settings = {"s": scale * size, "linewidths": 0, "rasterized": len(x) > MANY_SAMPLES}
    return ax.scatter(x, y, **(settings | style))


def mark_peaks(ax: Any, x: NDArray[Any], y: NDArray[Any], largest: float = 45.0, **style: Any) -> Any:
    """Peaks as large marks with a black edge, above all else; smaller where they are many."""
    width, height = size_in_points(ax)
    size = np.clip(0.03 * width * height / max(len(x), 1), 8.0, largest)
    settings = {"s": size, "edgecolors": "black", "linewidths": 0.1 * np.sqrt(size), "zorder": 3}
    return ax.scatter(x, y, rasterized=len(x) > MANY_SAMPLES, **(settings | style))


def draw_numbers(
    ax: Any, places: NDArray[Any], labels: NDArray[Any], color_indices: NDArray[np.int64] | None = None
) -> None:
    """The numbers of clusters at places on the axes, the most important first, where none covers another.

    A line leads to the place of a number that had to be moved. Whatever changes the axes comes before.
    """
    if not len(labels):
        return
    ax.figure.draw_without_rendering()  # from here on the axes know where they are
    points = ax.figure.dpi / 72
    anchors = ax.transData.transform(places) / points
    sizes = [(_DIGIT_POINTS * len(str(label)) + _TAG_POINTS, 10 + _TAG_POINTS) for label in labels]
    tags = ax.transData.inverted().transform(points * separated_tags(anchors, sizes))
    for place, tag, label in reversed(list(zip(places, tags, labels, strict=True))):
        color = cluster_colors(label, color_indices)
        box = {"boxstyle": "round,pad=0.2", "facecolor": color, "edgecolor": "white", "linewidth": 0.7}
        moved = {"arrowprops": {"arrowstyle": "-", "color": LINE_COLOR, "linewidth": 0.7}}
        text = {"color": ink_on(color), "fontsize": 9, "ha": "center", "va": "center", "bbox": box}
        line = moved if not np.allclose(place, tag) else {}
        ax.annotate(str(label), place, tag, annotation_clip=False, **text, **line)


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of axes, in points of 1/72 inch."""
    extent = ax.get_window_extent()
    return extent.width * 72 / ax.figure.dpi, extent.height * 72 / ax.figure.dpi


def positive(values: ArrayLike) -> NDArray[np.float64]:
    """Values that a log axis can show: infinity just above the largest, zero just below the smallest."""
    values = np.asarray(values, np.float64)
    shown = values[np.isfinite(values) & (values > 0)]
    low, high = (shown.min(), shown.max()) if len(shown) else (1.0, 1.0)
    return np.where(values > 0, np.minimum(values, 1.2 * high), low / 1.2)


def log_axes(ax: Any) -> None:
    """Both axes logarithmic."""
    ax.set(xscale="log", yscale="log")
    plain_numbers(ax.xaxis)
    plain_numbers(ax.yaxis)


def plain_numbers(axis: Any) -> None:
    """Ticks of a log axis as 4,000 and 0.1, not as powers of ten; between those only where they are few."""
    from matplotlib.ticker import LogFormatter

    class PlainFormatter(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:,.10g}" if super().__call__(x, pos) else ""

    axis.set_major_formatter(PlainFormatter())
    axis.set_minor_formatter(PlainFormatter(minor_thresholds=(1.5, 0.5)))
