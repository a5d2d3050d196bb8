"""The layout against plain loops over pairs, and its laws."""

import numpy as np
import pytest
from clouds import clouds, general_position
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import loops_observed
from sklearn.datasets import load_digits

from diffpeaks import DensityPeaks, _native, neighbor_graph
from diffpeaks.maps import layout, map_coordinates
from diffpeaks.maps.layout import N_PULLING, Grid, Repulsion, laid_out, walk_both_ways

PLACES = np.random.default_rng(0).normal(size=(80, 2)) * [9, 3]


def potential_by_loops(places):
    """The sum of 1 / (1 + d^2) at each place, and its slope along both axes."""
    found = np.zeros((len(places), 3))
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places:
            dx, dy = x - other_x, y - other_y
            near = 1 / (1 + dx * dx + dy * dy)
            found[i] += near, -2 * dx * near**2, -2 * dy * near**2
    return found


@pytest.mark.parametrize(("spacing", "error"), [(0.5, 0.1), (0.25, 0.01), (0.125, 0.001)])
def test_the_potential_on_the_grid_is_that_of_all_pairs(monkeypatch, spacing, error):
    """The error, in units of what one point adds to its own place, falls with the spacing."""
    monkeypatch.setattr(layout, "_SPACING", spacing)
    found = Repulsion(80, 1).at(PLACES)
    np.testing.assert_allclose(found, potential_by_loops(PLACES), rtol=0, atol=error)


def test_a_very_wide_map_has_a_coarser_grid():
    assert Grid.over(PLACES).spacing == 0.5
    wide = Grid.over(1e6 * PLACES)
    assert wide.width * wide.spacing > 1e6 * np.ptp(PLACES[:, 0])
    assert wide.width < 1000


def test_all_points_are_counted_on_the_grid():
    grid = Grid.over(PLACES)
    counts = np.empty((grid.width, grid.width))
    _native.count_on_grid(PLACES, grid, np.empty(counts.size), counts, 1)
    nodes = grid.spacing * np.arange(grid.width)
    assert counts.sum() == pytest.approx(80)
    # splines keep the mean too
    mean = (counts.sum(axis=1) @ (grid.low_x + nodes) / 80, counts.sum(axis=0) @ (grid.low_y + nodes) / 80)
    np.testing.assert_allclose(mean, PLACES.mean(axis=0))


def test_a_place_outside_of_the_grid_is_refused():
    grid = Grid.over(PLACES)
    for bad in (1e6, -1e6, np.nan):
        places = PLACES.copy()
        places[7, 1] = bad
        with pytest.raises(ValueError, match="place 7 is outside"):
            _native.count_on_grid(places, grid, np.empty(grid.width**2), np.empty((grid.width,) * 2), 1)


def steps_by_loops(rows, weights, places, potential, descent, steps, gains):
    pull, gravity, push, momentum, longest = descent
    steps, gains = steps.copy(), gains.copy()
    for i, (x, y) in enumerate(places):
        inward = np.array([-gravity * x, -gravity * y])
        for entry in range(rows.indptr[i], rows.indptr[i + 1]):
            apart = places[rows.indices[entry]] - places[i]
            inward += weights[entry] * apart / (1 + apart @ apart)
        force = pull * inward - push * potential[i, 1:]
        for axis in range(2):
            goes_on = force[axis] * steps[i, axis] > 0
            gains[i, axis] = gains[i, axis] + 0.2 if goes_on else max(0.8 * gains[i, axis], 0.01)
            steps[i, axis] = momentum * steps[i, axis] + gains[i, axis] * force[axis]
        length = np.hypot(*steps[i])
        if length > longest:
            steps[i] *= longest / length
    return steps, gains


def test_steps_by_loops():
    random = np.random.default_rng(1)
    graph = neighbor_graph(PLACES, n_neighbors=6)
    weights = random.random(len(graph.indices)).astype(np.float32)
    potential, steps, gains = random.normal(size=(80, 3)), random.normal(size=(80, 2)), random.random((80, 2))
    descent = 4.0, 0.01, 0.3, 0.8, 5.0
    expected = steps_by_loops(graph, weights, PLACES, potential, descent, steps, gains)
    _native.next_steps(graph, weights, PLACES, potential, descent, steps, gains, 1)
    np.testing.assert_allclose(steps, expected[0])
    np.testing.assert_allclose(gains, expected[1])
    assert np.isclose(np.hypot(*steps.T), 5.0).any()


@given(clouds(), st.integers(1, 20))
def test_a_point_goes_to_each_of_its_nearest_alike_and_comes_back_as_often(X, n_neighbors):
    graph = neighbor_graph(X, n_neighbors=min(n_neighbors, len(X)))
    expected = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        others = graph.indices[graph.indptr[i] + 1 : graph.indptr[i + 1]][:N_PULLING]
        for j in others:
            expected[i, j] += 0.5 / len(others)
            expected[j, i] += 0.5 / len(others)
    np.testing.assert_allclose(walk_both_ways(graph).toarray(), expected, rtol=1e-6)


@settings(max_examples=20)
@given(clouds())
def test_layouts_have_no_bad_numbers_and_their_middle_at_zero(X):
    for graph in (neighbor_graph(X, n_neighbors=min(5, len(X))), neighbor_graph(X, radius=0.5)):
        places = laid_out(graph)
        assert np.isfinite(places).all()
        np.testing.assert_allclose(places.mean(axis=0), 0, atol=1e-9)


def test_threads_change_nothing():
    graph = neighbor_graph(np.random.default_rng(0).normal(size=(33_000, 3)), n_neighbors=5)
    one, two, three = (laid_out(graph, n_threads) for n_threads in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_groups_without_links_between_them_do_not_mix():
    X = np.concatenate([general_position(seed, 40, 4) + 100 * seed for seed in range(5)])
    labels = np.repeat(np.arange(5), 40)
    places = laid_out(neighbor_graph(X, n_neighbors=8))
    nearest = neighbor_graph(places, n_neighbors=5).indices.reshape(-1, 5)
    assert np.mean(labels[nearest] == labels[:, None]) > 0.95


def test_points_without_neighbours_stay_near_the_others():
    X = np.random.default_rng(0).normal(size=(600, 3))
    X[::10] += 100 * np.arange(1, 61)[:, None]
    far = np.hypot(*laid_out(neighbor_graph(X, radius=1.0)).T)
    alone = np.zeros(600, bool)
    alone[::10] = True
    assert far[alone].max() < 4 * np.quantile(far[~alone], 0.9)


def test_digits_keep_more_neighbours_than_principal_axes():
    X = load_digits().data
    model = DensityPeaks().fit(X)
    true = neighbor_graph(X, n_neighbors=16).indices.reshape(-1, 16)[:, 1:]

    def recall(how):
        found = neighbor_graph(map_coordinates(model, how), n_neighbors=16).indices.reshape(-1, 16)
        return np.mean([len(np.intersect1d(a, b)) / 15 for a, b in zip(true, found[:, 1:], strict=True)])

    assert recall("graph") > 0.4 > 0.2 > recall("pca")


class StoppedError(Exception):
    pass


def stop(share):
    raise StoppedError


def test_a_layout_can_be_stopped():
    graph = neighbor_graph(PLACES, n_neighbors=6)
    with loops_observed(stop, 0.0), pytest.raises(StoppedError):
        laid_out(graph)
