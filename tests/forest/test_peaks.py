"""Forest, saddles, labels and halo against the reference and against GUDHI's ToMATo."""

import numpy as np
import pytest
import reference
from clouds import general_position, rows_of
from gudhi.clustering.tomato import Tomato
from hills import hilly, max_links
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import DensityPeaks, neighbor_graph
from diffpeaks.cuts import Cut, select_peaks
from diffpeaks.cuts.noise import without_halo
from diffpeaks.forest.peaks import complete_forest, density_order, linked_along, peak_forest, peak_labels
from diffpeaks.neighbors import searchable


@given(case=hilly(), max_link=max_links)
def test_parents_and_deltas(case, max_link):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    D = reference.euclidean_distances(X)
    order = reference.density_order(density)
    parent, delta = reference.nearest_denser_in_rows(D, rows_of(graph), order, max_link)
    np.testing.assert_array_equal(forest.parent, parent)
    np.testing.assert_array_equal(forest.delta, delta)
    np.testing.assert_array_equal(forest.rank[order], np.arange(len(X)))


some_values = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0])


@given(keys=st.lists(st.tuples(some_values, some_values), max_size=300))
def test_the_densest_come_first_then_by_the_second_key_and_the_index(keys):
    density, second = np.array(keys, dtype=np.float64).reshape(-1, 2).T.copy()
    np.testing.assert_array_equal(density_order(density), np.argsort(-density, kind="stable"))
    np.testing.assert_array_equal(density_order(density, second), np.lexsort((-second, -density)))


@given(case=hilly())
def test_complete_forest_is_classic_density_peaks(case):
    X, graph, density = case
    forest = complete_forest(peak_forest(graph, density), searchable(X), graph.n_neighbors)
    parent, delta = reference.nearest_denser(
        reference.euclidean_distances(X), reference.density_order(density)
    )
    np.testing.assert_array_equal(forest.parent, parent)
    np.testing.assert_array_equal(forest.delta, delta)


@given(case=hilly())
@pytest.mark.parametrize("search", ["tree", "brute"])
def test_every_search_completes_a_forest_alike(case, search):
    X, graph, density = case
    forest = complete_forest(peak_forest(graph, density), searchable(X, search=search), graph.n_neighbors)
    roots = peak_forest(graph, density).roots
    counted = searchable(X, search=search).nearest_denser(roots, forest.rank, graph.n_neighbors)
    np.testing.assert_array_equal(forest.parent[roots], counted[0])
    np.testing.assert_array_equal(forest.delta[roots], counted[1])


@given(case=hilly(), max_link=max_links)
def test_hills_are_split_alike_whether_the_longest_links_are_known_or_not(case, max_link):
    _, graph, density = case
    known, unknown = (linked_along(graph, density_order(density)) for _ in range(2))
    parent, delta = known.parent.tolist(), known.delta.tolist()
    tops = []
    for sample, longest in enumerate(known.longest_up.tolist()):
        up = [sample]
        while parent[up[-1]] != -1:
            up.append(parent[up[-1]])
        assert longest == max((delta[passed] for passed in up[:-1]), default=0.0)
        tops.append(next(passed for passed in up if not delta[passed] < max_link or parent[passed] == -1))
    assert "longest_up" not in vars(unknown)
    for split in (known.within(max_link), unknown.within(max_link, n_threads=2)):
        is_short = known.delta < max_link
        assert split.hill.tolist() == tops
        np.testing.assert_array_equal(split.parent, np.where(is_short, known.parent, -1))
        np.testing.assert_array_equal(split.delta, np.where(is_short, known.delta, np.inf))


@given(case=hilly(), max_link=max_links)
def test_prominences_and_saddles(case, max_link):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    expected = reference.prominences(
        rows_of(graph), reference.euclidean_distances(X), density, reference.density_order(density), max_link
    )
    for point in range(len(X)):
        prominence, saddle = expected.get(point, (0.0, point))
        assert forest.prominence[point] == pytest.approx(prominence)
        if point in expected:
            assert forest.saddle[point] == saddle


@given(case=hilly(), max_link=max_links, min_prominence=st.sampled_from([0.0, 0.1, 0.7, 2.0]))
def test_labels_equal_a_literal_tomato(case, max_link, min_prominence):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    peaks = select_peaks(forest, density, Cut(None, max_link, min_prominence))
    expected = reference.tomato_labels(
        rows_of(graph),
        reference.euclidean_distances(X),
        density,
        reference.density_order(density),
        forest.parent,
        min_prominence,
        max_link,
    )
    labels = peak_labels(forest, peaks)
    np.testing.assert_array_equal(peaks[labels], expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [3, 8, 20])
def test_prominence_equals_gudhi(seed, k):
    X = general_position(seed, 300)
    density = np.random.default_rng(seed).random(300) if seed % 2 else np.exp(-np.linalg.norm(X, axis=1))
    graph = neighbor_graph(X, k)
    adjacency = graph.to_scipy() + graph.to_scipy().T
    neighbors = [adjacency.indices[a:b] for a, b in zip(adjacency.indptr, adjacency.indptr[1:], strict=False)]
    tomato = Tomato(graph_type="manual", density_type="manual").fit(neighbors, weights=np.log(density))
    forest = peak_forest(graph, density)
    rising = forest.prominence > 0
    finite = rising & np.isfinite(forest.prominence)
    lifetimes = tomato.diagram_[:, 0] - tomato.diagram_[:, 1] if len(tomato.diagram_) else np.empty(0)
    np.testing.assert_allclose(np.sort(forest.prominence[finite]), np.sort(lifetimes), rtol=1e-12, atol=1e-12)
    assert np.sum(rising & ~finite) == len(tomato.max_weight_per_cc_)


@given(case=hilly(), data=st.data())
def test_largest_density_times_delta(case, data):
    X, graph, density = case
    n_clusters = data.draw(st.integers(1, len(X)))
    forest = complete_forest(peak_forest(graph, density), searchable(X), graph.n_neighbors)
    peaks = select_peaks(forest, density, Cut(n_clusters))
    order = reference.density_order(density)
    parent, delta = reference.nearest_denser(reference.euclidean_distances(X), order)
    gamma = [np.inf if parent[i] == -1 else density[i] * delta[i] for i in range(len(X))]
    expected = sorted(range(len(X)), key=lambda i: (-gamma[i], order.index(i)))[:n_clusters]
    assert sorted(peaks) == sorted(expected)
    np.testing.assert_array_equal(peaks[peak_labels(forest, peaks)], reference.dpc_labels(parent, expected))


@given(case=hilly(), max_link=max_links)
def test_halo(case, max_link):
    X, graph, density = case
    forest = peak_forest(graph, density, max_link=max_link)
    labels = peak_labels(forest, forest.roots)
    D = reference.euclidean_distances(X)
    short = [[j for j in row if D[i][j] < max_link] for i, row in enumerate(rows_of(graph))]
    halo = np.array(reference.halo(short, labels, density))
    found = without_halo(labels, graph, density, max_link)
    np.testing.assert_array_equal(found, np.where(halo, -1, labels))


def test_one_total_order():
    density, second = np.array([1.0, 2.0, 1.0, 2.0, 1.0]), np.array([0.0, 1.0, 5.0, 1.0, 0.0])
    assert density_order(density).tolist() == [1, 3, 0, 2, 4]
    assert density_order(density, second).tolist() == [1, 3, 2, 0, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_nothing(dtype):
    X = np.random.default_rng(0).normal(size=(20_000, 2)).astype(dtype)
    one, four = (DensityPeaks(n_jobs=n).fit(X) for n in (1, 4))
    for name in ("parent", "delta", "prominence", "saddle", "crossing"):
        np.testing.assert_array_equal(getattr(one.forest_, name), getattr(four.forest_, name))


def test_absorbed_hill_goes_to_the_hill_it_touches():
    """Three hills in a row: the middle one is absorbed by its neighbour, not by the highest of all."""
    X = np.arange(9.0)[:, None]
    density = np.array([9.0, 5.0, 1.0, 5.0, 7.0, 4.0, 4.5, 4.0, 3.0])
    labels = DensityPeaks(density, min_prominence=0.5, n_neighbors=3).fit_predict(X)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]
