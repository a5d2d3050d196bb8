"""DensityPeaks and DensityDBSCAN as their users see them."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from clouds import clouds, general_position, radii, rows_of, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_iris, make_blobs, make_moons

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, NaiveDensity, neighbor_graph
from diffpeaks.metrics import bcubed_scores


def test_nothing_given_finds_blobs_and_moons():
    X, y = make_blobs(600, centers=[[0, 0], [8, 0], [0, 8], [9, 9]], random_state=0)
    assert same_partition(DensityPeaks().fit_predict(X), y)
    X, y = make_moons(600, noise=0.05, random_state=0)
    assert bcubed_scores(y, DensityPeaks().fit_predict(X)).precision == 1  # no cluster mixes the moons


def test_automatic_choice_is_readable():
    X = general_position(0, 256)
    model = DensityPeaks().fit(X)
    assert model.density_estimator_.n_neighbors_ == 24
    dimension = model.graph_.intrinsic_dimension()
    assert model.density_estimator_.start_power == pytest.approx(dimension, abs=5e-4)
    assert dimension < 2
    assert model.density_estimator_.steps == 3
    assert (model.isolation_.kind, model.cut_.max_link) == ("none", np.inf)
    assert model.graph_.search == "tree"


def test_recut_equals_a_fit_with_that_cut():
    X = general_position(1, 150)
    model = DensityPeaks().fit(X)
    for cut in (
        {},
        {"n_clusters": 4},
        {"max_link": 0.4},
        {"min_prominence": 0.3},
        {"max_link": 0.4, "min_prominence": 0.3},
        {"n_clusters": 2, "min_prominence": 0.3},
        {"n_clusters": 5, "max_link": 0.2},
        {"n_clusters": 3, "halo": True},
    ):
        np.testing.assert_array_equal(model.recut(**cut), DensityPeaks(**cut).fit(X).labels_)
    np.testing.assert_array_equal(model.labels_, DensityPeaks().fit(X).labels_)


def test_the_face_rule_drops_long_links():
    """Each sample links to the nearest denser one in its list; links of max_link or more are dropped."""
    X = general_position(2, 120)
    model = DensityPeaks(KernelDiffusion(10), max_link=0.5).fit(X)
    D = reference.euclidean_distances(X)
    order = reference.density_order(model.density_)
    parent, _ = reference.nearest_denser_in_rows(D, rows_of(model.graph_), order, 0.5)
    roots = [i for i in range(len(X)) if parent[i] == -1]
    np.testing.assert_array_equal(model.peak_indices_[model.labels_], reference.dpc_labels(parent, roots))


def test_labels_are_in_the_order_of_peak_density():
    for model in (DensityPeaks(n_clusters=5), DensityDBSCAN(min_density=1.2)):
        model.fit(general_position(3, 200))
        assert np.all(np.diff(model.density_[model.peak_indices_]) <= 0)
        np.testing.assert_array_equal(model.labels_[model.peak_indices_], np.arange(model.n_clusters_))
        assert model.labels_.max() == model.n_clusters_ - 1


def test_decision_graph_is_exact():
    X = general_position(4, 80)
    model = DensityPeaks().fit(X)
    density, delta = model.decision_graph()
    order = reference.density_order(density)
    np.testing.assert_array_equal(delta, reference.nearest_denser(reference.euclidean_distances(X), order)[1])


def test_local_contrast_breaks_its_ties_by_the_naive_density():
    X = general_position(5, 60)
    model = DensityPeaks("lc", n_clusters=2).fit(X)
    order = reference.density_order(model.density_, model.density_estimator_.naive_density_)
    np.testing.assert_array_equal(np.argsort(model.forest_.rank), order)


def test_precomputed_matrix_equals_points():
    X = general_position(6, 90)
    D = reference.euclidean_distances(X)
    for make in (DensityPeaks, DensityDBSCAN, lambda **given: DensityPeaks(n_clusters=3, **given)):
        by_points, by_matrix = make().fit(X), make(metric="precomputed").fit(D)
        np.testing.assert_array_equal(by_points.labels_, by_matrix.labels_)


def test_precomputed_graph_equals_points_under_the_same_rules():
    X = general_position(7, 90)
    graph = neighbor_graph(X, 13)
    by_points = DensityPeaks(n_neighbors=13, min_prominence=0.8).fit(X)
    for given_graph in (graph, graph.to_scipy()):
        by_graph = DensityPeaks(metric="precomputed", min_prominence=0.8).fit(given_graph)
        np.testing.assert_array_equal(by_points.labels_, by_graph.labels_)


@given(X=clouds(), radius=radii, min_samples=st.integers(1, 6))
def test_naive_density_reproduces_scikit_learn(X, radius, min_samples):
    ours = DensityDBSCAN(NaiveDensity(radius), min_density=min_samples).fit(X)
    peer = DBSCAN(eps=radius, min_samples=min_samples).fit(X)
    np.testing.assert_array_equal(ours.core_sample_indices_, peer.core_sample_indices_)
    core = ours.core_sample_indices_
    assert same_partition(ours.labels_[core], peer.labels_[core])
    np.testing.assert_array_equal(ours.labels_ == -1, peer.labels_ == -1)


@given(X=clouds(), radius=radii, min_density=st.integers(1, 5), border=st.booleans())
def test_dbscan_equals_the_reference(X, radius, min_density, border):
    model = DensityDBSCAN(NaiveDensity(radius), min_density, border).fit(X)
    D = reference.euclidean_distances(X)
    expected = reference.dbscan_labels(
        reference.within(D, radius), D, reference.naive_density(D, radius), min_density, border
    )
    found = np.append(model.peak_indices_, -1)[model.labels_]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("border", [True, False])
def test_dbscan_on_a_directed_graph_equals_the_reference(border):
    X = general_position(8, 70)
    model = DensityDBSCAN(KernelDiffusion(5), 1.1, border).fit(X)
    D = reference.euclidean_distances(X)
    expected = reference.dbscan_labels(rows_of(model.graph_), D, model.density_, 1.1, border)
    np.testing.assert_array_equal(np.append(model.peak_indices_, -1)[model.labels_], expected)


def test_iris_setosa_against_the_rest():
    X, y = load_iris(return_X_y=True)
    labels = DensityPeaks("fkd-asym", n_clusters=2).fit_predict(X)
    assert 100 * bcubed_scores(y, labels).f == pytest.approx(80.0, abs=0.05)


def test_all_noise_and_no_noise():
    X = general_position(9)
    assert np.all(DensityDBSCAN(min_density=1e9).fit(X).labels_ == -1)
    assert np.all(DensityDBSCAN(min_density=0).fit(X).labels_ >= 0)
    assert DensityDBSCAN(min_density=1e9).fit(X).n_clusters_ == 0


def test_recut_of_dbscan_equals_a_fit_with_that_threshold():
    X = general_position(10, 150)
    model = DensityDBSCAN().fit(X)
    for cut in ({}, {"min_density": 1.3}, {"border": False}, {"min_density": 0.7, "border": False}):
        np.testing.assert_array_equal(model.recut(**cut), DensityDBSCAN(**cut).fit(X).labels_)
    assert set(model.peak_indices_) <= set(model.forest_.roots) | set(model.core_sample_indices_)


def test_recut_belongs_to_the_fit_not_to_later_parameters():
    X = np.random.default_rng(0).normal(size=(1500, 5))
    model = DensityPeaks(random_state=np.random.RandomState(0)).fit(X)
    np.testing.assert_array_equal(model.recut(), model.labels_)
    before = model.recut(min_prominence=0.3)
    np.testing.assert_array_equal(model.set_params(density="lc").recut(min_prominence=0.3), before)


def test_recut_of_a_subclass():
    class Halved(DensityPeaks):
        def __init__(self, share=0.5):
            super().__init__(min_prominence=share)
            self.share = share

    X = general_position(11)
    assert Halved().fit(X).recut(n_clusters=3).max() == 2


def test_where_distances_concentrate_prominence_alone_decides():
    X, y = make_blobs(500, 500, centers=5, center_box=(-1, 1), random_state=0)
    model = DensityPeaks(smooth=False).fit(X)
    assert model.cut_.max_link == np.inf
    assert same_partition(model.labels_, y)
    assert same_partition(DensityPeaks().fit_predict(X), y)


@pytest.mark.parametrize("n_neighbors", [5, 9])
def test_neighbours_for_values_in_dbscan(n_neighbors):
    X = general_position(12)
    model = DensityDBSCAN(np.ones(len(X)), n_neighbors=n_neighbors).fit(X)
    assert model.graph_.n_neighbors == n_neighbors


def test_a_fit_that_fails_leaves_the_fit_before():
    X = general_position(13, 100)
    for model, broken in (
        (DensityPeaks(n_clusters=50), np.ones((20, 3))),
        (DensityDBSCAN(), np.full((20, 3), np.nan)),
        (KernelDiffusion(5), np.ones((3, 2))),
    ):
        model.fit(X)
        before = dict(vars(model))
        with pytest.raises(ValueError, match=r"n_clusters=50|NaN|n_neighbors=5"):
            model.fit(broken)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is before[name] for name in before)


def test_later_parameters_do_not_reach_into_the_fit():
    X = general_position(14, 100)
    model = DensityPeaks(n_clusters=3).fit(X)
    labels = model.recut(n_clusters=4)
    np.testing.assert_array_equal(model.set_params(halo=True).recut(n_clusters=4), labels)
    cores = DensityDBSCAN().fit(X)
    np.testing.assert_array_equal(cores.set_params(min_density=9.0, border=False).recut(), cores.labels_)
    density = KernelDiffusion().fit(X)
    scores = density.score_samples(X)
    np.testing.assert_array_equal(density.set_params(kernel="uniform", teleport=0.5).score_samples(X), scores)


def test_a_cut_can_be_changed_in_one_rule():
    X = general_position(3, 200)
    model = DensityPeaks().fit(X)
    np.testing.assert_array_equal(model.recut(cut=model.cut_), model.labels_)
    coarse = replace(model.cut_, min_prominence=np.inf)
    np.testing.assert_array_equal(
        model.recut(cut=coarse), model.recut(max_link=model.cut_.max_link, min_prominence=np.inf)
    )
    with refuses("no Cut"):
        model.recut(cut={"max_link": 1.0})
    with refuses("one of cut, peaks, and rules"):
        model.recut(max_link=1.0, cut=model.cut_)
    with refuses("max_link|-1"):
        model.recut(cut=replace(model.cut_, max_link=-1.0))


def test_cuts_that_are_none_are_refused_with_words():
    model = DensityPeaks().fit(general_position(0, 60))
    for peaks in (5, [[0, 1]], np.zeros((2, 2), int)):
        with refuses("peaks|dimensions|a list or an array"):
            model.recut(peaks=peaks)
    for name in ("max_link", "min_prominence"):
        with refuses(f"{name}=None|no number"):
            model.recut(cut=replace(model.cut_, **{name: None}))
