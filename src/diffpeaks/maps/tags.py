"""Tags of clusters on a map, such as their numbers, moved until none covers another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_N_DIRECTIONS = 16


def separated_tags(anchors: Any, sizes: Any) -> NDArray[np.float64]:
    """The middles of tags that do not overlap, each as near to its anchor as those before it let it be.

    Parameters
    ----------
    anchors : array of shape (n_tags, 2)
        Where tags belong, the most important first, in the units of the picture, such as points.
    sizes : array of shape (n_tags, 2)
        Width and height of each tag, in the same units, the room around it included.

    Examples
    --------
    >>> from diffpeaks.maps import separated_tags
    >>> separated_tags([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]], [[4.0, 2.0]] * 3).tolist()
    [[0.0, 0.0], [9.0, 0.0], [1.0, 2.0]]
    """
    anchors, sizes = np.asarray(anchors, np.float64), np.asarray(sizes, np.float64)
    placed = anchors.copy()
    for tag in range(1, len(anchors)):
        # two tags overlap where their middles are nearer than half of both sizes, along both axes
        room = (sizes[:tag] + sizes[tag]) / 2
        step = sizes[tag].min() / 2
        for ring in range(2 * tag * int(np.ceil(room.max() / step)) + 2):
            tried = anchors[tag] + ring * step * _directions(ring)
            is_free = ~np.any(np.all(np.abs(tried[:, None] - placed[:tag]) < room, axis=2), axis=1)
            if is_free.any():
                placed[tag] = tried[is_free.argmax()]
                break
    return placed


def _directions(ring: int) -> NDArray[np.float64]:
    """Unit vectors all around, upwards first; one is enough for no distance."""
    angles = np.pi / 2 + 2 * np.pi * np.arange(_N_DIRECTIONS if ring else 1) / _N_DIRECTIONS
    return np.column_stack([np.cos(angles), np.sin(angles)]).round(12)
