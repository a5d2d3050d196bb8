"""Samples that are found by a text, or lie inside a line drawn on the map."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.typed_columns import order_of
from diffpeaks.captions import Captions
from diffpeaks.explorer.views import Scene

LONGEST_TEXT = 200  # characters of a search


class Order(NamedTuple):
    """How a table of samples is sorted: by "density", "cluster", "sample" or "text", or by a column."""

    by: str = "density"
    column: str | None = None
    descending: bool = True


class Finder:
    """Finds samples, the densest first."""

    def __init__(self, scene: Scene, captions: Captions, rank: NDArray[np.int32]) -> None:
        self._scene, self._captions, self._rank = scene, captions, rank

    def found(self, text: Any = None, polygon: Any = None) -> NDArray[np.int64]:
        """Samples by one of the two: words of a text, or the corners of a polygon on the map."""
        if (text is None) == (polygon is None):
            raise ValueError("a selection is by a text or by a polygon; give one of them")
        samples = self._with_words(text) if polygon is None else inside(self._scene.on_map, polygon)
        return samples[np.argsort(self._rank[samples])]

    def sorted(
        self, samples: NDArray[np.int64], labels: NDArray[np.int64], order: Order
    ) -> NDArray[np.int64]:
        """Samples in another order: equal ones as they were, those without a value last."""
        captions = self._captions
        values: dict[str, NDArray[Any] | None] = {
            "density": -self._rank,
            "cluster": labels,
            "sample": np.arange(captions.n_samples) if captions.ids is None else captions.ids,
            "text": captions.text,
        }
        if order.column is not None and order.column not in captions.metadata:
            raise ValueError(f"there is no column {order.column!r}; use one of {list(captions.metadata)}")
        if order.column is None and order.by not in values:
            raise ValueError(f"samples are not sorted by {order.by!r}; use one of {list(values)}")
        chosen = values[order.by] if order.column is None else captions.metadata[order.column]
        return samples if chosen is None else samples[order_of(chosen[samples], order.descending)]

    def _with_words(self, text: Any) -> NDArray[np.int64]:
        """Samples with all words of a text, anywhere in what is known of them, in any case."""
        if not isinstance(text, str):
            raise TypeError(f"text must be words to look for, got {text!r}")
        words = text.casefold().split()
        if not words or len(text) > LONGEST_TEXT:
            raise ValueError(
                f"text has {len(text)} characters; it must have 1 to {LONGEST_TEXT}, words among them"
            )
        known = self._known
        found = np.arange(len(known))
        for word in words:
            found = found[[word in known[sample] for sample in found.tolist()]]
        return found

    @cached_property
    def _known(self) -> list[str]:
        """All that is known of each sample as one text."""
        captions = self._captions
        return [
            "\n".join(
                [captions.name_of(sample), captions.text_of(sample), *captions.metadata_of(sample).values()]
            ).casefold()
            for sample in range(captions.n_samples)
        ]


def inside(places: NDArray[np.float32], polygon: ArrayLike) -> NDArray[np.int64]:
    """The points that lie in a polygon, in ascending order."""
    corners = _corners(polygon)
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(np.all((places >= low) & (places <= high), axis=1))
    x, y = places[near].astype(np.float64).T
    is_inside = np.zeros(len(near), bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        crosses = (y0 > y) != (y1 > y)  # the ray to the right of a sample crosses this side
        with np.errstate(divide="ignore", invalid="ignore"):
            is_inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return near[is_inside]


def _corners(polygon: ArrayLike) -> NDArray[np.float64]:
    try:
        corners = np.asarray(polygon, np.float64)
    except (TypeError, ValueError):
        corners = np.empty(0)
    if corners.ndim != 2 or corners.shape[1] != 2:
        raise ValueError("a polygon must be a list of corners, each of two numbers; draw around some points")
    return corners
