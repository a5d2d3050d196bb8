"""ReScale against the definition, by hand, and under changes that must not matter."""

import numpy as np
import pytest
import reference_baselines
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.cluster import DBSCAN

from diffpeaks import ReScale
from diffpeaks.metrics import bcubed_scores

values = st.lists(st.integers(-20, 20), min_size=2, max_size=15).filter(lambda v: min(v) < max(v))


def test_by_hand():
    # The ends of the intervals are 0, 2, 4, and the radius is 1. Densities: two samples near 0 (0 and 1),
    # one near 2 (1), one near 4. Trapezoids: (2 + 1) / 2 and (1 + 1) / 2, together 5/2.
    model = ReScale(n_intervals=2, radius=0.25).fit([[0.0], [1.0], [4.0]])
    assert model.grid_.ravel().tolist() == [0, 2, 4]
    np.testing.assert_allclose(model.cumulative_.ravel(), [0, 0.6, 1])
    # 1 is half way to 2; beyond the range nothing is left to add
    new = [[0.0], [1.0], [3.0], [4.0], [-9.0], [9.0]]
    np.testing.assert_allclose(model.transform(new).ravel(), [0, 0.3, 0.8, 1, 0, 1])


@given(values=values, n_intervals=st.integers(1, 12), radius=st.sampled_from(["0.13", "0.3", "1"]))
def test_equals_the_reference(values, n_intervals, radius):
    expected = [reference_baselines.rescaled(values, n_intervals, radius, value) for value in values]
    found = ReScale(n_intervals, float(radius)).fit_transform(np.array(values).reshape(-1, 1))
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_laws(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(50, 3)) ** 3
    scaled = ReScale().fit_transform(X)
    assert scaled.min() == 0
    assert scaled.max() == 1
    for before, after in zip(X.T, scaled.T, strict=True):  # order is kept
        assert np.all(np.diff(after[np.argsort(before)]) >= 0)
    np.testing.assert_allclose(ReScale().fit_transform(5 * X - 2), scaled, atol=1e-9)
    np.testing.assert_allclose(ReScale().fit_transform(-X), 1 - scaled, atol=1e-9)
    order = random.permutation(50)
    np.testing.assert_array_equal(ReScale().fit_transform(X[order]), scaled[order])


def test_wide_radius_is_a_change_of_scale():
    """Every ball holds every sample, and so the density is the same everywhere."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    spread = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    np.testing.assert_allclose(ReScale(radius=1.0).fit_transform(X), spread, atol=1e-12)


def test_constant_attributes_and_dtype():
    X = np.array([[1.0, 3.0], [2.0, 3.0]], np.float32)
    scaled = ReScale().fit_transform(X)
    assert scaled.dtype == np.float32
    assert scaled.tolist() == [[0, 0], [1, 0]]


def test_dense_clusters_next_to_each_other_and_a_sparse_one():
    """No radius of DBSCAN finds all three as they are; after the rescaling one does."""
    random = np.random.default_rng(0)
    X = np.r_[random.normal(0.0, 0.5, 400), random.normal(2.5, 0.5, 400), random.normal(14.0, 4.0, 400)]
    truth, X = np.repeat([0, 1, 2], 400), X.reshape(-1, 1)
    radii = np.geomspace(0.001, 5, 60)

    def best(X):
        return max(
            bcubed_scores(truth, DBSCAN(eps=radius, min_samples=10).fit_predict(X)).f for radius in radii
        )

    assert best(ReScale(radius=0.05).fit_transform(X)) > best(X) + 0.1


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({"n_intervals": 0}, [[1.0]], "n_intervals|0"),
        ({"radius": 0.0}, [[1.0]], "radius|0.0"),
        ({"radius": np.inf}, [[1.0]], "radius|inf"),
        ({}, [[1.0], [np.nan]], "NaN|rows [1]|impute"),
        ({}, [[-1.5e308], [1.5e308]], "attribute 0|too wide|scale it down"),
    ],
)
def test_refusal(params, X, words):
    with refuses(words):
        ReScale(**params).fit(X)
