"""New samples on a map that is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.density.base import new_samples
from diffpeaks.maps.layout import N_PULLING
from diffpeaks.progress import stage


@stage("map")
def place_beside(estimator: Any, coordinates: Any, X: Any) -> NDArray[np.float64]:
    """Where new samples belong on a map of the fitted ones; the map stays as it is.

    A sample is placed at the median of the places of its nearest fitted samples, axis by axis: where most of
    them are, not in the void between two clusters. One that coincides with a fitted sample is placed
    there.

    Parameters
    ----------
    estimator : fitted clusterer or density
        Fitted on points or on a matrix of distances; a graph does not tell which samples are near new ones.
    coordinates : array of shape (n_samples, 2)
        The map, such as `map_coordinates(estimator)`.
    X : array or sparse matrix of shape (n_new, n_features)
        With `metric="precomputed"` distances to all samples of the fit.

    Examples
    --------
    >>> from diffpeaks import DensityPeaks
    >>> from diffpeaks.maps import map_coordinates, place_beside
    >>> model = DensityPeaks().fit([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    >>> place_beside(model, map_coordinates(model), [[5.0, 5.0]]).tolist()
    [[5.0, 5.0]]
    """
    check_is_fitted(estimator, "density_")
    density = getattr(estimator, "density_estimator_", estimator)
    points = estimator._landscape.points if isinstance(estimator, DensityPeaks) else density._points
    places = check_array(coordinates, dtype=np.float64, input_name="coordinates")
    if places.shape != (points.n_samples, 2):
        raise ValueError(f"coordinates have shape {places.shape}; they must have ({points.n_samples}, 2)")
    n_neighbors = min(N_PULLING, points.n_samples)
    rows = points.searched().nearest_to(new_samples(estimator, density, X), n_neighbors)
    nearest = rows.indices.reshape(-1, n_neighbors)
    placed = np.median(places[nearest], axis=1)
    known = rows.distances[rows.indptr[:-1]] == 0
    placed[known] = places[nearest[known, 0]]
    return placed
