"""Samples at one place act as one sample of their weight; what the default links, and how sure it is."""

import numpy as np
import pytest
import reference
import scipy.sparse as sp
from clouds import clouds, general_position, rows_of, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.base import clone

from diffpeaks import DensityDBSCAN, DensityPeaks, neighbor_graph
from diffpeaks.forest.peaks import hill_links
from diffpeaks.neighbors import DistinctSamples, searchable
from diffpeaks.recipes import DEFAULT, LinkShares

COUNTS = st.lists(st.integers(1, 4), min_size=3, max_size=30)


def repeated(X, counts):
    """Each row as often as its count says, in random order, and where each came from."""
    origin = np.random.RandomState(0).permutation(np.repeat(np.arange(len(X)), counts))
    return X[origin], origin


@given(seed=st.integers(0, 99), counts=COUNTS, max_link=st.sampled_from([0.3, 1.0, np.inf]))
def test_copies_act_as_weights(seed, counts, max_link):
    distinct = general_position(seed, len(counts))  # without ties, which the order of samples would break
    many, origin = repeated(distinct, counts)
    of_copies, of_weights = DensityPeaks().fit(many), DensityPeaks().fit(distinct, sample_weight=counts)
    np.testing.assert_allclose(of_copies.density_, of_weights.density_[origin], rtol=1e-9)
    assert of_copies.cut_.max_link == pytest.approx(of_weights.cut_.max_link)
    for min_prominence in (0.0, 0.1, 0.5):
        cut = {"max_link": max_link, "min_prominence": min_prominence}
        assert same_partition(of_copies.recut(**cut), of_weights.recut(**cut)[origin])


@given(seed=st.integers(0, 99), counts=COUNTS, border=st.booleans())
def test_copies_act_as_weights_where_cores_are_joined(seed, counts, border):
    distinct = general_position(seed, len(counts))
    many, origin = repeated(distinct, counts)
    model = DensityDBSCAN(border=border)
    of_weights = clone(model).fit(distinct, sample_weight=counts)
    of_copies = model.fit(many)
    np.testing.assert_allclose(of_copies.density_, of_weights.density_[origin], rtol=1e-9)
    assert same_partition(of_copies.labels_, of_weights.labels_[origin])
    np.testing.assert_array_equal(
        of_copies.core_sample_indices_, np.flatnonzero(np.isin(origin, of_weights.core_sample_indices_))
    )
    np.testing.assert_array_equal(of_copies.labels_[of_copies.peak_indices_], range(of_copies.n_clusters_))
    np.testing.assert_array_equal(of_copies.predict(many), of_copies.labels_)
    assert of_copies.graph_.n_samples == len(many) == len(of_copies.forest_.parent)


def test_only_ratios_of_weights_count():
    X, weights = general_position(0, 60), np.random.RandomState(0).uniform(0.1, 9, 60)
    once = DensityPeaks().fit(X, sample_weight=weights)
    np.testing.assert_allclose(
        DensityPeaks().fit(X, sample_weight=100 * weights).density_, once.density_, rtol=1e-12
    )
    equal = DensityPeaks().fit(X, sample_weight=np.full(60, 3.0))
    np.testing.assert_allclose(equal.density_, DensityPeaks().fit(X).density_, rtol=1e-12)
    assert np.average(once.density_, weights=weights) == pytest.approx(1)


def test_a_weighted_density_as_loops():
    X, weights = general_position(1, 40), np.random.RandomState(1).uniform(0.5, 3, 40)
    model = DensityPeaks(n_neighbors=8).fit(X, sample_weight=weights)
    D = reference.euclidean_distances(X)
    reach = np.array([sorted(D[i])[7] for i in range(40)])
    start = reach**-model.density_estimator_.start_power
    density = start * 40 / np.sum(weights / weights.mean() * start)
    for _ in range(3):
        arriving = np.zeros(40)
        for i in range(40):
            row = sorted(range(40), key=lambda j, i=i: (D[i][j], j))[:8]
            kernel = {j: np.exp(-((D[i][j] / D[i][row[-1]]) ** 2)) for j in row}
            volume = sum(weights[j] * kernel[j] for j in row)
            for j in row:
                # after the first step `density` is what arrived, a mass per unit of weight
                arriving[j] += weights[i] * density[i] * kernel[j] / volume
        density = arriving
    np.testing.assert_allclose(model.density_, density, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-9)


def test_copies_share_row_label_and_confidence():
    X = np.vstack([general_position(2, 50)] * 3)
    model = DensityPeaks().fit(X)
    for values in (model.labels_, model.density_, model.outlier_scores_, model.probabilities_):
        np.testing.assert_array_equal(values[:50], values[50:100])
    rows = rows_of(model.graph_)
    for i in range(50):
        assert rows[i][0] == i
        assert rows[i + 50][:2] == [i + 50, i]
        assert rows[i + 50][2:] == rows[i][1:]
    assert (model.forest_.parent[50:] == np.tile(np.arange(50), 2)).all()
    assert (model.forest_.delta[50:] == 0).all()


def test_more_neighbours_than_distinct_samples_are_all_of_them():
    X = np.repeat(general_position(3, 4), 5, axis=0)
    model = DensityPeaks(n_neighbors=12).fit(X)
    assert model.density_estimator_.n_neighbors_ == 4
    with refuses("n_neighbors=21|20"):
        DensityPeaks(n_neighbors=21).fit(X)


def test_a_matrix_of_distances_does_not_say_which_samples_coincide():
    points = searchable(reference.euclidean_distances(np.zeros((5, 2))), metric="precomputed")
    assert DistinctSamples.of(points, None, merge=True).number is None


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0] * 4, "(4,)|5 samples"),
        ([[1.0]] * 5, "(5, 1)"),
        ([0, 0, 0, 0, 0], "zero for all 5 samples"),
        ([1, 1, 1, -2.0, 1], "sample 3 is -2.0"),
        ([1, 1, 1, 1, np.nan], "sample 4 is nan"),
        ([1, np.inf, 1, 1, 1], "sample 1 is inf"),
        ([1, 1e40, 1, 1, 1], "the largest|zero|1e-30"),
        ([1.5e308] * 5, "sums to inf|divide"),
        (["heavy"] * 5, "numbers|heavy"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    with refuses("sample_weight|" + words):
        DensityPeaks().fit(np.arange(10.0).reshape(5, 2), sample_weight=weights)


def test_only_ratios_of_weights_count_however_large():
    X = general_position(0, 60)
    weights = np.random.RandomState(0).uniform(1, 4, 60)
    fits = [DensityPeaks().fit(X, sample_weight=scale * weights) for scale in (1.0, 2.0**1000, 2.0**-1000)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.density_, fits[0].density_)


@given(X=clouds(2), n_neighbors=st.integers(1, 20))
def test_hill_links_as_loops(X, n_neighbors):
    graph = neighbor_graph(X, min(n_neighbors, len(X)))
    rows = rows_of(graph)

    def nearest(row, share):
        return row[: max(round(share * len(row)), 2)]

    length = {
        (i, j): distance
        for i, row in enumerate(rows)
        for j, distance in zip(row, graph.distances[graph.indptr[i] :], strict=False)
    }
    reach = [length[j, nearest(row, 0.3)[-1]] for j, row in enumerate(rows)]
    for i, found in enumerate(rows_of(hill_links(graph, LinkShares(0.125, 0.3, 2)))):
        near = nearest(rows[i], 0.3)
        assert found == [j for j in near if j in nearest(rows[i], 0.125) or length[i, j] <= reach[j]]


def test_links_are_more_in_few_dimensions():
    usual = DEFAULT.nearest_share, DEFAULT.mutual_share
    assert DEFAULT.in_dimensions(50.0).links[:2] == DEFAULT.in_dimensions(np.inf).links[:2] == usual
    assert DEFAULT.in_dimensions(2.0).links[:2] == (pytest.approx(0.4 / 0.3 * 0.125), 0.4)
    assert DEFAULT.in_dimensions(0.1).links.mutual == 1


def test_no_sample_has_fewer_links_than_two_others():
    lengths = np.array([1, 2, 3, 5, 8, 12, 40])
    shares = DEFAULT.in_dimensions(50.0).links
    nearest, mutual = shares.counts(lengths)
    assert nearest.tolist() == [1, 2, 3, 3, 3, 3, 5]  # the sample itself counted
    assert mutual.tolist() == [1, 2, 3, 3, 3, 4, 12]
    for n_neighbors in (3, 5, 8):
        model = DensityPeaks(n_neighbors=n_neighbors).fit(np.random.RandomState(0).normal(size=(300, 6)))
        assert model._landscape.links.degrees.min() == 3


def test_a_short_row_changes_no_other_links():
    graph = neighbor_graph(general_position(7, 200), 25).to_scipy()
    beside = sp.block_diag([graph, sp.csr_array((1, 1))]).tocsr()
    alone, both = (DensityPeaks(metric="precomputed").fit(given) for given in (graph, beside))
    assert rows_of(both._landscape.links)[:200] == rows_of(alone._landscape.links)
    assert same_partition(both.labels_[:200], alone.labels_)


@pytest.mark.parametrize("n_samples", [100, 1000])
def test_the_order_of_samples_does_not_matter(n_samples):
    X = np.random.RandomState(2).normal(size=(n_samples, 3))
    order = np.random.RandomState(3).permutation(n_samples)
    one, other = DensityPeaks().fit(X), DensityPeaks().fit(X[order])
    assert other.cut_.min_prominence == pytest.approx(one.cut_.min_prominence, rel=1e-9)
    assert same_partition(other.labels_, one.labels_[order])


@given(X=clouds(3))
def test_deltas_are_exact_whatever_links_hills(X):
    density, delta = DensityPeaks(smooth=False).fit(X).decision_graph()
    D, rank = reference.euclidean_distances(X), np.lexsort((np.arange(len(X)), -density)).argsort()
    for i in range(len(X)):
        denser = [D[i][j] for j in range(len(X)) if rank[j] < rank[i]]
        assert delta[i] == pytest.approx(min(denser, default=np.inf))


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_one_blob_is_mostly_one_cluster(draw):
    """Hills that chance makes are absorbed: of ten clouds without structure most stay whole."""
    found = [
        np.bincount(DensityPeaks().fit_predict(getattr(np.random.RandomState(seed), draw)(size=(1000, 2))))
        for seed in range(10)
    ]
    assert sum(sizes.max() > 950 for sizes in found) >= 8
