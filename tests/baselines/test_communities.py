"""Infomap and Leiden: which links they are given, and that their answer is the libraries' own."""

import sys

import igraph
import infomap
import leidenalg
import numpy as np
import processes
import pytest
from clouds import general_position, rows_of, same_partition
from refusals import refuses
from sklearn.base import clone

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.baselines import Infomap, Leiden

BOTH = pytest.mark.parametrize("kind", [Infomap, Leiden])


def two_groups():
    """Six and six samples on a line."""
    return np.r_[np.arange(6) * 0.1, 1.0 + np.arange(6) * 0.1].reshape(-1, 1)


@BOTH
def test_two_cliques_with_a_bridge(kind):
    rows = [[i, *(j for j in range(6) if j != i)] for i in range(6)]
    rows += [[i + 6 for i in row] for row in rows]
    rows[5][1], rows[6][5] = 6, 5  # 5 and 6 list each other, and are still listed by their groups
    graph = NeighborGraph.from_arrays(rows, np.tile([0.0, 1, 1, 1, 1, 1], (12, 1)), metric="precomputed")
    model = kind(n_neighbors=6, metric="precomputed").fit(graph)
    assert model.labels_.tolist() == [0] * 6 + [1] * 6
    assert model.n_clusters_ == 2


@BOTH
def test_samples_without_links_stay_alone(kind):
    X = two_groups()
    assert kind(n_neighbors=1).fit_predict(X).tolist() == list(range(12))
    assert kind(n_neighbors=7, max_distance=0.05).fit_predict(X).tolist() == list(range(12))
    assert kind(n_neighbors=7, max_distance=0.6).fit(X).n_clusters_ == 2


@BOTH
def test_seeded(kind):
    X = np.random.default_rng(0).normal(size=(400, 3))
    labels = [kind(n_neighbors=8, random_state=seed).fit_predict(X) for seed in (0, 0, 1, 2, 3)]
    np.testing.assert_array_equal(labels[0], labels[1])
    assert not all(same_partition(labels[0], others) for others in labels[2:])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_leiden_is_the_library_on_the_undirected_graph(metric):
    X = general_position(1, 90, 3) + 1
    graph = neighbor_graph(X, 7, metric=metric)
    lengths = graph.to_scipy()
    weights = {}
    for i, row in enumerate(rows_of(graph)):
        for j in row[1:]:
            weights[min(i, j), max(i, j)] = 1.0 if metric == "euclidean" else 1 - lengths[i, j]
    pairs = sorted(pair for pair in weights if weights[pair] > 0)
    expected = leidenalg.find_partition(
        igraph.Graph(90, pairs),
        leidenalg.ModularityVertexPartition,
        weights=[weights[pair] for pair in pairs],
        seed=5,
    )
    model = Leiden(7, metric=metric, random_state=5).fit(X)
    assert same_partition(model.labels_, expected.membership)
    assert model.weights_ == {"euclidean": "uniform", "cosine": "cosine"}[metric]
    named = Leiden(7, weights=model.weights_, metric="precomputed", random_state=5)
    np.testing.assert_array_equal(named.fit_predict(graph), model.labels_)


@pytest.mark.parametrize("directed", [True, False])
def test_infomap_is_the_library_on_the_same_links(directed):
    X = np.random.default_rng(3).normal(size=(120, 3)) + 1
    graph = neighbor_graph(X, 6, metric="cosine")
    lengths = graph.to_scipy()
    links = {(i, j): 1 - lengths[i, j] for i, row in enumerate(rows_of(graph)) for j in row[1:]}
    if not directed:
        links = {(min(pair), max(pair)): weight for pair, weight in links.items()}
    network = infomap.Network()
    network.add_nodes(range(120))
    network.add_links([(i, j, weight) for (i, j), weight in sorted(links.items())])
    modules = infomap.run(network, seed=8, two_level=True, directed=directed).modules()
    labels = Infomap(6, metric="cosine", directed=directed, random_state=7).fit_predict(X)
    assert same_partition(labels, [modules[i] for i in range(120)])
    other_way = Infomap(6, metric="cosine", directed=not directed, random_state=7).fit_predict(X)
    assert not same_partition(labels, other_way)


@BOTH
def test_missing_library_says_what_to_install(kind, monkeypatch):
    for name in ("igraph", "infomap", "leidenalg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'diffpeaks\[communities\]'"):
        kind(n_neighbors=3).fit(two_groups())


def test_importing_the_baselines_loads_no_extra():
    code = "import sys, diffpeaks.baselines; print(*{name.partition('.')[0] for name in sys.modules})"
    done = processes.run(code)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout.split()) & {"igraph", "infomap", "leidenalg", "matplotlib"}


@BOTH
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 13}, "n_neighbors=13|n_samples=12"),
        ({"weights": "distance"}, "weights|distance"),
        ({"max_distance": 0.0}, "max_distance|0.0"),
        ({"random_state": -1}, "random_state|-1"),
        ({"random_state": None}, "random_state|None"),
        ({"weights": "cosine"}, "weights='cosine'|metric='euclidean'|metric='cosine', or weights='uniform'"),
    ],
)
def test_refusal(kind, params, words):
    with refuses(words):
        clone(kind(n_neighbors=3)).set_params(**params).fit(two_groups())


@BOTH
def test_distances_that_are_no_cosines(kind):
    graph = neighbor_graph(4 * two_groups(), 12)
    with refuses("largest distance is 6|at most 2|metric='cosine'|d^2 / 2"):
        kind(12, weights="cosine", metric="precomputed").fit(graph)
    kind(12, metric="precomputed").fit(graph)  # all links weigh the same
