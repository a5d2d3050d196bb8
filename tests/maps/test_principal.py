"""Maps are turned, never bent: principal axes against a plain decomposition, in every regime."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import general_position
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import DensityPeaks
from diffpeaks.maps import map_coordinates, principal


def plain(X, unit=False):
    """Scores on the two leading singular vectors of the centred rows, the largest loading positive."""
    X = np.asarray(X, np.float64)
    if unit:
        X = np.array([row / np.sqrt(np.sum(row**2)) for row in X])
    X = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(X, full_matrices=False)
    places = np.zeros((len(X), 2))
    for column, axis in enumerate(axes[:2]):
        sign = 1 if axis[np.argmax(np.abs(axis))] > 0 else -1
        places[:, column] = [sign * np.dot(row, axis) for row in X]
    return places


def stretched(n_samples, n_features, seed=0):
    """Points with variances that fall from feature to feature, so that the axes are well known."""
    spread = 1 / (1 + np.arange(n_features))
    X = np.random.default_rng(seed).normal(size=(n_samples, n_features)) * spread
    return X + np.random.default_rng(seed + 1).normal(size=n_features)


SHAPES = [(1, 5), (2, 5), (40, 1), (40, 3), (300, 20), (30, 1100)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_matrix])
def test_principal_axes_in_every_regime(shape, metric, as_given):
    X = stretched(*shape)
    found = map_coordinates(as_given(X), metric=metric)
    np.testing.assert_allclose(found, plain(X, unit=metric == "cosine"), atol=1e-8)


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_matrix])
def test_axes_that_are_sought(monkeypatch, as_given):
    """Beyond the sizes of which all axes are found, with sizes that a test can afford."""
    monkeypatch.setattr(principal, "_MOST_EXACT", 10)
    X = stretched(60, 30)
    for metric in ("euclidean", "cosine"):
        found = map_coordinates(as_given(X), metric=metric)
        np.testing.assert_allclose(found, plain(X, unit=metric == "cosine"), atol=1e-7)


def test_blocks_make_no_difference(monkeypatch):
    X = stretched(50, 4)
    whole = map_coordinates(X)
    monkeypatch.setattr(principal, "_BLOCK_VALUES", 28)
    np.testing.assert_allclose(map_coordinates(X), whole, atol=1e-12)


def test_single_precision_stays_and_a_far_mean_does_no_harm():
    X = stretched(500, 6)
    found = map_coordinates((X + 1000).astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, plain(X), atol=2e-3)


def test_two_features_stay_as_they_are():
    X = general_position(0, 20)
    found = map_coordinates(X)
    np.testing.assert_array_equal(found, X)
    assert not np.shares_memory(found, X)
    np.testing.assert_array_equal(map_coordinates(sp.csr_matrix(X)), X)


@given(st.permutations(range(12)))
def test_the_order_of_the_samples_turns_nothing(order):
    X = stretched(12, 5)
    np.testing.assert_allclose(map_coordinates(X[order]), map_coordinates(X)[order], atol=1e-10)


def test_constant_features_and_copies_fall_on_one_place():
    np.testing.assert_array_equal(map_coordinates(np.ones((7, 3))), np.zeros((7, 2)))


def test_points_of_a_fit_know_their_metric():
    X = stretched(50, 5)
    model = DensityPeaks(metric="cosine").fit(X)
    np.testing.assert_allclose(map_coordinates(model, "pca"), plain(X, unit=True), atol=1e-8)
