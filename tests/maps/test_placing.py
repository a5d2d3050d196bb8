"""New samples lie among the places of their nearest fitted samples."""

import numpy as np
import pytest
from clouds import general_position

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.maps import map_coordinates, place_beside

X, NEW = general_position(0, 60, 4), general_position(3, 25, 4)
PLACES = np.random.default_rng(0).normal(size=(60, 2))


def by_loops(distances):
    placed = []
    for row in distances:
        nearest = sorted(range(60), key=lambda j: (row[j], j))[:15]
        placed.append([sorted(PLACES[j, axis] for j in nearest)[7] for axis in range(2)])
    return placed


@pytest.mark.parametrize("estimator", [DensityPeaks(), DensityDBSCAN(), KernelDiffusion()], ids=repr)
def test_medians_of_the_places_of_the_nearest(estimator):
    distances = np.linalg.norm(NEW[:, None] - X, axis=2)
    np.testing.assert_array_equal(place_beside(estimator.fit(X), PLACES, NEW), by_loops(distances))


def test_distances_to_the_fitted_samples():
    among = np.linalg.norm(X[:, None] - X, axis=2)
    distances = np.linalg.norm(NEW[:, None] - X, axis=2)
    model = DensityPeaks(metric="precomputed").fit(among)
    np.testing.assert_array_equal(place_beside(model, PLACES, distances), by_loops(distances))


def test_a_fitted_sample_is_placed_where_it_is():
    model = DensityPeaks().fit(np.concatenate([X, X[:9]]))
    places = map_coordinates(model)
    np.testing.assert_array_equal(place_beside(model, places, X), places[:60])


def test_fewer_samples_than_neighbours():
    model = DensityPeaks().fit([[0.0], [1.0]])
    np.testing.assert_array_equal(place_beside(model, [[0.0, 0.0], [4.0, 2.0]], [[0.4]]), [[2.0, 1.0]])


def test_what_cannot_be_placed_is_refused():
    model = DensityPeaks().fit(X)
    with pytest.raises(ValueError, match=r"shape \(59, 2\).*\(60, 2\)"):
        place_beside(model, PLACES[:-1], NEW)
    with pytest.raises(ValueError, match="expecting 4 features"):
        place_beside(model, PLACES, NEW[:, :2])
    on_graph = DensityPeaks(metric="precomputed").fit(neighbor_graph(X, n_neighbors=5))
    with pytest.raises(ValueError, match="cannot place new samples"):
        place_beside(on_graph, PLACES, NEW)
