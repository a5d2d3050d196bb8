"""Noise and its fates against loops, and as users see them."""

import numpy as np
import pytest
import reference
import reference_clusters
from clouds import clouds, general_position, rows_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityPeaks, neighbor_graph

FATES = ["keep", "assign", "singletons"]


@given(
    X=clouds(min_samples=2),
    max_link=st.sampled_from([0.6, 1.1, 60.0]),
    min_cluster_size=st.integers(1, 6),
    halo=st.booleans(),
    fate=st.sampled_from(FATES),
    seed=st.integers(0, 999),
)
def test_against_loops(X, max_link, min_cluster_size, halo, fate, seed):
    density = np.random.default_rng(seed).integers(0, 6, len(X)).astype(float)
    model = DensityPeaks(density, max_link=max_link, n_neighbors=min(len(X), 4)).fit(X)
    D, order = reference.euclidean_distances(X), reference.density_order(density)
    rows = [[j for j in row if D[i][j] < max_link] for i, row in enumerate(rows_of(model.graph_))]
    peaks_of = model.peak_indices_[model.labels_].tolist()
    in_halo = reference.halo(rows, peaks_of, density) if halo else [False] * len(X)
    is_noise = reference_clusters.noise(peaks_of, min_cluster_size, in_halo)
    policy = {"halo": halo, "min_cluster_size": min_cluster_size, "noise": fate}
    if fate == "assign" and all(is_noise):
        with refuses("noise='assign'|every cluster|min_cluster_size|keep"):
            model.recut(max_link=max_link, **policy)
        return
    after = reference_clusters.peaks_after(peaks_of, is_noise, fate, D, order)
    labels, peaks = reference_clusters.labels_by_density(after, is_noise, order)
    np.testing.assert_array_equal(model.recut(max_link=max_link, **policy), labels)
    fitted = DensityPeaks(density, max_link=max_link, n_neighbors=min(len(X), 4), **policy).fit(X)
    np.testing.assert_array_equal(fitted.labels_, labels)
    np.testing.assert_array_equal(fitted.peak_indices_, peaks)
    assert fitted.n_clusters_ == len(peaks)


@pytest.mark.parametrize("cut", [{}, {"n_clusters": 9}, {"max_link": 0.4}, {"min_prominence": 0.2}], ids=str)
@pytest.mark.parametrize("fate", FATES)
def test_recut_equals_a_fit_with_that_policy(cut, fate):
    X = general_position(0, 150)
    policy = {"min_cluster_size": 8, "halo": True, "noise": fate}
    fitted = DensityPeaks(**cut, **policy).fit(X)
    np.testing.assert_array_equal(DensityPeaks().fit(X).recut(**cut, **policy), fitted.labels_)
    np.testing.assert_array_equal(fitted.recut(**cut), fitted.labels_)  # the policy is that of the fit
    plain = fitted.recut(**cut, min_cluster_size=1, halo=False, noise="keep")
    np.testing.assert_array_equal(plain, DensityPeaks(**cut).fit(X).labels_)
    assert fitted.labels_.max() == fitted.n_clusters_ - 1
    np.testing.assert_array_equal(fitted.labels_[fitted.peak_indices_], np.arange(fitted.n_clusters_))
    assert fate == "keep" or np.all(fitted.labels_ >= 0)


def test_assigned_noise_leaves_the_clusters_as_they_were():
    X = general_position(1, 200)
    model = DensityPeaks(max_link=0.5, min_cluster_size=10).fit(X)
    labels = model.recut(max_link=0.5, noise="assign")
    clustered = model.labels_ != -1
    assert 0 < clustered.sum() < 200
    np.testing.assert_array_equal(labels[clustered], model.labels_[clustered])


def test_the_densest_sample_in_a_small_cluster_joins_the_nearest_that_remains():
    X = np.array([0.0, 1, 2, 3, 10, 20, 21, 22, 23])[:, None]
    density = np.array([3.0, 5, 4, 2, 9, 1, 3, 4, 2])
    model = DensityPeaks(density, max_link=2.0, n_neighbors=3, min_cluster_size=2).fit(X)
    assert model.labels_.tolist() == [0, 0, 0, 0, -1, 1, 1, 1, 1]
    assert model.recut(max_link=2.0, noise="assign").tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert model.recut(max_link=2.0, noise="singletons").tolist() == [0, 0, 0, 0, 2, 1, 1, 1, 1]


def test_a_precomputed_graph_refuses_to_assign_over_what_it_does_not_know():
    graph = neighbor_graph([[0.0], [1.0], [9.0], [10.0], [11.0]], n_neighbors=2)
    density = [5.0, 1.0, 1.0, 2.0, 1.0]
    model = DensityPeaks(density, max_link=2.0, metric="precomputed").fit(graph)
    with refuses("no denser neighbour|precomputed graph"):
        model.recut(max_link=2.0, min_cluster_size=3, noise="assign")
    whole = neighbor_graph([[0.0], [1.0], [3.0], [4.0], [5.0]], n_neighbors=5)
    model = DensityPeaks(density, max_link=1.5, metric="precomputed").fit(whole)
    with refuses("noise='assign'|sample 0|densest|min_cluster_size"):
        model.recut(max_link=1.5, min_cluster_size=3, noise="assign")


@pytest.mark.parametrize("bad", [{"noise": "drop"}, {"min_cluster_size": 0}, {"min_cluster_size": 2.5}])
def test_bad_policies_are_refused(bad):
    X = general_position(2)
    with refuses(next(iter(bad))):
        DensityPeaks(**bad).fit(X)
    with refuses(next(iter(bad))):
        DensityPeaks().fit(X).recut(**bad)
