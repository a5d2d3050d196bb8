"""Inputs at the edge of what is allowed: few points, duplicates, extreme scales, every layout and metric."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import same_partition
from sklearn.base import clone
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS, pairwise_distances
from sklearn.neighbors import VALID_METRICS, NearestNeighbors

from diffpeaks import (
    NOISE,
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    neighbor_graph,
)
from diffpeaks.neighbors.euclidean import EuclideanSpace

RANDOM = np.random.RandomState(0)
X = np.vstack([RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(30, 2)) + 20])
CLUSTERERS = [
    DensityPeaks(),
    DensityPeaks(n_clusters=3),
    DensityPeaks(min_prominence=0.0, halo=True),
    DensityPeaks("fkd-asym"),
    DensityPeaks("fkd-sym", max_link=3.0),
    DensityPeaks("lc"),
    DensityPeaks(lambda graph: np.arange(graph.n_samples) % 7),
    DensityDBSCAN(),
    DensityDBSCAN("naive", min_density=8, border=False),
]
DENSITIES = [KernelDiffusion(), KernelDiffusion(radius="auto"), NaiveDensity(), LocalContrast()]
ESTIMATORS = CLUSTERERS + DENSITIES


def name(estimator):
    """Its parameters, without addresses in memory."""
    return str(estimator).split(" at 0x")[0]


every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
every_clusterer = pytest.mark.parametrize("estimator", CLUSTERERS, ids=name)
every_density = pytest.mark.parametrize("estimator", DENSITIES, ids=name)


def outcome(estimator, X):
    """Labels, or of a density its values."""
    fitted = clone(estimator).fit(X)
    return fitted.labels_ if hasattr(fitted, "labels_") else fitted.density_


def labels_or_refusal(model, X):
    """The labels, or "refused" where an error says that the values are too large or too small."""
    try:
        return model.fit_predict(X).tolist()
    except ValueError as error:
        return "refused" if any(word in str(error) for word in ("large", "small", "scale")) else str(error)


def check_labels(fitted, n_samples):
    """The contract: 0 .. n_clusters - 1 in the order of peak density, and each peak in its own cluster."""
    labels, peaks = fitted.labels_, fitted.peak_indices_
    assert labels.shape == (n_samples,)
    assert labels.dtype == np.int64
    assert fitted.n_clusters_ == len(peaks)
    assert set(labels) - {NOISE} == set(range(len(peaks)))
    np.testing.assert_array_equal(labels[peaks], np.arange(len(peaks)))
    assert np.all(np.diff(fitted.density_[peaks]) <= 0)
    for cluster, peak in enumerate(peaks):
        assert fitted.density_[peak] == fitted.density_[labels == cluster].max()


def domain(metric):
    """Points that the metric is made for, and the parameters it needs."""
    random = np.random.RandomState(1)
    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        return random.random_sample((50, 12)) < 0.5, {}
    if metric == "haversine":
        return random.uniform([-1.5, -3], [1.5, 3], (50, 2)), {}
    points = random.uniform(0.1, 3, (50, 4))
    if metric == "hamming":
        return points.round(), {}
    if metric == "nan_euclidean":
        points[random.random_sample(points.shape) < 0.2] = np.nan
    if metric == "precomputed":
        return pairwise_distances(points), {}
    params = {"seuclidean": {"V": np.var(points, axis=0, ddof=1)}, "minkowski": {"p": 3}}
    return points, params.get(metric, {})


@every_clusterer
def test_labels_contract(estimator):
    check_labels(clone(estimator).fit(X), len(X))


@pytest.mark.parametrize("estimator", [DensityPeaks(), DensityDBSCAN(), DensityPeaks("fkd-asym")], ids=str)
@pytest.mark.parametrize("points", [[[1.0, 2.0]], np.ones((30, 2)), np.ones((30, 20)), [[0.0], [0.0]]])
def test_one_location_is_one_cluster(estimator, points):
    fitted = clone(estimator).fit(points)
    check_labels(fitted, len(points))
    assert fitted.n_clusters_ == 1
    np.testing.assert_allclose(fitted.density_.mean(), 1)


@every_estimator
def test_two_points(estimator):
    if estimator.get_params().get("n_clusters") == 3:
        estimator = clone(estimator).set_params(n_clusters=2)
    fitted = clone(estimator).fit([[0.0, 0.0], [1.0, 2.0]])
    assert fitted.density_.shape == (2,)
    if hasattr(fitted, "labels_"):
        check_labels(fitted, 2)


@pytest.mark.parametrize(
    "density", [NaiveDensity(), LocalContrast(), KernelDiffusion(radius="auto")], ids=str
)
@pytest.mark.parametrize("points", [[[1.0, 2.0]], np.ones((30, 2))])
def test_no_automatic_radius_without_a_distance(density, points):
    with pytest.raises(ValueError, match=r"radius='auto' finds no positive distance.*give a radius"):
        clone(density).fit(points)
    assert clone(density).set_params(radius=1.0).fit(points).density_.shape == (len(points),)


@every_density
def test_all_points_as_neighbors(estimator):
    graph = neighbor_graph(X, len(X))
    assert (np.sort(graph.indices.reshape(len(X), -1)) == np.arange(len(X))).all()
    assert graph.radius == np.inf
    if "n_neighbors" in estimator.get_params():
        assert np.isfinite(clone(estimator).set_params(n_neighbors=len(X)).fit(X).density_).all()


def test_one_neighbor_is_the_point_itself():
    np.testing.assert_array_equal(neighbor_graph(X, 1).indices, np.arange(len(X)))
    np.testing.assert_array_equal(KernelDiffusion(1).fit(X).density_, 1)
    fitted = DensityPeaks(n_neighbors=1).fit(X)
    np.testing.assert_array_equal(fitted.labels_, np.arange(len(X)))
    assert len(set(fitted.recut(n_clusters=2))) == 2


@every_estimator
@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("scale", [2.0**498, 2.0**-498, 2.0**80, 2.0**-80])
def test_scale_changes_nothing(estimator, search, scale):
    estimator = clone(estimator).set_params(search=search)
    if estimator.get_params().get("max_link") is not None:
        scaled = clone(estimator).set_params(max_link=estimator.max_link * scale)
    else:
        scaled = estimator
    np.testing.assert_allclose(outcome(scaled, X * scale), outcome(estimator, X), rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "sqeuclidean"])
@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("exponent", [600, 1000, -600, -1000])
def test_same_labels_or_a_refusal_where_squares_leave_the_range(metric, search, exponent):
    model = DensityPeaks(metric=metric, search=search)
    expected = model.fit_predict(X).tolist()
    assert labels_or_refusal(model, X * 2.0**exponent) in (expected, "refused")


@every_estimator
@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("largest", [2.0**90, 2.0**127.8, 2.0**-90])
def test_scale_of_float32(estimator, search, largest):
    scale = largest / pairwise_distances(X).max()
    max_link = estimator.get_params().get("max_link")
    scaled = clone(estimator).set_params(search=search)
    if max_link is not None:
        scaled.set_params(max_link=max_link * scale)
    found = outcome(scaled, (X * scale).astype(np.float32))
    np.testing.assert_allclose(found, outcome(estimator, X.astype(np.float32)), rtol=1e-4)


@every_estimator
def test_layout_of_memory_changes_nothing(estimator):
    expected = outcome(estimator, X)
    wide = np.zeros((2 * len(X), 5))
    wide[::2, 1:4:2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), wide[::2, 1:4:2], frozen, X.tolist(), X[::-1][::-1], X.astype(object)):
        np.testing.assert_array_equal(outcome(estimator, same), expected)


@every_estimator
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, bool])
def test_integers_are_numbers(estimator, dtype):
    whole = np.abs(X * 3).astype(int).astype(dtype)
    fitted = clone(estimator).fit(whole)
    assert fitted.graph_.distances.dtype == np.float64
    np.testing.assert_array_equal(outcome(estimator, whole), outcome(estimator, whole.astype(float)))


@every_estimator
def test_constant_features_change_nothing(estimator):
    padded = np.hstack([X, np.full((len(X), 2), 7.0)])
    np.testing.assert_array_equal(outcome(estimator, padded), outcome(estimator, X))


@every_estimator
@pytest.mark.parametrize(
    ("metric", "form"),
    [
        ("euclidean", sp.csr_array),
        ("euclidean", sp.csr_matrix),
        ("cosine", sp.coo_array),
        ("manhattan", sp.csc_array),
    ],
)
def test_sparse_equals_dense(estimator, metric, form):
    dense = np.where(np.abs(X) < 0.3, 0.0, X)
    dense[:, 1] += 1.0
    estimator = clone(estimator).set_params(metric=metric)
    sparse, expected = outcome(estimator, form(dense)), outcome(estimator, dense)
    if expected.dtype.kind == "i":  # densities that rounding tells apart are no order of clusters
        assert same_partition(sparse, expected)
    else:
        np.testing.assert_allclose(sparse, expected, rtol=1e-9)


@every_density
def test_new_points_in_any_form(estimator):
    new = RANDOM.normal(size=(20, 2)).astype(np.float32)
    for fitted in (clone(estimator).fit(X), clone(estimator).fit(sp.csr_array(X))):
        expected = fitted.score_samples(new.astype(np.float64))
        for same in (new, np.asfortranarray(new), new.tolist(), sp.csr_array(new.astype(np.float64))):
            np.testing.assert_allclose(fitted.score_samples(same), expected, rtol=1e-6)


@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("n_jobs", [1, 3, -1, -99, np.int64(1), np.int32(2)])
def test_threads_of_any_integer_type(search, n_jobs):
    graph = neighbor_graph(X, 5, search=search, n_jobs=n_jobs)
    np.testing.assert_array_equal(graph.distances, neighbor_graph(X, 5, search="brute").distances)


def mostly_one_location(n_samples, n_features):
    points = np.random.RandomState(0).normal(size=(n_samples, n_features))
    points[np.random.RandomState(1).permutation(n_samples)[: n_samples * 9 // 10]] = 0.5
    return points


@pytest.mark.parametrize("estimator", [DensityPeaks(), DensityPeaks(n_clusters=2), DensityDBSCAN()], ids=str)
def test_many_duplicates(estimator):
    points = mostly_one_location(20_000, 2)
    fitted = clone(estimator).fit(points)
    check_labels(fitted, len(points))
    graph = fitted.density_estimator_.graph_
    assert len(graph.indices) == graph.n_samples * graph.n_neighbors
    assert np.isfinite(fitted.density_).all()


@pytest.mark.parametrize("n_features", [2, 20])
def test_duplicates_do_not_multiply_the_work(monkeypatch, n_features):
    settled, settle = [], EuclideanSpace.settle

    def counting(space, queries, rows, n_threads):
        settled.append(len(rows.indices))
        return settle(space, queries, rows, n_threads)

    monkeypatch.setattr(EuclideanSpace, "settle", counting)
    points = mostly_one_location(2_000, n_features)
    neighbor_graph(points, 10)
    assert sum(settled) <= 20 * 10 * len(points)  # far from all 1,800 squared pairs


@pytest.mark.parametrize("metric", sorted(VALID_METRICS["brute"]))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_metric_of_scikit_learn(metric, dtype):
    points, params = domain(metric)
    points = points if points.dtype == bool else points.astype(dtype)
    theirs = params if metric == "minkowski" else {"metric_params": params or None}
    search = NearestNeighbors(n_neighbors=7, algorithm="brute", metric=metric, **theirs)
    if metric == "nan_euclidean":
        points = points.astype(np.float64)  # in float32 scikit-learn's own distances are off by 4e-4
    expected = search.fit(points).kneighbors()[0]
    graph = neighbor_graph(points, 8, metric=metric, metric_params=params or None)
    tolerance = {"rtol": 1e-9, "atol": 1e-12} if dtype is np.float64 else {"rtol": 2e-5, "atol": 1e-6}
    np.testing.assert_allclose(graph.distances.reshape(len(points), 8)[:, 1:], expected, **tolerance)


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_parameters_of_a_metric_are_estimated_from_all_points(metric):
    points = np.random.RandomState(0).normal(size=(50, 3)) * [1, 5, 0.1]
    expected = np.sort(pairwise_distances(points, metric=metric))[:, :6]
    np.testing.assert_allclose(neighbor_graph(points, 6, metric=metric).distances.reshape(50, 6), expected)


def test_callable_metric():
    graph = neighbor_graph(X, 6, metric=lambda a, b: np.abs(a - b).sum())
    np.testing.assert_allclose(graph.distances, neighbor_graph(X, 6, metric="manhattan").distances)
