"""An index of another library proposes neighbours; distances, order and refusals are ours."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import clouds_and_k, general_position, rows_of
from hypothesis import given
from hypothesis import strategies as st
from indices import FaissLike, HnswLike
from refusals import refuses
from sklearn.metrics import pairwise_distances

from diffpeaks import DensityPeaks, NeighborGraph, neighbor_graph

X = general_position(0, 90, 3)


class Answers:
    """Returns what it was told."""

    def __init__(self, *answer):
        self.answer = answer

    def search(self, queries, k):
        return self.answer


def assert_same(graph, other):
    np.testing.assert_array_equal(graph.indices, other.indices)
    np.testing.assert_array_equal(graph.distances, other.distances)
    assert graph.distances.dtype == other.distances.dtype
    assert (graph.n_neighbors, graph.radius) == (other.n_neighbors, other.radius)


@pytest.mark.parametrize("kind", [FaissLike, HnswLike])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "minkowski"])
def test_distances_are_those_of_the_space(kind, dtype, metric):
    points = X.astype(dtype)
    index = kind(points)
    graph = neighbor_graph(points, 6, metric=metric, search=index)
    assert graph.search == f"indices.{kind.__name__}"
    assert graph.radius == 0
    D = pairwise_distances(points, metric=metric)
    owners = np.repeat(np.arange(90), 6)
    np.testing.assert_allclose(graph.distances, D[owners, graph.indices], rtol=1e-6)
    proposed = FaissLike(points).search(points.astype(np.float32), 6)[1]
    np.testing.assert_array_equal(np.sort(graph.indices.reshape(90, 6)), np.sort(proposed))
    if metric.endswith("euclidean"):
        assert_same(graph, neighbor_graph(points, 6, metric=metric))


@given(case=clouds_and_k(), kind=st.sampled_from([FaissLike, HnswLike]))
def test_an_exact_index_gives_the_exact_distances(case, kind):
    """Among ties an index may choose otherwise; the point itself is first all the same."""
    points, k = case[0].astype(np.float32), case[1]
    graph = neighbor_graph(points, k, search=kind(points))
    ours = neighbor_graph(points, k)
    np.testing.assert_allclose(graph.distances, ours.distances, rtol=1e-3, atol=1e-3)
    assert [row[0] for row in rows_of(graph)] == list(range(len(points)))
    assert (graph.n_neighbors, graph.radius) == (k, ours.radius)


@pytest.mark.parametrize("space", ["raw", "unit"])
def test_cosine(space):
    """Scores of an inner product, and points of any length as queries."""
    stored = X / np.linalg.norm(X, axis=1, keepdims=True) if space == "unit" else X
    index = FaissLike(stored, metric="cosine" if space == "raw" else lambda a, b: -a @ b)
    assert_same(neighbor_graph(X, 5, metric="cosine", search=index), neighbor_graph(X, 5, metric="cosine"))


def test_a_point_crowded_out_takes_the_last_place():
    points = np.repeat(general_position(2, 10), 6, axis=0)
    graph = neighbor_graph(points, 4, search=FaissLike(points))
    rows = np.array(rows_of(graph))
    np.testing.assert_array_equal(rows[:, 0], np.arange(60))
    assert np.all(graph.distances == 0)


def test_blocks_and_threads_change_nothing(monkeypatch):
    whole = neighbor_graph(X, 6, search=FaissLike(X))
    monkeypatch.setattr("diffpeaks.neighbors.index._BLOCK_ENTRIES", 77)
    assert_same(neighbor_graph(X, 6, search=FaissLike(X), n_jobs=1), whole)
    with refuses("row 58|contiguous|set_ef"):
        neighbor_graph(X, 6, search=HnswLike(X, poor=[58, 70]))


def test_input_is_not_modified_and_forms_agree():
    kept = X.copy()
    for points in (X, X.tolist(), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        assert_same(neighbor_graph(points, 6, search=FaissLike(X)), neighbor_graph(X, 6))
    np.testing.assert_array_equal(X, kept)


def test_the_graph_goes_to_a_clusterer():
    graph = neighbor_graph(X, 13, search=FaissLike(X))
    labels = DensityPeaks(metric="precomputed").fit_predict(graph)
    np.testing.assert_array_equal(
        labels, DensityPeaks(metric="precomputed").fit_predict(neighbor_graph(X, 13))
    )


def ask(index, points=X, n_neighbors=5, **params):
    return lambda: neighbor_graph(points, n_neighbors, search=index, **params)


with_nan = X.copy()
with_nan[4, 1] = np.nan
labels = np.arange(90)
twice = np.repeat(np.arange(90)[:, None], 5, axis=1)
REFUSED = [
    (ask(FaissLike(X, found=3)), "FaissLike|n_neighbors=5|row 0|3 were found|nprobe|smaller n_neighbors"),
    (ask(HnswLike(X, poor=[31, 60])), "HnswLike|n_neighbors=5|row 31|contiguous|set_ef"),
    (ask(FaissLike(X[:80])), "FaissLike|80 points|X has 90"),
    (ask(FaissLike(X[:, :2])), "FaissLike|2 features|X has 3"),
    (ask(HnswLike(X[:80])), "HnswLike|80 points|X has 90"),
    (ask(HnswLike(X[:, :2])), "HnswLike|2 features|X has 3"),
    (ask(HnswLike(X, labels=labels + 1)), "names point 90|outside 0 .. 89|row numbers"),
    (ask(HnswLike(X, labels=labels + 10**12)), "names point 1000000000000|outside 0 .. 89"),
    (ask(HnswLike(X, labels=labels[::-1])), "did not find the points [0, |themselves|rows of X in order"),
    (ask(FaissLike(general_position(7, 90, 3))), "did not find the points|themselves"),
    (ask(FaissLike(X), metric="canberra"), "pair by pair|search='brute'|from_arrays"),
    (ask(FaissLike(X), metric=lambda a, b: 1.0), "pair by pair|search='brute'"),
    (ask(FaissLike(X), metric="precomputed"), "needs points, not distances|'auto'"),
    (ask(FaissLike(X), sp.csr_array(X)), "dense|sparse|toarray"),
    (ask(FaissLike(X), X * 1e50), "rows [0, 1, |float32|rescale X"),
    (ask(FaissLike(X), with_nan), "NaN|rows [4]"),
    (ask(FaissLike(X), with_nan, metric="nan_euclidean"), "rows [4]|NaN|cannot take"),
    (ask(FaissLike(X), n_neighbors=91), "n_neighbors=91|n_samples=90"),
    (ask(FaissLike(X), n_neighbors=0), "n_neighbors=0"),
    (ask(FaissLike(X), n_neighbors=None), "n_neighbors=None|radius=None|search='auto'"),
    (ask(FaissLike(X), radius=1.0), "radius=1.0|balls|search='auto'"),
    (ask(FaissLike), "is no search|instance|faiss or|hnswlib"),
    (ask(3), "search=3|is no search|'auto'"),
    (ask(None), "search=None|is no search|'auto'"),
    (ask(Answers(np.zeros((90, 5)), np.zeros((90, 5)))), "float64|row numbers of shape (90, 5)"),
    (ask(Answers(np.zeros((90, 4)), np.zeros((90, 4), int))), "(90, 4)|(90, 5)"),
    (ask(Answers(None, twice)), "row 0|twice"),
    (ask(FaissLike(X), neighbor_graph(X, 5)), "NeighborGraph|'euclidean'|precomputed"),
    (lambda: DensityPeaks(search=FaissLike(X)).fit(X), "search|FaissLike"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusal(call, words):
    with refuses(words):
        call()


@pytest.mark.parametrize("factory", ["Flat", "HNSW16", "IVF8,Flat", "IDMap,Flat", "RR8,Flat", "SQ8"])
@pytest.mark.parametrize("product", [False, True])
def test_faiss(factory, product):
    faiss = pytest.importorskip("faiss")
    points = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    stored = points / np.linalg.norm(points, axis=1, keepdims=True) if product else points
    index = faiss.index_factory(8, factory, faiss.METRIC_INNER_PRODUCT if product else faiss.METRIC_L2)
    index.train(stored)
    index.add_with_ids(stored, np.arange(600)) if factory.startswith("IDMap") else index.add(stored)
    if factory.startswith("IVF"):
        faiss.extract_index_ivf(index).nprobe = 8
    metric = "cosine" if product else "euclidean"
    graph = neighbor_graph(points, 9, metric=metric, search=index)
    exact = neighbor_graph(points, 9, metric=metric)
    assert graph.search == f"faiss.{type(index).__name__}"
    assert graph.distances.dtype == np.float32
    same = np.mean([len(set(a) & set(b)) / 9 for a, b in zip(rows_of(graph), rows_of(exact), strict=True)])
    assert same == 1 if factory in ("Flat", "IVF8,Flat", "IDMap,Flat") else same > 0.5
    if not product and factory == "Flat":
        distances, labels = index.search(points, 9)
        by_arrays = NeighborGraph.from_arrays(labels, np.sqrt(distances))
        np.testing.assert_allclose(by_arrays.distances, graph.distances, atol=2e-3)


def test_faiss_with_too_few_probes():
    faiss = pytest.importorskip("faiss")
    points = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    index = faiss.index_factory(8, "IVF60,Flat")
    index.train(points)
    with refuses("faiss.IndexIVFFlat|0 points|X has 600"):
        neighbor_graph(points, 9, search=index)
    index.add(points)
    with refuses("faiss.IndexIVFFlat|n_neighbors=40|row|were found|nprobe"):
        neighbor_graph(points, 40, search=index)


@pytest.mark.parametrize("space", ["l2", "cosine"])
def test_hnswlib(space):
    hnswlib = pytest.importorskip("hnswlib")
    points = np.random.default_rng(0).normal(size=(600, 8))
    index = hnswlib.Index(space, 8)
    index.init_index(600, random_seed=0)
    index.add_items(points, np.arange(600))
    index.set_ef(200)
    metric = "euclidean" if space == "l2" else "cosine"
    graph = neighbor_graph(points, 9, metric=metric, search=index)
    assert graph.search == "hnswlib.Index"
    assert np.mean(graph.indices == neighbor_graph(points, 9, metric=metric).indices) > 0.9
    index.mark_deleted(17)
    with refuses("hnswlib.Index|n_neighbors=600|row 0|set_ef"):
        neighbor_graph(points, 600, search=index)
    assert neighbor_graph(points, 9, metric=metric, search=index).indices[17 * 9] == 17
