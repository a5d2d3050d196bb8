"""Every search keeps the promise of `diffpeaks.neighbors.contract.Search`."""

import threading
import tracemalloc

import numpy as np
import pytest
import reference
import scipy.sparse as sp
from clouds import clouds, clouds_and_k, general_position, radii, rows_of
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from threadpoolctl import threadpool_info

from diffpeaks import neighbor_graph
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.points import SEARCHES

searches = pytest.mark.parametrize("search", list(SEARCHES))


@searches
@given(case=clouds_and_k())
def test_nearest_equals_the_reference(search, case):
    X, k = case
    D = reference.euclidean_distances(X)
    graph = neighbor_graph(X, k, search=search)
    assert rows_of(graph) == reference.nearest(D, k)
    owners = np.repeat(np.arange(len(X)), graph.degrees)
    np.testing.assert_array_equal(graph.distances, D[owners, graph.indices])


@searches
@given(X=clouds(), radius=radii)
def test_within_equals_the_reference(search, X, radius):
    graph = neighbor_graph(X, radius=radius, search=search)
    assert rows_of(graph) == reference.within(reference.euclidean_distances(X), radius)


@searches
@given(case=clouds_and_k(), radius=radii)
def test_both_hold_either(search, case, radius):
    X, k = case
    both = neighbor_graph(X, k, radius, search=search)
    assert rows_of(both.nearest(k)) == rows_of(neighbor_graph(X, k, search=search))
    assert rows_of(both.within(radius)) == rows_of(neighbor_graph(X, radius=radius, search=search))


@searches
@given(case=clouds_and_k(), data=st.data())
def test_a_larger_graph_filtered_is_the_smaller_graph(search, case, data):
    X, k = case
    smaller = data.draw(st.integers(1, k))
    graph = neighbor_graph(X, k, search=search).nearest(smaller)
    assert rows_of(graph) == rows_of(neighbor_graph(X, smaller, search=search))
    assert graph.n_neighbors == smaller


@given(case=clouds_and_k(), metric=st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "chebyshev"]))
def test_searches_agree_to_the_last_bit_in_float32(case, metric):
    X, k = case
    X = X.astype(np.float32)
    able = SEARCHES if "euclidean" in metric else ("tree", "brute")
    first, *others = (neighbor_graph(X, k, metric=metric, search=search) for search in able)
    assert first.distances.dtype == np.float32
    for other in others:
        np.testing.assert_array_equal(first.indices, other.indices)
        np.testing.assert_array_equal(first.distances, other.distances)


@searches
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_queries_that_are_not_points(search, k):
    X, queries = general_position(0), general_position(1, 17)
    points = searchable(X, search=search)
    found = points.nearest_to(queries, k)
    distances, indices = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(queries)
    np.testing.assert_array_equal(found.indices.reshape(17, k), indices)
    np.testing.assert_allclose(found.distances.reshape(17, k), distances, rtol=1e-12)


@searches
def test_the_number_of_threads_changes_nothing(search):
    X = np.random.default_rng(0).normal(size=(9000, 3)).round(1)
    one, three = (neighbor_graph(X, 12, search=search, n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one.indices, three.indices)
    np.testing.assert_array_equal(one.distances, three.distances)


@searches
@pytest.mark.parametrize("memory_limit", [None, 1 << 24])
def test_moved_points_are_searched_in_the_same_way(search, memory_limit):
    X = general_position(0, 400)
    points = searchable(X, search=search, memory_limit=memory_limit, n_neighbors=6)
    points.graph(6)
    Y = X + general_position(1, 400) / 50
    moved = points.moved(Y)
    assert type(moved.search) is type(points.search)
    expected = neighbor_graph(Y, 6, search=search)
    assert rows_of(moved.graph(6)) == rows_of(expected)
    np.testing.assert_array_equal(moved.graph(6).distances, expected.distances)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_brute_force_is_exact_far_from_the_origin(dtype):
    """The product x.y loses all digits of a distance that is tiny against the norms; selection must not."""
    X = (np.random.default_rng(0).normal(size=(300, 20)) + 1e4).astype(dtype)
    D = reference.euclidean_distances(X.astype(np.float64)).astype(dtype)
    graph = neighbor_graph(X, 9, search="brute")
    assert rows_of(graph) == reference.nearest(D, 9)


@searches
def test_cosine_is_one_minus_cosine(search):
    X = general_position(3, 50, 4)
    graph = neighbor_graph(X, 8, metric="cosine", search=search)
    distances, indices = NearestNeighbors(n_neighbors=8, metric="cosine").fit(X).kneighbors(X)
    np.testing.assert_array_equal(graph.indices.reshape(50, 8), indices)
    np.testing.assert_allclose(graph.distances.reshape(50, 8), distances, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_equals_dense(metric):
    X = sp.random_array((80, 30), density=0.2, random_state=np.random.default_rng(0)).toarray() + np.eye(
        80, 30
    )
    X += 0.01  # no row without a direction
    dense = neighbor_graph(X, 6, metric=metric, search="brute")
    sparse = neighbor_graph(sp.csr_array(X), 6, metric=metric)
    np.testing.assert_array_equal(dense.indices, sparse.indices)
    np.testing.assert_allclose(dense.distances, sparse.distances, rtol=1e-12)


@given(X=clouds(2), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_nearest_denser_is_exact_beyond_the_graph(X, k, seed):
    density = np.random.default_rng(seed).permutation(len(X)).astype(float)
    order = reference.density_order(density)
    rank = np.argsort(order).astype(np.int32)
    parent, delta = reference.nearest_denser(reference.euclidean_distances(X), order)
    for search in SEARCHES:
        found = searchable(X, search=search).nearest_denser(np.arange(len(X)), rank, min(k, len(X)))
        np.testing.assert_array_equal(found[0], parent)
        np.testing.assert_array_equal(found[1], delta)


def test_precomputed_forms_agree():
    X = general_position(5, 40)
    graph = neighbor_graph(X, 7)
    full = reference.euclidean_distances(X)
    from_matrix = neighbor_graph(full, 7, metric="precomputed")
    without_self = sp.csr_array(graph.to_scipy())
    without_self.setdiag(0)
    without_self.eliminate_zeros()
    for given_graph in (graph, graph.to_scipy(), without_self):
        again = neighbor_graph(given_graph, metric="precomputed")
        np.testing.assert_array_equal(again.indices, graph.indices)
        np.testing.assert_array_equal(again.distances, graph.distances)
    np.testing.assert_array_equal(from_matrix.indices, graph.indices)


def test_stored_zeros_of_a_sparse_graph_are_neighbours():
    graph = neighbor_graph(sp.csr_array((np.zeros(2), ([0, 1], [1, 0])), (2, 2)), metric="precomputed")
    assert rows_of(graph) == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("n", "d", "intrinsic", "chosen"),
    [
        (50, 2, 2, "tree"),
        (3_000, 8, 8, "tree"),
        (20_000, 30, 30, "cells"),
        (20_000, 30, 3, "tree"),  # what counts is how much of the tree the points visit
        (20_000, 40, 3, "cells"),  # too many features for a tree
        (300_000, 20, 20, "approximate"),
        (300_000, 20, 2, "tree"),
    ],
)
def test_automatic_search_is_readable(n, d, intrinsic, chosen):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, intrinsic)).astype(np.float32) @ random.normal(size=(intrinsic, d)).astype(
        np.float32
    )
    points = searchable(X)
    assert points.search.name == chosen
    if n == 50:
        assert points.graph(3).search == chosen


def test_other_distances_have_trees_where_these_are_faster_than_all_pairs():
    random = np.random.default_rng(0)
    X = random.normal(size=(5_000, 20))
    assert searchable(X, "manhattan").search.name == "tree"
    assert searchable(X[:40], "manhattan").search.name == "brute"
    assert searchable(random.normal(size=(200, 40)), "manhattan").search.name == "brute"


def able(*metrics):
    """Each search with the metrics that it knows."""
    cases = [(s, m) for s in SEARCHES for m in metrics if s != "cells" or m in ("euclidean", "cosine")]
    return pytest.mark.parametrize(("search", "metric"), cases)


@able("euclidean", "manhattan", "cosine")
def test_reaching_has_a_radius_for_each_point(search, metric):
    X, queries = general_position(0), general_position(1, 17)
    reach = np.random.default_rng(0).uniform(0, 2, len(X))
    found = searchable(X, metric, search).reaching(queries, reach)
    near = pairwise_distances(queries, X, metric=metric) <= reach
    np.testing.assert_array_equal(np.diff(found.indptr), near.sum(axis=1))
    owners = np.repeat(np.arange(17), np.diff(found.indptr))
    assert near[owners, found.indices].all()


@pytest.mark.parametrize(("p", "scale"), [(100, 1e-4), (100, 1e3), (3, 1e-120), (12, 1e30), (1.5, 1e-60)])
def test_minkowski_of_any_order_at_any_scale(p, scale):
    X = general_position(0)
    params = {"p": p}
    expected = neighbor_graph(X, 6, metric="minkowski", metric_params=params)
    scaled = neighbor_graph(X * scale, 6, metric="minkowski", metric_params=params)
    np.testing.assert_array_equal(scaled.indices, expected.indices)
    np.testing.assert_allclose(scaled.distances, expected.distances * scale, rtol=1e-9)


def test_nan_euclidean_is_exact_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(200, 3)) + 1e8
    by_nan, plain = (neighbor_graph(X, 6, metric=metric) for metric in ("nan_euclidean", "euclidean"))
    np.testing.assert_array_equal(by_nan.indices, plain.indices)
    np.testing.assert_allclose(by_nan.distances, plain.distances, rtol=1e-12)


def test_one_direction_is_one_location_under_cosine():
    X = general_position(0, 50, 5)
    graph = neighbor_graph(np.vstack([X, 3.3 * X, 7.7e5 * X]), 3, metric="cosine")
    assert np.all(graph.distances == 0)


def test_overlapping_searches_give_blas_its_threads_back():
    before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    X = np.random.default_rng(0).normal(size=(3000, 40))
    fits = [threading.Thread(target=neighbor_graph, args=(X[i:], 10)) for i in range(4)]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"] == before


def test_pairs_are_settled_in_bounded_memory():
    X = np.random.default_rng(0).normal(size=(400, 2000))
    tracemalloc.start()
    neighbor_graph(X, 200, metric="manhattan", n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * X.nbytes  # all pairs at once would take 200 copies of X


@able("euclidean", "manhattan")
def test_a_radius_is_not_rounded_to_float32(search, metric):
    """0.1 in float32 lies above 0.1, so that points a tenth apart are farther than a radius of 0.1."""
    X = np.array([[0.0], [0.1], [0.2], [0.3]], np.float32)
    graph = neighbor_graph(X, radius=0.1, metric=metric, search=search)
    assert graph.degrees.tolist() == [1, 1, 1, 1]
    assert neighbor_graph(X, radius=0.2, search=search).within(0.1).degrees.tolist() == [1, 1, 1, 1]


@searches
def test_one_direction_is_a_tie_under_cosine(search):
    random = np.random.default_rng(0)
    X = random.normal(size=3) * random.uniform(0.1, 10, size=(40, 1))
    graph = neighbor_graph(X, 5, metric="cosine", search=search)
    assert graph.indices[:5].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 8, 17])
def test_searches_agree_where_most_cosine_distances_count_as_zero(d, dtype):
    far = 1e6 if dtype == np.float32 else 1e15
    X = (far + np.random.RandomState(0).randn(500, d)).astype(dtype)
    for ask in (
        {"n_neighbors": 9},
        {"radius": 1e-15},
        {"radius": 1e-30},
        {"n_neighbors": 3, "radius": 1e-14},
    ):
        first, *others = (neighbor_graph(X, **ask, metric="cosine", search=search) for search in SEARCHES)
        for other in others:
            np.testing.assert_array_equal(first.indices, other.indices)
            np.testing.assert_array_equal(first.distances, other.distances)


def test_powers_that_vanish_do_not_hide_neighbours():
    random = np.random.default_rng(0)
    for p in (30, 50, 100):
        X = np.append(random.uniform(0, 10 ** (-322.0 / p), (60, 2)), [[1.0, 1.0]], axis=0)
        graph = neighbor_graph(X, 5, metric="minkowski", metric_params={"p": p})
        expected = np.sort(np.abs(X[:, None] - X).max(axis=2), axis=1)[:, :5]
        np.testing.assert_allclose(graph.distances.reshape(61, 5), expected, rtol=0.03)


def test_variances_are_summed_in_double():
    X = np.random.default_rng(0).normal(size=(5000, 3)) * [1, 10, 100] + 1e6
    single, double = (neighbor_graph(X.astype(t), 4, metric="seuclidean") for t in ("f4", "f8"))
    assert np.median(single.distances / np.maximum(double.distances, 1e-9)) == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("d", [2, 20, 60])
def test_graphs_of_scikit_learn_are_taken_with_their_rounded_diagonal(d):
    X = np.random.default_rng(0).normal(size=(200, d)) + 5
    ours = neighbor_graph(X, 5)
    theirs = kneighbors_graph(X, 5, mode="distance", include_self=True)
    np.testing.assert_array_equal(neighbor_graph(theirs, metric="precomputed").indices, ours.indices)
    full = pairwise_distances(X, X.copy())
    np.testing.assert_array_equal(neighbor_graph(full, 5, metric="precomputed").indices, ours.indices)
