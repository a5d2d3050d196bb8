"""Clusters beside each other have colours that every eye tells apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from vision import DEFICIENCIES, perceived

from diffpeaks._base.palette import N_COLORS, cluster_colors, color_differences
from diffpeaks.maps import color_indices, colors
from diffpeaks.maps.colors import _medians

SIDE = 12
MIDDLES = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 2)


def lattice(n_each=6, width=0.1):
    """Clusters on a lattice, as many as its places."""
    labels = np.repeat(np.arange(len(MIDDLES)), n_each)
    return MIDDLES[labels] + np.random.default_rng(0).uniform(-width, width, (len(labels), 2)), labels


def test_differences_of_colours_by_every_eye():
    found = color_differences()
    for table, deficiency in zip(found, DEFICIENCIES.values(), strict=True):
        seen = [perceived(color, deficiency) for color in cluster_colors(np.arange(N_COLORS))]
        expected = [[np.linalg.norm(one - other) for other in seen] for one in seen]
        np.testing.assert_allclose(table, expected, atol=1e-12)


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_neighbours_on_a_lattice_differ_for_every_eye(name):
    places, labels = lattice()
    colors = cluster_colors(np.arange(len(MIDDLES)), color_indices(places, labels))
    seen = [perceived(color, DEFICIENCIES[name]) for color in colors]
    for one, place in enumerate(MIDDLES):
        for other in np.flatnonzero(np.abs(MIDDLES - place).sum(axis=1) == 1):
            assert np.linalg.norm(seen[one] - seen[other]) > 0.05


def test_all_colours_are_used_about_as_often():
    counts = np.bincount(color_indices(*lattice()), minlength=N_COLORS)
    assert counts.min() >= 2
    assert counts.max() <= 14


@given(st.integers(0, N_COLORS), st.integers(0, 100))
def test_colours_are_unique_as_long_as_there_are_enough(n_clusters, seed):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_clusters), random.integers(-1, max(n_clusters, 1), 30)])
    labels = labels[labels < n_clusters]
    chosen = color_indices(random.normal(size=(len(labels), 2)), labels)
    assert len(np.unique(chosen)) == len(chosen) == n_clusters
    if n_clusters <= 7:
        np.testing.assert_array_equal(chosen, np.arange(n_clusters))


def test_noise_and_missing_numbers_have_no_part_in_it():
    places, labels = lattice()
    order = np.random.default_rng(1).permutation(len(labels))
    noisy = np.concatenate([labels[order], np.full(50, -1)])
    beside = np.concatenate([places[order], np.zeros((50, 2))])
    np.testing.assert_array_equal(color_indices(beside, noisy), color_indices(places, labels))
    twice = color_indices(places, 2 * labels)
    np.testing.assert_array_equal(twice[::2], color_indices(places, labels))


@given(st.integers(8, 60), st.integers(0, 100))
def test_colours_that_clusters_have_stay_and_the_others_choose_around_them(n_clusters, seed):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_clusters), random.integers(-1, n_clusters, 60)])
    places = random.normal(size=(len(labels), 2))
    fixed = np.where(random.random(n_clusters) < 0.5, random.integers(0, N_COLORS, n_clusters), -1)
    chosen = color_indices(places, labels, fixed)
    np.testing.assert_array_equal(chosen[fixed >= 0], fixed[fixed >= 0])
    assert chosen.min() >= 0
    assert chosen.max() < N_COLORS
    taken, free = set(fixed[fixed >= 0].tolist()), chosen[fixed < 0].tolist()
    if n_clusters <= N_COLORS:
        assert len(set(free)) == len(free)
        assert not taken & set(free)


def test_a_new_cluster_among_coloured_ones_differs_from_its_neighbours():
    places, labels = lattice()
    fixed = color_indices(places, labels)
    middle = SIDE * (SIDE // 2) + SIDE // 2
    fixed[middle] = -1
    beside = np.flatnonzero(np.abs(MIDDLES - MIDDLES[middle]).sum(axis=1) == 1)
    chosen = color_indices(places, labels, fixed)
    assert np.all(color_differences()[:, chosen[middle], chosen[beside]] > 0.05)


def test_medians_of_groups_are_those_of_numpy():
    random = np.random.default_rng(3)
    group = np.concatenate([np.arange(9), random.integers(0, 9, 200)])
    values = random.normal(size=len(group))
    expected = [np.median(values[group == one]) for one in range(9)]
    np.testing.assert_allclose(_medians(values, group), expected, rtol=1e-15)


def test_clusters_that_thinning_loses_have_colours_of_their_own(monkeypatch):
    monkeypatch.setattr(colors, "_MOST_SAMPLES", 40)
    labels = np.concatenate([np.arange(20), np.repeat(np.arange(10), 30)])
    places = np.random.default_rng(0).normal(size=(len(labels), 2))
    assert len(np.unique(color_indices(places, labels))) == 20


def test_of_very_many_clusters_the_largest_choose(monkeypatch):
    monkeypatch.setattr(colors, "_MOST_CHOOSING", 30)
    places, labels = lattice()
    chosen = color_indices(places, labels)  # of equal ones the first
    np.testing.assert_array_equal(chosen[30:], np.arange(30, len(MIDDLES)) % N_COLORS)


def test_clusters_at_one_place():
    assert len(np.unique(color_indices(np.zeros((20, 2)), np.arange(20)))) == 20


def test_colours_by_the_numbers_that_are_given():
    chosen = np.array([3, 0])
    np.testing.assert_array_equal(cluster_colors([0, 1, -1], chosen), cluster_colors([3, 0, -1]))


@pytest.mark.parametrize(
    ("labels", "fixed", "words"),
    [
        ([0, 1, 1], None, "coordinates have shape (4, 2)|(3, 2)"),
        ([0, 1, 1, -2], None, "labels hold -2|0, 1, ...|-1"),
        ([0, 1, 1, 0.5], None, "labels must be integers|float64"),
        ([0, 1, 1, 0], [0], f"fixed must be 2 colours in 0 .. {N_COLORS - 1}"),
        ([0, 1, 1, 0], [0, N_COLORS], f"fixed must be 2 colours in 0 .. {N_COLORS - 1}"),
        ([0, 1, 1, 0], {0: 3}, "fixed must be integers"),
    ],
)
def test_labels_and_colours_that_are_none_are_refused(labels, fixed, words):
    with refuses(words):
        color_indices(np.zeros((4, 2)), labels, fixed)
