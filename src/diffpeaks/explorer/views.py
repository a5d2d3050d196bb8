"""What the page is sent: samples thinned to what can be drawn, and arrays packed as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpeaks._base.constants import NO_POINT
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.explorer.session import Session
from diffpeaks.forest.peaks import denser_neighbors

MOST_DRAWN = 200_000  # samples
MOST_LISTED = 50_000  # clusters; the largest
MOST_HILLS = 1_500  # points of the prominence plot
MOST_MARKED = 5_000  # selected samples that are drawn on top of all others
MOST_CLUSTERS_TOLD = 6  # of a selection
_DTYPES = {"f": np.dtype("<f4"), "i": np.dtype("<i4"), "u": np.dtype("<u4")}


def packed(header: dict[str, Any], **arrays: ArrayLike) -> bytes:
    """JSON and arrays in one: its length as uint32, the JSON, then the arrays one after the other.

    All arrays are little-endian, of 4 bytes a value, and begin at multiples of 4.
    """
    converted = {name: _of_four_bytes(values) for name, values in arrays.items()}
    listed = [[name, values.dtype.kind, int(values.size)] for name, values in converted.items()]
    text = json.dumps({**header, "arrays": listed}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    parts = [np.uint32(len(text)).astype("<u4").tobytes(), text]
    return b"".join([*parts, *(values.tobytes() for values in converted.values())])


def _of_four_bytes(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    return array.astype(_DTYPES[array.dtype.kind])


def drawn_samples(
    first: Iterable[NDArray[np.int64]], rank: NDArray[np.int32], most: int = MOST_DRAWN
) -> NDArray[np.int64]:
    """The samples to draw, the densest last so that they are on top: all, or those `first` and a random part.

    What must be seen takes no more than half of the room. The rest is thinned evenly, so that dense places
    stay dense.
    """
    n_samples = len(rank)
    if n_samples <= most:
        chosen = np.arange(n_samples)
    else:
        is_chosen = np.zeros(n_samples, bool)
        for samples in first:
            room = max(0, most // 2 - np.count_nonzero(is_chosen))
            is_chosen[samples[:room]] = True
        others = np.flatnonzero(~is_chosen)
        more = most - np.count_nonzero(is_chosen)
        is_chosen[np.random.default_rng(0).choice(others, more, replace=False, shuffle=False)] = True
        chosen = np.flatnonzero(is_chosen)
    return chosen[np.argsort(-rank[chosen])]


def log_positions(values: NDArray[Any]) -> NDArray[np.float64]:
    """Values on a log axis: what is infinite just above the largest, zero just below the smallest."""
    shown = values[np.isfinite(values) & (values > 0)]
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (1.0, 1.0)
    return np.log10(np.where(values > 0, np.minimum(values, 1.4 * high), low / 1.4))


@dataclass(frozen=True, eq=False)
class Scene:
    """Where samples are drawn: on the map, and in the decision graph (log10 of density and delta).

    Attributes
    ----------
    on_map, in_graph : arrays of shape (n_samples, 2)
    drawn : array of shape (n_drawn,)
        Samples that are drawn.
    is_exact : bool
        Whether delta is known of hilltops too; otherwise these are above all others.
    link_range : tuple of float
        The shortest and the longest delta that is known.
    """

    on_map: NDArray[np.float32]
    in_graph: NDArray[np.float32]
    drawn: NDArray[np.int64]
    is_exact: bool
    link_range: tuple[float, float]

    @classmethod
    def of(cls, model: DensityPeaks, on_map: NDArray[Any], most: int = MOST_DRAWN) -> Self:
        rank, density = model.forest_.rank, model.density_
        delta = denser_neighbors(model.graph_, rank, model._landscape.n_threads)[1]
        roots = np.flatnonzero(model.forest_.parent == NO_POINT)
        likely = np.argsort(-np.where(np.isfinite(delta), density * delta, np.inf), kind="stable")
        drawn = drawn_samples([model.peak_indices_, roots, likely], rank, most)
        in_graph = np.column_stack([log_positions(density), log_positions(delta)]).astype(np.float32)
        return cls(on_map.astype(np.float32), in_graph, drawn, False, _range_of(delta))

    def with_exact_delta(self, model: DensityPeaks) -> Self:
        """The same scene when the nearest denser sample of each hilltop has been found."""
        delta = model.decision_graph()[1]
        in_graph = np.column_stack([self.in_graph[:, 0], log_positions(delta)]).astype(np.float32)
        return replace(self, in_graph=in_graph, is_exact=True, link_range=_range_of(delta))

    def packed(self, header: dict[str, Any]) -> bytes:
        """What stays the same for all cuts."""
        drawn = self.drawn
        own = {"n_samples": len(self.on_map), "n_drawn": len(drawn), "link_range": self.link_range}
        return packed(
            header | own | {"is_exact": self.is_exact},
            drawn=drawn.astype(np.uint32),
            map=self.on_map[drawn].ravel(),
            graph=self.in_graph[drawn].ravel(),
        )


def _range_of(delta: NDArray[np.float64]) -> tuple[float, float]:
    known = delta[np.isfinite(delta) & (delta > 0)]
    return (float(known.min()), float(known.max())) if len(known) else (1.0, 1.0)


def listed_clusters(sizes: NDArray[np.int64], most: int = MOST_LISTED) -> NDArray[np.int64]:
    """The labels of the clusters that a list shows, in their order: all, or the largest."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    return np.sort(np.argsort(-sizes, kind="stable")[:most])


def hills_to_plot(prominence: NDArray[np.float64], most: int = MOST_HILLS) -> NDArray[np.int64]:
    """Places in a descending list of prominences: the first ones all, then ever fewer, the last one too."""
    n_hills = len(prominence)
    if n_hills <= most:
        return np.arange(n_hills)
    head = np.arange(most // 2)
    tail = np.geomspace(most // 2, n_hills - 1, most - len(head)).astype(np.int64)
    return np.unique(np.concatenate([head, tail]))


def packed_clustering(
    session: Session, scene: Scene, colors: NDArray[np.int64], header: dict[str, Any]
) -> bytes:
    """What a cut changes: labels of what is drawn, clusters with peaks and colours, hills and prominences."""
    now = session.now
    listed = listed_clusters(now.sizes)
    peaks = now.peaks[listed]
    forest = now.model.forest_
    hills = np.flatnonzero(forest.prominence > 0)
    hills = hills[np.lexsort((forest.rank[hills], -forest.prominence[hills]))]
    places = hills_to_plot(forest.prominence[hills])
    shown = hills[places]
    prominence = forest.prominence[shown]
    return packed(
        header | {"n_listed": len(listed), "n_hills": len(hills)},
        labels=session.labels[scene.drawn].astype(np.int32),
        clusters=now.numbers[listed].astype(np.uint32),
        colours=colors[listed].astype(np.uint32),
        peaks=peaks.astype(np.uint32),
        sizes=now.sizes[listed].astype(np.uint32),
        peaks_map=scene.on_map[peaks].ravel(),
        peaks_graph=scene.in_graph[peaks].ravel(),
        hill_places=places.astype(np.uint32),
        hill_tops=shown.astype(np.uint32),
        hill_labels=session.labels[shown].astype(np.int32),
        hill_prominence=np.where(np.isfinite(prominence), prominence, NO_POINT).astype(np.float32),
    )


def packed_selection(session: Session, scene: Scene, samples: NDArray[np.int64]) -> bytes:
    """Samples that were selected, where the first of them are on the map, and which clusters they are in."""
    numbers, count = np.unique(session.labels[samples], return_counts=True)
    order = np.argsort(-count, kind="stable")[:MOST_CLUSTERS_TOLD]
    told = {
        "n_found": len(samples),
        "n_clusters": int(np.count_nonzero(numbers >= 0)),
        "clusters": list(zip(numbers[order].tolist(), count[order].tolist(), strict=True)),
    }
    marked = samples[:MOST_MARKED]
    return packed(
        told,
        samples=samples.astype(np.uint32),
        places=scene.on_map[marked].ravel(),
        labels=session.labels[marked].astype(np.int32),
    )
