"""The baselines on a graph: peers, laws, and what they refuse."""

import numpy as np
import pytest
import reference
import reference_baselines
import scipy.sparse as sp
from clouds import clouds, clouds_and_k, general_position, radii, rows_of, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import sort_graph_by_row_values

from diffpeaks import neighbor_graph
from diffpeaks.baselines import ARO, BASELINES, CDP, KNNDBSCAN, SingleLinkage


def both_ways(graph, radius):
    """Distances of at most the radius, wherever either end lists the other, with the diagonal."""
    kept = graph.to_scipy()
    entries = [
        (i, j, kept[i, j]) for i, row in enumerate(rows_of(graph)) for j in row if kept[i, j] <= radius
    ]
    i, j, d = (np.array(part) for part in zip(*entries, strict=True))
    shape = (graph.n_samples, graph.n_samples)
    first, second = np.concatenate((i, j)), np.concatenate((j, i))
    _, once = np.unique(first * graph.n_samples + second, return_index=True)
    both = sp.csr_array((np.concatenate((d, d))[once], (first[once], second[once])), shape=shape)
    return sort_graph_by_row_values(both, warn_when_not_sorted=False)


@given(case=clouds_and_k(), radius=radii, data=st.data())
def test_dbscan_on_lists_equals_scikit_learn_on_the_graph_of_both_directions(case, radius, data):
    X, k = case
    min_samples = data.draw(st.integers(1, k))
    ours = KNNDBSCAN(radius, min_samples, k).fit(X)
    peer = DBSCAN(eps=radius, min_samples=min_samples, metric="precomputed")
    peer.fit(both_ways(neighbor_graph(X, k), radius))
    core = ours.core_sample_indices_
    np.testing.assert_array_equal(core, peer.core_sample_indices_)
    assert same_partition(ours.labels_[core], peer.labels_[core])
    np.testing.assert_array_equal(ours.labels_ == -1, peer.labels_ == -1)


@pytest.mark.parametrize("seed", range(4))
def test_dbscan_on_lists_and_scikit_learn_on_the_directed_graph(seed):
    """The peer follows a link only from the sample that lists: its clusters are parts of ours."""
    X = general_position(seed, 300)
    graph = neighbor_graph(X, 6)
    ours = KNNDBSCAN(0.4, 4, 6, metric="precomputed").fit(graph)
    peer = DBSCAN(eps=0.4, min_samples=4, metric="precomputed").fit(graph.to_scipy())
    core = ours.core_sample_indices_
    np.testing.assert_array_equal(core, peer.core_sample_indices_)
    pairs = set(zip(peer.labels_[core].tolist(), ours.labels_[core].tolist(), strict=True))
    assert len(pairs) == len({part for part, _ in pairs})
    assert set(np.flatnonzero(ours.labels_ == -1)) <= set(np.flatnonzero(peer.labels_ == -1))


def test_dbscan_on_lists_that_hold_the_balls_is_dbscan():
    X = general_position(4, 200)
    ours, peer = KNNDBSCAN(0.5, 6, 200).fit(X), DBSCAN(eps=0.5, min_samples=6).fit(X)
    core = peer.core_sample_indices_
    assert same_partition(ours.labels_[core], peer.labels_[core])
    np.testing.assert_array_equal(ours.labels_ == -1, peer.labels_ == -1)
    assert 1 < ours.n_clusters_ == peer.labels_.max() + 1


@given(X=clouds(2), max_distance=radii)
def test_single_linkage_equals_scipy(X, max_distance):
    expected = fcluster(linkage(X, "single"), max_distance, "distance")
    for model, given_to in (
        (SingleLinkage(max_distance), X),
        (SingleLinkage(max_distance, len(X)), X),
        (SingleLinkage(max_distance, metric="precomputed"), neighbor_graph(X, radius=max_distance)),
    ):
        assert same_partition(model.fit_predict(given_to), expected)


def test_single_linkage_of_lists_is_that_of_their_links():
    X = general_position(5, 120)
    model = SingleLinkage(0.6, n_neighbors=3).fit(X)
    rows, D = rows_of(model.graph_), reference.euclidean_distances(X)
    expected = reference_baselines.connected(120, lambda i, j: j in rows[i] and D[i][j] <= 0.6)
    assert same_partition(model.labels_, expected)
    assert model.n_clusters_ > SingleLinkage(0.6).fit(X).n_clusters_


ON_GRAPHS = [
    ARO(8, 0.7),
    CDP(8, 0.8, 15, metric="cosine"),
    KNNDBSCAN(0.5, 4, 8),
    SingleLinkage(0.5),
    SingleLinkage(0.5, 8),
]


@pytest.mark.parametrize("model", ON_GRAPHS, ids=str)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_the_samples_changes_nothing(model, seed):
    X = general_position(seed, 60)
    order = np.random.default_rng(seed).permutation(len(X))
    labels, permuted = clone(model).fit_predict(X), clone(model).fit_predict(X[order])
    assert same_partition(labels[order], permuted)


@pytest.mark.parametrize("model", ON_GRAPHS, ids=str)
def test_threads_change_nothing(model):
    X = np.random.default_rng(0).normal(size=(9000, 2)) * 20
    alone, together = (clone(model).set_params(n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone.labels_, together.labels_)
    if isinstance(model, ARO):
        np.testing.assert_array_equal(alone.rank_distances_, together.rank_distances_)


@pytest.mark.parametrize("model", ON_GRAPHS, ids=str)
def test_forms_of_the_same_graph(model):
    X = general_position(6, 90)
    graph = neighbor_graph(X, 8, metric=model.metric)
    if model.get_params().get("n_neighbors") is None:
        graph = neighbor_graph(X, radius=0.5)
    expected = clone(model).fit_predict(X)
    for form in (graph, graph.to_scipy()):
        labels = clone(model).set_params(metric="precomputed").fit_predict(form)
        np.testing.assert_array_equal(labels, expected)
    tables = model.get_params().get("n_neighbors") is not None
    if tables:
        pair = (graph.indices.reshape(90, 8), graph.distances.reshape(90, 8))
        np.testing.assert_array_equal(
            clone(model).set_params(metric="precomputed").fit_predict(pair), expected
        )


@pytest.mark.parametrize("k", [1, 2, 40])
def test_shortest_and_longest_lists(k):
    X = general_position(7, 40)
    alone = list(range(40))
    if k == 1:  # nobody lists anybody
        for model in (ARO(1, 9.0), CDP(1, -1.0), KNNDBSCAN(9.0, 1, 1), SingleLinkage(9.0, 1)):
            assert sorted(model.fit_predict(X).tolist()) == alone
    if k == 2:  # pairs of nearest neighbours merge, whatever the bound
        graph = neighbor_graph(X, 2)
        nearest = graph.indices[1::2]
        expected = [min(i, j) if nearest[j] == i else i for i, j in enumerate(nearest)]
        assert same_partition(ARO(2, 0.0).fit_predict(X), expected)
    if k == 40:  # whole lists miss nothing
        assert ARO(40, 0.0).fit(X).n_clusters_ == 1


X = general_position(8, 60)
GRAPH = neighbor_graph(X, 5)
REFUSALS = [
    (lambda: ARO(61).fit(X), "n_neighbors=61|n_samples=60"),
    (lambda: ARO(0).fit(X), "n_neighbors|0"),
    (lambda: ARO(5, -1.0).fit(X), "max_distance|-1.0"),
    (lambda: ARO(5, np.nan).fit(X), "max_distance|nan"),
    (lambda: ARO(5).fit(X).recut("x"), "max_distance|x"),
    (lambda: ARO(5).recut(1.0), "ARO|not fitted"),
    (lambda: ARO(9, metric="precomputed").fit(GRAPH), "n_neighbors=9|5|more neighbours"),
    (lambda: ARO(5).fit(GRAPH), "NeighborGraph|precomputed"),
    (lambda: ARO(5).fit(np.full((9, 2), np.nan)), "NaN|rows"),
    (lambda: CDP(5, metric="euclidean").fit(X), "metric|euclidean"),
    (lambda: CDP(5, 1.0).fit(X), "min_similarity|1.0"),
    (lambda: CDP(5, max_size=0).fit(X), "max_size|0"),
    (lambda: CDP(5, step=0.0).fit(X), "step|0.0"),
    (lambda: CDP(5, step=1.0).fit(X), "step|1.0"),
    (lambda: CDP(5, metric="precomputed").fit(neighbor_graph(X * 9, 5)), "largest distance|at most 2|cosine"),
    (lambda: CDP(5).fit(np.zeros((9, 2))), "cosine|zero"),
    (lambda: KNNDBSCAN(0.5, 6, 5).fit(X), "min_samples=6|n_neighbors=5|more neighbours"),
    (lambda: KNNDBSCAN(0.0, 5, 5).fit(X), "radius|0.0"),
    (lambda: KNNDBSCAN(np.inf, 5, 5).fit(X), "radius|inf"),
    (lambda: SingleLinkage(0.5, metric="precomputed").fit(GRAPH), "max_distance=0.5|0.0|give n_neighbors"),
    (lambda: SingleLinkage(0.0).fit(X), "max_distance|0.0"),
    (lambda: GRAPH.up_to(-1.0), "distance=-1.0|at least 0"),
    (lambda: GRAPH.up_to(np.nan), "distance=nan|at least 0"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusal(call, words):
    with refuses(words):
        call()


BLOBS, TRUTH = make_blobs(300, centers=[[9, 0], [0, 9], [9, 9]], cluster_std=0.4, random_state=0)
SETTINGS = {
    "k-means": {"n_clusters": 3},
    "mini-batch-k-means": {"n_clusters": 3},
    "ward": {"n_clusters": 3},
    "single-linkage": {"max_distance": 1.0},
    "knn-dbscan": {"radius": 1.0, "n_neighbors": 20},
    "hdbscan": {"min_cluster_size": 20},
    "aro": {"n_neighbors": 99, "max_distance": 0.9},
    "cdp": {"n_neighbors": 20, "min_similarity": 0.95},
    "infomap": {"n_neighbors": 60},
    "leiden": {"n_neighbors": 60, "resolution": 0.5},
    "facemap": {"n_neighbors": 150},
    "fc-es": {"n_neighbors": 60},
}


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_by_name(name):
    make = BASELINES[name]
    labels = make(**SETTINGS[name]).fit_predict(BLOBS)
    assert adjusted_rand_score(TRUTH, labels) > 0.95
    np.testing.assert_array_equal(make(**SETTINGS[name]).fit_predict(BLOBS), labels)  # seeded


def test_ward_along_the_graph():
    model = BASELINES["ward"](3, n_neighbors=60)
    with pytest.warns(UserWarning, match="connected components"):  # the blobs are apart, so it adds links
        labels = clone(model).fit_predict(BLOBS)
    assert adjusted_rand_score(TRUTH, labels) == 1
