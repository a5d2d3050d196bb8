"""Neighbours from elsewhere: tables of indices and distances, and sparse graphs of transformers."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import clouds_and_k, general_position, rows_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.neighbors import (
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsTransformer,
    kneighbors_graph,
)
from sklearn.pipeline import make_pipeline

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, NeighborGraph, neighbor_graph

X = general_position(0, 80)
GRAPH = neighbor_graph(X, 7)
INDICES, DISTANCES = GRAPH.indices.reshape(80, 7), GRAPH.distances.reshape(80, 7)


def assert_same(graph, other):
    np.testing.assert_array_equal(graph.indptr, other.indptr)
    np.testing.assert_array_equal(graph.indices, other.indices)
    np.testing.assert_array_equal(graph.distances, other.distances)
    assert graph.distances.dtype == other.distances.dtype
    assert (graph.n_neighbors, graph.radius) == (other.n_neighbors, other.radius)


def changed(values, row, column, value):
    values = values.copy()
    values[row, column] = value
    return values


def from_arrays(indices=INDICES, distances=DISTANCES, **params):
    return NeighborGraph.from_arrays(indices, distances, **params)


@given(
    case=clouds_and_k(),
    dtype=st.sampled_from([np.float32, np.float64]),
    metric=st.sampled_from(["euclidean", "manhattan", "cosine", "sqeuclidean"]),
    data=st.data(),
)
def test_tables_in_any_order_are_the_graph(case, dtype, metric, data):
    points, k = case
    graph = neighbor_graph((points + [1.0] * points.shape[1]).astype(dtype), k, metric=metric)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    order = np.argsort(random.random((len(points), k)), axis=1)
    tables = [values.reshape(-1, k) for values in (graph.indices, graph.distances)]
    indices, distances = (np.take_along_axis(table, order, axis=1) for table in tables)
    assert_same(NeighborGraph.from_arrays(indices, distances, metric), graph)
    assert_same(neighbor_graph((indices, distances), metric="precomputed"), graph)


@given(case=clouds_and_k(2), data=st.data())
def test_points_absent_from_their_rows_are_added(case, data):
    points, k = case
    graph = neighbor_graph(points, max(k, 2))
    indices, distances = (
        values.reshape(len(points), -1)[:, 1:] for values in (graph.indices, graph.distances)
    )
    assert_same(NeighborGraph.from_arrays(indices, distances), graph)


def test_points_absent_from_some_rows():
    indices, distances = [[1, 2], [1, 0], [1, 2]], [[1.0, 3.0], [0.0, 1.0], [2.0, 0.0]]
    graph = NeighborGraph.from_arrays(indices, distances)
    assert rows_of(graph) == [[0, 1, 2], [1, 0], [2, 1]]
    assert (graph.n_neighbors, graph.radius, graph.search) == (2, 0.0, "given")


def test_a_point_behind_its_duplicates_moves_to_the_front():
    graph = NeighborGraph.from_arrays([[0, 1, 2], [0, 1, 2], [0, 1, 2]], np.zeros((3, 3)))
    assert rows_of(graph) == [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
    assert graph.radius == np.inf  # every row holds every point


def test_the_search_is_named_and_nothing_is_complete():
    graph = from_arrays(search="elsewhere")
    assert (graph.search, graph.n_neighbors, graph.radius) == ("elsewhere", 7, 0.0)
    with refuses("radius=0.5|0.0|known to be complete"):
        graph.within(0.5)
    assert_same(graph.nearest(4), GRAPH.nearest(4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, ">f4"])
def test_forms_of_tables(tmp_path, dtype):
    kept = np.float32 if dtype in (np.float32, ">f4") else np.float64
    whole = np.abs(np.arange(6)[:, None] - np.arange(6)).astype(dtype)
    columns = np.tile(np.arange(6), (6, 1))
    expected = neighbor_graph(np.arange(6.0)[:, None].astype(kept), 6)
    np.save(tmp_path / "table.npy", whole)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    wide = np.repeat(whole, 2, axis=1)[:, ::2]
    for distances in (whole, mapped, np.asfortranarray(whole), wide):
        for indices in (
            columns,
            columns.astype(np.uint8),
            columns.astype(np.uint64),
            np.asfortranarray(columns),
            columns.tolist(),
        ):
            assert_same(NeighborGraph.from_arrays(indices, distances), expected)
    np.testing.assert_array_equal(whole, mapped)  # sorting was done elsewhere


def test_own_tables_are_not_modified():
    indices, distances = INDICES[:, ::-1].copy(), DISTANCES[:, ::-1].copy()
    graph = from_arrays(indices, distances)
    np.testing.assert_array_equal(indices, INDICES[:, ::-1])
    np.testing.assert_array_equal(distances, DISTANCES[:, ::-1])
    indices[:] = 0
    assert_same(graph, GRAPH)


def test_rounding_between_a_point_and_itself_is_zero():
    assert_same(from_arrays(distances=changed(DISTANCES, 5, 0, 1e-9)), GRAPH)
    assert_same(from_arrays(distances=changed(DISTANCES, 5, 0, -1e-9)), GRAPH)


far_away = np.array([[0, 1, 2]] * 3)
REFUSED = [
    (lambda: from_arrays(distances=DISTANCES**2), "row|the way through point|np.sqrt|precomputed"),
    (lambda: from_arrays(distances=DISTANCES.astype(np.float32) ** 2), "row|np.sqrt|faiss and hnswlib"),
    (lambda: from_arrays(distances=1 - DISTANCES / 9), "itself must be 0|1.0|sample 0|similarity"),
    (lambda: from_arrays(distances=-DISTANCES), "row 0|-|1 - s"),
    (lambda: from_arrays(INDICES[:, 1:], 1 - DISTANCES[:, 1:] / 99), "row 0|descends|1 - s|reverse"),
    (lambda: from_arrays(changed(INDICES, 3, 5, -1)), "row 3|-1|5 of 7|nprobe"),
    (lambda: from_arrays(changed(INDICES, 3, 5, 80)), "row 3|80|0 .. 79"),
    (lambda: from_arrays(changed(INDICES.astype(np.int64), 3, 5, 2**32)), "row 3|4294967296|0 .. 79"),
    (lambda: from_arrays(changed(INDICES.astype(np.uint64), 3, 5, 2**64 - 1)), "row 3|18446744073709551615"),
    (lambda: from_arrays(changed(INDICES, 3, 5, INDICES[3, 4])), "row 3|twice"),
    (lambda: from_arrays(distances=changed(DISTANCES, 4, 2, np.nan)), "row 4|nan|entry 2"),
    (lambda: from_arrays(distances=changed(DISTANCES, 4, 2, np.inf)), "row 4|inf|entry 2"),
    (lambda: from_arrays(distances=changed(DISTANCES, 4, 0, np.nan)), "row 4|nan|entry 0"),
    (lambda: from_arrays(distances=changed(DISTANCES, 4, 2, -1e-9)), "row 4|-1e-09|np.maximum"),
    (lambda: from_arrays(DISTANCES, INDICES), "indices|integers|float64|swap the two"),
    (lambda: from_arrays(INDICES.astype(float)), "indices|integers|float64|row numbers"),
    (lambda: from_arrays(INDICES > 3), "indices|integers|bool"),
    (lambda: from_arrays(INDICES.astype(object)), "indices|integers|object|scipy.sparse"),
    (lambda: from_arrays(distances=DISTANCES + 0j), "distances|real numbers|complex"),
    (lambda: from_arrays(distances=DISTANCES.astype(str)), "distances|real numbers|<U"),
    (lambda: from_arrays(INDICES[:, :3]), "one shape|(80, 3) and (80, 7)"),
    (lambda: from_arrays(INDICES[0], DISTANCES[0]), "one shape|(7,)"),
    (lambda: from_arrays(INDICES[:0], DISTANCES[:0]), "at least 1|(0, 7)"),
    (lambda: from_arrays(INDICES[:, :0], DISTANCES[:, :0]), "at least 1|(80, 0)"),
    (lambda: from_arrays(INDICES[None], DISTANCES[None]), "one shape|(1, 80, 7)"),
    (lambda: from_arrays(metric="euclidian"), "metric='euclidian'|unknown|'precomputed'"),
    (lambda: neighbor_graph((INDICES, DISTANCES), 3), "NeighborGraph|'euclidean'|metric='precomputed'"),
    (lambda: DensityPeaks().fit((INDICES, DISTANCES)), "NeighborGraph|'euclidean'|metric='precomputed'"),
    (lambda: neighbor_graph((DISTANCES, INDICES), metric="precomputed"), "swap the two"),
    (
        lambda: neighbor_graph((INDICES, DISTANCES), 9, metric="precomputed"),
        "n_neighbors=9|7|more neighbours",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_tables_that_are_refused(call, words):
    with refuses(words):
        call()


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squared_distances_are_told_from_distances(d, dtype):
    points = np.random.default_rng(d).normal(size=(1500, d)).astype(dtype)
    graph = neighbor_graph(points, 20)
    indices, distances = graph.indices.reshape(-1, 20), graph.distances.reshape(-1, 20)
    assert_same(NeighborGraph.from_arrays(indices, distances), graph)
    with refuses("row|the way through point|np.sqrt"):
        NeighborGraph.from_arrays(indices, distances**2)
    with refuses("row|the way through point|np.sqrt"):
        NeighborGraph.from_arrays(indices[:, 1:], distances[:, 1:] ** 2)


def test_what_is_no_metric_is_taken_when_it_is_named():
    squared = neighbor_graph(X, 7, metric="sqeuclidean")
    assert_same(from_arrays(distances=squared.distances.reshape(80, 7), metric="sqeuclidean"), squared)
    assert_same(from_arrays(distances=squared.distances.reshape(80, 7), metric="precomputed"), squared)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    product = neighbor_graph(unit, 7, metric="inner_product")
    tables = product.indices.reshape(80, 7), product.distances.reshape(80, 7)
    assert_same(NeighborGraph.from_arrays(*tables, metric="inner_product"), product)


@pytest.mark.parametrize("estimator", [DensityPeaks, DensityDBSCAN, KernelDiffusion])
def test_estimators_take_a_pair_of_tables(estimator):
    by_pair = estimator(metric="precomputed").fit((INDICES, DISTANCES))
    by_graph = estimator(metric="precomputed").fit(GRAPH)
    np.testing.assert_array_equal(by_pair.density_, by_graph.density_)
    assert by_pair.n_features_in_ == 80


def test_a_matrix_of_two_points_may_be_a_tuple():
    graph = neighbor_graph(((0.0, 2.0), (2.0, 0.0)), 2, metric="precomputed")
    assert graph.distances.tolist() == [0, 2, 0, 2]


@given(case=clouds_and_k(2))
def test_graphs_of_the_transformer_hold_our_distances(case):
    """Ties may fall otherwise there, but each row has the same distances, and ours among duplicates."""
    points, k = case
    k = max(1, k - 1)
    theirs = KNeighborsTransformer(n_neighbors=k, algorithm="kd_tree").fit_transform(points)
    graph = neighbor_graph(theirs, metric="precomputed")
    ours = neighbor_graph(points, k + 1)
    assert graph.n_neighbors >= k + 1
    assert graph.radius == (np.inf if k + 1 == len(points) else 0.0)
    found = np.array([row[: k + 1] for row in np.split(graph.distances, graph.indptr[1:-1])])
    np.testing.assert_allclose(found, ours.distances.reshape(-1, k + 1), rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
def test_graphs_of_the_transformer_are_ours(algorithm):
    theirs = KNeighborsTransformer(n_neighbors=6, algorithm=algorithm).fit_transform(X)
    stored = theirs.tocoo()
    assert (stored.row == stored.col).sum() == 80  # each point is there; brute force may round its zero
    graph = neighbor_graph(theirs, metric="precomputed")
    np.testing.assert_array_equal(graph.indices, GRAPH.indices)
    np.testing.assert_allclose(graph.distances, GRAPH.distances, rtol=1e-7)
    assert (graph.n_neighbors, graph.radius) == (7, 0.0)
    balls = RadiusNeighborsTransformer(radius=1.0, algorithm=algorithm).fit_transform(X)
    graph = neighbor_graph(balls, metric="precomputed")
    np.testing.assert_array_equal(graph.indices, neighbor_graph(X, radius=1.0).indices)
    assert graph.radius == np.inf


def test_many_duplicates_do_not_make_balls_of_nearest_neighbours():
    points = np.repeat(X[:10], 8, axis=0)
    theirs = KNeighborsTransformer(n_neighbors=3).fit_transform(points)
    graph = neighbor_graph(theirs, metric="precomputed")
    assert graph.degrees.max() == 5  # some points were crowded out of their own rows
    assert (graph.n_neighbors, graph.radius) == (4, 0.0)


@pytest.mark.parametrize("clusterer", [DensityPeaks, DensityDBSCAN])
def test_pipeline_with_a_transformer(clusterer):
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=6), clusterer("fkd-asym", metric="precomputed")
    )
    direct = clusterer("fkd-asym", metric="precomputed").fit_predict(GRAPH)
    np.testing.assert_array_equal(pipeline.fit_predict(X), direct)


CONNECTIVITY = [
    KNeighborsTransformer(n_neighbors=5, mode="connectivity").fit_transform(X),
    RadiusNeighborsTransformer(radius=1.0, mode="connectivity").fit_transform(X),
    kneighbors_graph(X, 5, mode="connectivity", include_self=False),
    kneighbors_graph(X, 5, mode="connectivity", include_self=False).astype(bool),
    NearestNeighbors(radius=1.0).fit(X).radius_neighbors_graph(),
]


@pytest.mark.parametrize("graph", CONNECTIVITY, ids=range(5))
def test_connectivity_is_refused(graph):
    with refuses("every value|is 1|mode='distance'|zeros of the diagonal"):
        neighbor_graph(graph, metric="precomputed")
    with refuses("every value|is 1|mode='distance'"):
        DensityPeaks(metric="precomputed").fit(graph)


def test_distances_of_one_are_taken_with_their_zeros():
    graph = neighbor_graph([[0.0], [1.0], [2.0]], radius=1.0)
    assert_same(neighbor_graph(graph.to_scipy(), metric="precomputed").within(1.0), graph)
    assert rows_of(neighbor_graph(sp.csr_array((3, 3)), metric="precomputed")) == [[0], [1], [2]]


def test_graphs_of_pynndescent():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pynndescent = pytest.importorskip("pynndescent")
        points = general_position(1, 300, 4)
        sparse = pynndescent.PyNNDescentTransformer(n_neighbors=9, random_state=0).fit_transform(points)
        index = pynndescent.NNDescent(points, n_neighbors=10, random_state=0)
    ours = neighbor_graph(points, 10)
    for graph in (
        neighbor_graph(sparse, metric="precomputed"),
        NeighborGraph.from_arrays(*index.neighbor_graph, search="pynndescent"),
        neighbor_graph(index.neighbor_graph, metric="precomputed"),
    ):
        assert (graph.n_neighbors, graph.radius, graph.distances.dtype) == (10, 0.0, np.float32)
        assert np.mean(graph.indices == ours.indices) > 0.9
