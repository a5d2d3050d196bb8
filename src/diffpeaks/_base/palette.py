"""Colours of clusters, the same in every picture of one page.

Seven hues that people with any of the common colour vision deficiencies can tell apart, and that show on
white and on near-black; then these hues in a lighter tone, then in a darker one. A cluster has the colour of
its number, or the one that is chosen for it on a map (`diffpeaks.maps.color_indices`). More than 21 clusters
share colours: what has many clusters must print numbers too. Noise is grey.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.constants import NOISE

HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#a23b72")
NOISE_COLOR = "#9a9a9a"
# Towards what the hues are mixed round by round, and how much of it there is.
_TONES = ((0.0, 0.0), (1.0, 0.45), (0.0, 0.4))
_LIGHTNESS = np.array([0.299, 0.587, 0.114])  # how much red, green and blue add to it
_BLACK_ABOVE = 0.55
N_COLORS = len(HUES) * len(_TONES)


def _rgb(color: str) -> list[float]:
    return [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]


# One row for each colour, that of noise last, where the label -1 finds it.
_TABLE = np.array(
    [[(1 - share) * value + share * end for value in _rgb(hue)] for end, share in _TONES for hue in HUES]
    + [_rgb(NOISE_COLOR)]
)


# What is left of linear light for eyes that lack a kind of cones, by Machado, Oliveira and Fernandes (2009).
_VISIONS = np.array(
    [
        np.eye(3),
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        [[0.367, 0.861, -0.228], [0.28, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    ]
)
# Ottosson's Oklab, in which equal lengths look equally different.
_TO_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]])
_TO_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])


def color_differences() -> NDArray[np.float64]:
    """How different each two colours look, a table for each kind of colour vision; 0.02 is just seen."""
    colors = _TABLE[:N_COLORS]
    light = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    seen = np.clip(light @ _VISIONS.swapaxes(1, 2), 0, 1)
    perceived = np.cbrt(seen @ _TO_CONES.T) @ _TO_LAB.T
    return np.linalg.norm(perceived[:, :, None] - perceived[:, None], axis=-1)


def cluster_colors(labels: Any, color_indices: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """One colour for each label, as rows of red, green and blue in [0, 1]; noise is grey.

    Colours 0 to 6 are seven hues that are told apart with every kind of colour vision, 7 to 13 the same
    lighter, 14 to 20 darker. Then they start again: colours of more than 21 clusters are not unique.

    Parameters
    ----------
    labels : array of int
    color_indices : array of shape (n_clusters,), optional
        The colour of each cluster, such as `diffpeaks.maps.color_indices` chooses so that neighbours on a
        map differ; by default its number.

    Examples
    --------
    >>> from diffpeaks.plotting import cluster_colors
    >>> cluster_colors([-1, 0, 21]).round(2).tolist()
    [[0.6, 0.6, 0.6], [0.0, 0.45, 0.7], [0.0, 0.45, 0.7]]
    """
    labels = np.asarray(labels)
    chosen = labels if color_indices is None else np.append(color_indices, NOISE)[labels]
    return _TABLE[np.where(labels == NOISE, -1, chosen % N_COLORS)]


def css_color(label: int, color_indices: NDArray[np.int64] | None = None) -> str:
    """The colour of a label as pages write it.

    >>> from diffpeaks._base.palette import css_color
    >>> css_color(0), css_color(7), css_color(-1)
    ('#0072b2', '#73b1d5', '#9a9a9a')
    """
    red, green, blue = np.round(255 * cluster_colors(label, color_indices)).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def ink_on(color: NDArray[np.float64]) -> str:
    """Black or white, whichever is read better on a colour."""
    return "#000000" if color @ _LIGHTNESS > _BLACK_ABOVE else "#ffffff"
