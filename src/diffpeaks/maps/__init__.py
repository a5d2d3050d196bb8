"""A map of the samples: a place in the plane for each, for the eye alone; no cluster depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from diffpeaks.maps.colors import color_indices
from diffpeaks.maps.layout import laid_out
from diffpeaks.maps.placing import place_beside
from diffpeaks.maps.principal import checked_points, principal_coordinates
from diffpeaks.maps.source import Source
from diffpeaks.maps.tags import separated_tags
from diffpeaks.progress import loop_stage

__all__ = ["axis_names", "color_indices", "map_coordinates", "map_name", "place_beside", "separated_tags"]

AUTO = "auto"
NEED_POINTS = ("pca", "umap")
MAPS = ("graph", *NEED_POINTS)
_NAMES = {"graph": "neighbour graph", "pca": "principal axes", "umap": "UMAP"}


def map_coordinates(
    X: Any, how: Any = AUTO, metric: Any = "euclidean", random_state: Any = None
) -> NDArray[Any]:
    """Two coordinates for each sample.

    Parameters
    ----------
    X : fitted estimator, NeighborGraph, or array or sparse matrix of shape (n_samples, n_features)
        A fitted clusterer or density knows its points, its graph and its metric.
    how : {"auto", "graph", "pca", "umap"} or array of shape (n_samples, 2)
        "auto" leaves points of one or two features as they are, and else is "graph" where X has a graph,
        "pca" where not. "graph" is laid out from the neighbour graph of the fit, without another search:
        neighbours lie together, while far distances mean little; the same on any number of threads.
        "pca" turns the points so that the first coordinate has the largest variance, then the second; the
        largest loading of each is positive. Two features stay as they are, and of one the second coordinate
        is zero. "umap" needs umap-learn. Coordinates that are there already are checked alone.
    metric : str or callable
        Of an array. "cosine" makes the map of the directions. Distances, "precomputed", have no axes: give
        a fitted estimator, or coordinates.
    random_state : int, RandomState or None
        For UMAP, and where the principal axes of many samples with many features are sought; None stands
        for a fixed seed.

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.maps import map_coordinates
    >>> map_coordinates([[0.0, 0.0, 5.0], [3.0, 4.0, 5.0]])[:, 0].round(6).tolist()
    [-2.5, 2.5]
    >>> model = DensityPeaks().fit([[0.0, 0.0, 5.0], [3.0, 4.0, 5.0], [3.0, 4.0, 6.0]])
    >>> map_coordinates(model).shape
    (3, 2)
    """
    source = Source.of(X, metric)
    if not isinstance(how, str):
        return _checked_coordinates(how, source.n_samples)
    how = _chosen(source, how)
    with loop_stage("map", source.n_samples):
        if how == "graph":
            return source.of_samples(laid_out(source.graph_for_layout(), source.n_threads))
        points = checked_points(source.points_for(how))
        random = check_random_state(0 if random_state is None else random_state)
        if how == "umap":
            return _umap(points, source.metric, random)
        return principal_coordinates(points, source.is_cosine, random)


def axis_names(X: Any, how: Any = AUTO, metric: Any = "euclidean") -> tuple[str, str]:
    """What the coordinates of such a map are called; nothing where they are given or laid out.

    >>> from diffpeaks.maps import axis_names
    >>> axis_names([[0.0, 0.0], [3.0, 4.0]])
    ('first feature', 'second feature')
    """
    if not isinstance(how, str):
        return "", ""
    source = Source.of(X, metric)
    how = _chosen(source, how)
    if how == "umap":
        return "UMAP 1", "UMAP 2"
    if how == "graph":
        return "", ""
    if source.n_features != 2 or source.is_cosine:
        return "first principal axis", "second principal axis"
    names = source.feature_names
    first, second = ("first feature", "second feature") if names is None else names
    return str(first), str(second)


def map_name(X: Any, how: Any = AUTO, metric: Any = "euclidean") -> str:
    """How such a map is made, in words.

    >>> from diffpeaks.maps import map_name
    >>> map_name([[0.0, 0.0, 5.0], [3.0, 4.0, 5.0]])
    'principal axes'
    """
    if not isinstance(how, str):
        return "given coordinates"
    source = Source.of(X, metric)
    chosen = _chosen(source, how)
    return "features" if chosen == "pca" and source.is_drawn_as_it_is else _NAMES[chosen]


def check_map(how: str) -> None:
    """Refuse before the work a map that nothing is known of, and UMAP where it is not installed."""
    _check_name(how)
    if how == "umap":
        _umap_class()


def _check_name(how: str) -> None:
    if how not in (AUTO, *MAPS):
        raise ValueError(f"map={how!r} is unknown; use one of {[AUTO, *MAPS]}, or give coordinates")


def _chosen(source: Source, how: str) -> str:
    _check_name(how)
    if how != AUTO:
        return how
    return "pca" if source.is_drawn_as_it_is or source.graph is None else "graph"


def _checked_coordinates(given: Any, n_samples: int) -> NDArray[Any]:
    places = np.asarray(given)
    if places.shape != (n_samples, 2):
        raise ValueError(f"coordinates have shape {places.shape}; they must have ({n_samples}, 2)")
    return check_array(places, dtype=(np.float64, np.float32), input_name="coordinates")


def _umap_class() -> Any:
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError(
            "map='umap' needs umap-learn; install it with: pip install 'diffpeaks[umap]'"
        ) from error
    return UMAP


def _umap(X: Any, metric: Any, random: np.random.RandomState) -> NDArray[Any]:
    return _umap_class()(n_components=2, metric=metric, random_state=random, n_jobs=1).fit_transform(X)
