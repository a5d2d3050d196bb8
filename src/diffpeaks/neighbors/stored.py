"""Points with their metric and search as plain values, from which the same points can be made again."""

from __future__ import annotations

from typing import Any

from diffpeaks._base.tensors import on_host
from diffpeaks._base.validation import n_threads
from diffpeaks.neighbors.cells.approximate import ApproximateSearch
from diffpeaks.neighbors.contract import Space
from diffpeaks.neighbors.euclidean import METRICS as EUCLIDEAN_METRICS
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.inputs import check_search, space_of
from diffpeaks.neighbors.points import CHOICES, Choice, PointSet
from diffpeaks.neighbors.spaces import MatrixSpace


def values_of_points(points: PointSet) -> dict[str, Any]:
    """What `points_of_values` takes."""
    space: Any = points.space
    search: Any = points.search
    name = search.name if search.name in CHOICES else "exact"  # one on a device, which may not be there later
    return {
        "points": on_host(space.points).astype(
            space.dtype, copy=False
        ),  # also where a metric sees truth values
        "metric": space.metric,
        "params": getattr(space, "params", {}),
        "search": ApproximateSearch(search.target) if hasattr(search, "target") else name,
        "n_jobs": points.n_jobs,
    }


def points_of_values(points: Any, metric: str, params: dict[str, Any], search: Any, n_jobs: Any) -> PointSet:
    """Points to which every distance is what it was, to the last bit."""
    check_search(search)
    space: Space
    if metric == "precomputed":
        space = MatrixSpace(points)
    elif metric in EUCLIDEAN_METRICS:
        # dividing unit vectors by their lengths once more would move them
        space = EuclideanSpace(points, metric, are_directions=True)
    else:
        space = space_of(points, metric, params)
    return Choice(search, n_jobs, n_threads(n_jobs)).points(space)
