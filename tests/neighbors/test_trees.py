"""The kd-tree against plain numpy: every pair measured, every row sorted by (distance, index)."""

import pickle

import numpy as np
import pytest
import reference
from clouds import clouds_and_k
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import neighbor_graph
from diffpeaks.neighbors import searchable

METRICS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev"]
LANES = 16


def sums(terms):
    """Terms of each pair added as the core adds them: full blocks in lanes, then the rest in order."""
    total = np.zeros(terms.shape[:-1])
    full = terms.shape[-1] // LANES * LANES
    if full:
        lanes = np.zeros((*total.shape, LANES))
        for first in range(0, full, LANES):
            lanes += terms[..., first : first + LANES]
        while lanes.shape[-1] > 1:
            half = lanes.shape[-1] // 2
            lanes = lanes[..., :half] + lanes[..., half:]
        total = lanes[..., 0]
    for feature in range(full, terms.shape[-1]):
        total = total + terms[..., feature]
    return total


def distances(queries, X, metric):
    difference = queries[:, None].astype(np.float64) - X[None].astype(np.float64)
    if metric == "chebyshev":
        found = np.abs(difference).max(axis=2)
    elif metric == "manhattan":
        found = sums(np.abs(difference))
    else:
        found = sums(difference**2)
        found = np.sqrt(found) if metric == "euclidean" else found
    return found.astype(X.dtype)


def expected_nearest(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def check_nearest(X, queries, ks, metric, n_jobs=1):
    points = searchable(X, metric, "tree", n_jobs)
    given_queries = points.space.points if queries is X else points.space.queries(queries)
    every_index, every_value = expected_nearest(distances(queries, X, metric), max(ks))
    for k in ks:
        found = points.search.nearest(given_queries, k)
        np.testing.assert_array_equal(found.indices.reshape(-1, k), every_index[:, :k])
        np.testing.assert_array_equal(found.distances.reshape(-1, k), every_value[:, :k])
        assert found.distances.dtype == X.dtype


@st.composite
def shapes(draw, max_samples=150):
    """Points of any dimension up to 20: scattered, tied, doubled, on a line, at one place, with outliers."""
    n_samples, n_features = draw(st.integers(1, max_samples)), draw(st.integers(1, 20))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["scattered", "lattice", "doubled", "line", "one place", "outliers"]))
    X = random.normal(size=(n_samples, n_features))
    if kind == "lattice":
        X = random.integers(0, 3, X.shape).astype(float)
    elif kind == "doubled":
        X = X[random.integers(0, max(1, n_samples // 20), n_samples)]
    elif kind == "line":
        X = random.integers(-50, 50, (n_samples, 1)) * np.ones(n_features)
    elif kind == "one place":
        X[:] = X[0]
    elif kind == "outliers":
        X[random.random(n_samples) < 0.1] *= 1e9
    return X.astype(draw(st.sampled_from([np.float32, np.float64])))


@given(X=shapes(), metric=st.sampled_from(METRICS), data=st.data())
def test_nearest_of_the_points(X, metric, data):
    check_nearest(X, X, [data.draw(st.integers(1, len(X)))], metric)


@given(X=shapes(), metric=st.sampled_from(METRICS), data=st.data())
def test_nearest_of_other_queries(X, metric, data):
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    near = X[random.integers(0, len(X), 40)] + random.integers(-1, 2, (40, X.shape[1])).astype(X.dtype)
    check_nearest(X, near, [data.draw(st.integers(1, len(X)))], metric)


@given(case=clouds_and_k(), metric=st.sampled_from(["manhattan", "chebyshev"]))
def test_other_orders_equal_plain_loops(case, metric):
    X, k = case
    join = sum if metric == "manhattan" else max
    D = [[join(abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)) for y in X] for x in X]
    graph = neighbor_graph(X, k, metric=metric, search="tree")
    assert graph.indices.reshape(len(X), k).tolist() == reference.nearest(D, k)


@given(X=shapes(), metric=st.sampled_from(METRICS), radius=st.sampled_from([0.3, 1.0, 1.5, 4.0, 100.0]))
def test_balls(X, metric, radius):
    points = searchable(X, metric, "tree", 1)
    found = points.search.within(points.space.points, radius)
    D = distances(X, X, metric).astype(np.float64)
    for row, begin, end in zip(D, found.indptr, found.indptr[1:], strict=False):
        inside = np.argsort(row, kind="stable")[: np.sum(row <= radius)]
        np.testing.assert_array_equal(found.indices[begin:end], inside)
        np.testing.assert_array_equal(found.distances[begin:end], row[inside])


@given(X=shapes(), metric=st.sampled_from(METRICS), seed=st.integers(0, 99))
def test_reaching(X, metric, seed):
    random = np.random.default_rng(seed)
    queries = X[random.integers(0, len(X), 25)] + random.integers(0, 2, (25, X.shape[1])).astype(X.dtype)
    reach = random.uniform(0, 3, len(X))
    points = searchable(X, metric, "tree", 1)
    found = points.search.reaching(points.space.queries(queries), reach)
    D = distances(queries, X, metric).astype(np.float64)
    for row, begin, end in zip(D, found.indptr, found.indptr[1:], strict=False):
        inside = [i for i in np.argsort(row, kind="stable") if row[i] <= reach[i]]
        np.testing.assert_array_equal(found.indices[begin:end], inside)
        np.testing.assert_array_equal(found.distances[begin:end], row[inside])


@pytest.mark.parametrize("n_samples", [1, 2, 31, 32, 33, 64, 255, 256, 257, 289, 2048, 2049])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes_around_those_of_leaves_and_nodes(n_samples, dtype):
    X = np.random.default_rng(0).normal(size=(n_samples, 3)).astype(dtype)
    ks = {1, min(2, n_samples), min(16, n_samples), n_samples if n_samples < 300 else 70}
    check_nearest(X, X, ks, "euclidean")


@pytest.mark.parametrize("k", [7, 8, 9, 33, 64, 65, 300])
@pytest.mark.parametrize("ties", [True, False])
def test_short_and_long_lists(k, ties):
    X = np.random.default_rng(0).normal(size=(300, 2)).round(1 if ties else 9)
    check_nearest(X, X, [k], "euclidean")


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e-22, 1e-18, 1e15, 1e22, 1e37])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_squares_beyond_the_range_of_float32_hide_nothing(scale, metric):
    X = (np.random.default_rng(0).normal(size=(400, 3)) * scale).astype(np.float32)
    check_nearest(X, X, [9], metric)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_from_the_origin(dtype):
    X = (np.random.default_rng(0).normal(size=(400, 3)) + 1e4).astype(dtype)
    check_nearest(X, X, [9], "euclidean")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", [True, False])
def test_threads_build_and_search_alike(dtype, ties):
    X = np.random.default_rng(0).normal(size=(40_000, 3)).astype(dtype)
    X = X.round(1) if ties else X
    one, three = (neighbor_graph(X, 12, search="tree", n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one.indices, three.indices)
    np.testing.assert_array_equal(one.distances, three.distances)
    some = np.arange(0, len(X), 997)
    found = searchable(X, "euclidean", "tree", 3).nearest_to(X[some], 12)
    indices, values = expected_nearest(distances(X[some], X, "euclidean"), 12)
    np.testing.assert_array_equal(found.indices.reshape(indices.shape), indices)
    np.testing.assert_array_equal(found.distances.reshape(indices.shape), values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_many_at_one_place_as_there_are(dtype):
    """Every row is itself and the smallest other indices; looking at all ties would take forever."""
    n_samples = 100_000
    graph = neighbor_graph(np.full((n_samples, 3), 0.1, dtype), 20, search="tree")
    rows = graph.indices.reshape(n_samples, 20)
    np.testing.assert_array_equal(rows[:, 0], np.arange(n_samples))
    np.testing.assert_array_equal(rows[20:, 1:], np.tile(np.arange(19), (n_samples - 20, 1)))
    assert rows[5, 1:].tolist() == [0, 1, 2, 3, 4, *range(6, 20)]
    assert not graph.distances.any()


def test_ties_at_a_distance_end_with_the_smallest_indices():
    X = np.zeros((60_000, 2))
    X[3:] = np.where(np.arange(3, 60_000)[:, None] % 2, [1.0, 0.0], [-1.0, 0.0])
    found = searchable(X, "euclidean", "tree").nearest_to(np.zeros((50, 2)), 20)
    np.testing.assert_array_equal(found.indices.reshape(50, 20), np.tile(np.arange(20), (50, 1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_direction_in_many_roundings(dtype):
    random = np.random.default_rng(0)
    X = (random.normal(size=8) * random.uniform(0.1, 10, size=(50_000, 1))).astype(dtype)
    graph = neighbor_graph(X, 10, metric="cosine", search="tree")
    assert not graph.distances.any()
    np.testing.assert_array_equal(
        graph.indices.reshape(-1, 10)[10:, 1:], np.tile(np.arange(9), (len(X) - 10, 1))
    )


def test_a_pickled_search_finds_the_same():
    X, queries = np.random.default_rng(0).normal(size=(2, 500, 3))
    search = searchable(X, "euclidean", "tree").search
    again = pickle.loads(pickle.dumps(search))
    for ours, theirs in zip(search.nearest(queries, 7), again.nearest(queries, 7), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_no_queries():
    points = searchable(np.eye(3), "euclidean", "tree")
    nothing = points.space.queries(np.empty((0, 3)))
    for found in (
        points.search.nearest(nothing, 2),
        points.search.within(nothing, 1.0),
        points.search.reaching(nothing, np.ones(3)),
    ):
        assert found.indptr.tolist() == [0]
        assert len(found.indices) == len(found.distances) == 0


def test_more_neighbors_than_points_are_refused():
    points = searchable(np.eye(3), "euclidean", "tree")
    with pytest.raises(ValueError, match=r"n_neighbors=4 .*number of points, 3"):
        points.search.nearest(points.space.points, 4)
