"""Colours of clusters by their numbers, the same in every picture and page.

Seven hues that people with any of the common colour vision deficiencies can tell apart, and that show on
white and on near-black. The next seven clusters have these hues in a lighter tone, the next seven in a darker
one, and from the 22nd cluster on colours come again: what has many clusters must print numbers too. Noise is
grey.
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


def cluster_colors(labels: Any) -> NDArray[np.float64]:
    """One colour for each label, as rows of red, green and blue in [0, 1]; noise is grey.

    Clusters 0 to 6 have seven hues that are told apart with every kind of colour vision, 7 to 13 the same
    lighter, 14 to 20 darker. Then they start again: colours of more than 21 clusters are not unique.

    Examples
    --------
    >>> from diffpeaks.plotting import cluster_colors
    >>> cluster_colors([-1, 0, 21]).round(2).tolist()
    [[0.6, 0.6, 0.6], [0.0, 0.45, 0.7], [0.0, 0.45, 0.7]]
    """
    labels = np.asarray(labels)
    return _TABLE[np.where(labels == NOISE, -1, labels % N_COLORS)]


def css_color(label: int) -> str:
    """The colour of a label as pages write it.

    >>> from diffpeaks._base.palette import css_color
    >>> css_color(0), css_color(7), css_color(-1)
    ('#0072b2', '#73b1d5', '#9a9a9a')
    """
    red, green, blue = np.round(255 * cluster_colors(label)).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def ink_on(label: int) -> str:
    """Black or white, whichever is read better on the colour of a label."""
    return "#000000" if cluster_colors(label) @ _LIGHTNESS > _BLACK_ABOVE else "#ffffff"
