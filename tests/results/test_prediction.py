"""Predictions: fitted samples have the labels of the fit, nothing else changes them, bad input is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import clouds
from hypothesis import given
from hypothesis import strategies as st
from prediction_cases import CUTS, DENSITIES, NEW, X, assert_is_the_fit, fits, fitted
from refusals import refuses
from sklearn.metrics import pairwise_distances

from diffpeaks import (
    NOISE,
    ApproximateSearch,
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    neighbor_graph,
)
from diffpeaks.results import prediction

METRICS = {
    "cosine": {},
    "manhattan": {},
    "chebyshev": {},
    "sqeuclidean": {},
    "minkowski": {"p": 3},
    "seuclidean": {},
    "mahalanobis": {},
    "correlation": {},
    "canberra": {},
    "nan_euclidean": {},
}
BOOLEAN_METRICS = ("jaccard", "russellrao", "yule")  # of which two are not zero between a sample and itself


@given(
    X=clouds(2),
    density=st.sampled_from(DENSITIES),
    cut=st.sampled_from(CUTS),
    halo=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_fitted_samples_have_their_labels(X, density, cut, halo, dtype):
    X = X.astype(dtype)
    model = fits(density, cut, X) and fitted(DensityPeaks(density, **cut, halo=halo), X)
    if model:
        assert_is_the_fit(model, X)
        assert_is_the_fit(model, X[: len(X) // 2 + 1], model.labels_[: len(X) // 2 + 1])


@given(
    X=clouds(2),
    density=st.sampled_from(DENSITIES),
    min_density=st.sampled_from([0.5, 1.0, 2.0]),
    border=st.booleans(),
)
def test_fitted_samples_have_their_labels_of_dbscan(X, density, min_density, border):
    if fits(density, {}, X):
        assert_is_the_fit(DensityDBSCAN(density, min_density, border).fit(X), X)


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
@pytest.mark.parametrize("metric", METRICS)
def test_metrics(kind, metric):
    points = np.abs(np.random.default_rng(2).normal(size=(80, 4))) + 0.1
    points[40:] += [3, 0, 0, 0]
    points[10:14] = points[5]
    if metric == "nan_euclidean":
        points[3, 1] = points[4, :3] = np.nan
    model = kind(metric=metric, metric_params=METRICS[metric]).fit(points)
    assert_is_the_fit(model, points)
    if metric != "correlation":  # whose rounding puts a sample off itself
        order = np.random.default_rng(0).permutation(80)
        assert_is_the_fit(model, points[order], model.labels_[order])
    assert set(model.predict(points[:9] + 0.01)) <= {NOISE, *range(model.n_clusters_)}


@pytest.mark.parametrize("metric", BOOLEAN_METRICS)
def test_metrics_of_truth_values(metric):
    points = np.random.default_rng(3).random((60, 8)) < 0.4
    with np.errstate(all="ignore"):
        model = DensityPeaks(metric=metric, n_neighbors=6).fit(points.astype(float))
    assert_is_the_fit(model, points.astype(float))


def test_a_metric_of_the_user_in_one_direction():
    def uphill(x, y):
        return abs(x[0] - y[0]) * (2 if y[0] > x[0] else 1) + abs(x[1] - y[1])

    model = DensityPeaks(metric=uphill, halo=True).fit(X)
    assert_is_the_fit(model, X)
    order = np.random.default_rng(0).permutation(len(X))
    assert_is_the_fit(model, X[order], model.labels_[order])


@pytest.mark.parametrize("halo", [False, True])
def test_sparse_samples(halo):
    points = sp.random_array((90, 30), density=0.2, random_state=np.random.default_rng(0), format="csr")
    points = sp.vstack([points, points[:7]], format="csr")
    model = DensityPeaks(halo=halo).fit(points)
    assert_is_the_fit(model, points)
    assert_is_the_fit(model, points.tocsc())
    assert_is_the_fit(model, points.toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_approximate_search(dtype):
    random = np.random.default_rng(4)
    points = (random.normal(size=(9000, 120)) + 4 * random.integers(0, 2, (9000, 1))).astype(dtype)
    points[5000:5030] = points[0]
    model = DensityPeaks(search=ApproximateSearch(recall=0.8), halo=True).fit(points)
    assert model.graph_.recall < 1
    assert_is_the_fit(model, points)
    if dtype is np.float32:
        assert_is_the_fit(model, points.astype(np.float64))


def test_distances_to_the_fitted_samples():
    D = pairwise_distances(X)
    D[3, 3] = D[7, 7] = 1e-12  # what rounding leaves
    by_points, by_matrix = DensityPeaks().fit(X), DensityPeaks(metric="precomputed").fit(D)
    assert_is_the_fit(by_matrix, D)
    between = pairwise_distances(NEW, X)
    np.testing.assert_array_equal(by_matrix.predict(between), by_points.predict(NEW))
    np.testing.assert_allclose(by_matrix.score_samples(between), by_points.score_samples(NEW), rtol=1e-6)
    lonely = DensityPeaks(n_clusters=1, metric="precomputed", density=[1.0]).fit([[0.0]])
    assert lonely.predict([[0.0], [5.0]]).tolist() == [0, 0]


def test_duplicates_that_differ_in_their_labels():
    """Nothing but the row number tells them apart; elsewhere the first of them speaks for all."""
    points = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = DensityPeaks(np.array([1.0, 2.0, 3.0, 4.0]), n_clusters=4, n_neighbors=2).fit(points)
    assert model.labels_.tolist() == [3, 2, 1, 0]
    assert_is_the_fit(model, points)
    assert model.predict([[1.0], [1.0], [0.0], [0.0], [0.0]]).tolist() == [1, 1, 3, 3, 3]
    assert model.predict([[5.0], [0.0]]).tolist() == [1, 2]


@pytest.mark.parametrize("halo", [False, True])
@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_blocks_and_threads_change_nothing(monkeypatch, kind, halo):
    params = {"halo": halo} if kind is DensityPeaks else {"border": halo}
    model = kind(n_jobs=1, **params).fit(X)
    expected = model.predict(NEW)
    sizes = []
    monkeypatch.setattr(prediction, "_BLOCK_VALUES", 40)
    monkeypatch.setattr(
        prediction,
        "_labels_of_new",
        lambda X, *rest, made=prediction._labels_of_new: sizes.append(len(X)) or made(X, *rest),
    )
    np.testing.assert_array_equal(kind(n_jobs=2, **params).fit(X).predict(NEW), expected)
    assert max(sizes) <= 4
    np.testing.assert_array_equal([model.predict(row[None])[0] for row in NEW], expected)


def test_densities_are_computed_only_where_neighbours_disagree(monkeypatch):
    asked = []
    keys_at = KernelDiffusion.keys_at
    monkeypatch.setattr(KernelDiffusion, "keys_at", lambda self, X: asked.append(len(X)) or keys_at(self, X))
    model = DensityPeaks(n_clusters=2).fit(X)
    assert set(model.predict(NEW)) == {0, 1}
    assert sum(asked) < 5


def test_scores_are_those_of_the_density():
    model = DensityPeaks().fit(X)
    np.testing.assert_array_equal(model.score_samples(NEW), model.density_estimator_.score_samples(NEW))
    np.testing.assert_allclose(model.score_samples(X), model.density_, rtol=1e-9)


def test_a_prediction_leaves_the_fit_and_what_is_given_alone():
    model, new = DensityPeaks(halo=True).fit(X), NEW.copy()
    before = dict(vars(model))
    model.predict(new)
    model.score_samples(new)
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(new, NEW)
    np.testing.assert_array_equal(model.set_params(halo=False, metric="cosine").predict(X), model.labels_)


BY_GRAPH = DensityPeaks(metric="precomputed").fit(neighbor_graph(X, 8))
BY_MATRIX = DensityPeaks(metric="precomputed").fit(pairwise_distances(X))
BY_POINTS = DensityPeaks().fit(X)


@pytest.mark.parametrize("method", ["predict", "score_samples"])
@pytest.mark.parametrize(
    ("model", "new", "words"),
    [
        (BY_GRAPH, NEW, "precomputed graph|fit on points"),
        (BY_MATRIX, NEW, "2 features|90"),
        (BY_MATRIX, -pairwise_distances(NEW, X), "negative"),
        (BY_MATRIX, sp.csr_array(pairwise_distances(NEW, X)), "sparse|dense row"),
        (BY_MATRIX, neighbor_graph(X, 8), "graph among its own samples|distances to all fitted samples"),
        (BY_POINTS, neighbor_graph(NEW, 8), "graph among its own samples|features"),
        (BY_POINTS, NEW[:, :1], "1 features|2"),
        (BY_POINTS, np.full((2, 2), np.nan), "NaN|rows [0, 1]"),
        (BY_POINTS, NEW[0], "2D array"),
        (BY_POINTS, NEW[:0], "0 sample"),
        (DensityPeaks(), NEW, "not fitted"),
    ],
)
def test_refusals(model, new, words, method):
    before = dict(vars(model))
    with refuses(words):
        getattr(model, method)(new)
    assert all(vars(model)[name] is value for name, value in before.items())
