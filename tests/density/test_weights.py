"""Weights of samples: copies where they are whole numbers, absence where they are zero."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import clouds, general_position, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.cluster import DBSCAN

from diffpeaks import (
    ConvergenceError,
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    NaiveDensity,
    SharedNeighborDensity,
    neighbor_graph,
)

MODELS = [
    *(DensityPeaks(), DensityPeaks(halo=True, min_cluster_size=2), DensityPeaks(max_link=1.0)),
    *(DensityPeaks("naive"), DensityPeaks("lc", noise="singletons", min_cluster_size=3)),
    *(DensityPeaks("kd-asym"), DensityPeaks("fkd-sym", n_clusters=2)),
    *(DensityDBSCAN(), DensityDBSCAN("naive", 3.0), DensityDBSCAN("fkd-asym", border=False)),
]
BALLS = [
    KernelDiffusion(radius=1.5, bandwidth=1.0),
    KernelDiffusion(radius=1.5, bandwidth=1.0, steps=4, teleport=0.2),
    KernelDiffusion(radius=1.5, bandwidth=1.0, steps=np.inf),
    KernelDiffusion(radius=1.5, bandwidth=1.0, steps=np.inf, teleport=0.2),
    NaiveDensity(radius=1.5),
]


def fitted(model, X, weights):
    """The fit, or the words of its refusal."""
    try:
        return model.fit(X, sample_weight=weights)
    except (ValueError, ConvergenceError) as error:
        return str(error)


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(X=clouds(2), seed=st.integers(0, 99))
def test_a_weight_of_zero_is_a_sample_that_is_not_there(model, X, seed):
    weights = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    weights[0] += 1
    present = weights > 0
    alone = fitted(type(model)(**model.get_params()), X[present], weights[present])
    beside = fitted(type(model)(**model.get_params()), X, weights)
    if isinstance(alone, str):
        assert beside == alone
        return
    np.testing.assert_array_equal(beside.labels_[present], alone.labels_)
    np.testing.assert_array_equal(beside.density_[present], alone.density_)
    np.testing.assert_array_equal(beside.peak_indices_, np.flatnonzero(present)[alone.peak_indices_])
    if not present.all():
        np.testing.assert_array_equal(beside.labels_[~present], alone.predict(X[~present]))
    np.testing.assert_array_equal(beside.predict(X), beside.labels_)


@pytest.mark.parametrize("density", BALLS, ids=str)
@given(seed=st.integers(0, 99), counts=st.lists(st.integers(1, 4), min_size=3, max_size=30))
def test_whole_weights_are_copies_where_balls_are_given(density, seed, counts):
    X = general_position(seed, len(counts))
    many = np.repeat(np.arange(len(X)), counts)
    copies, weights = DensityPeaks(density).fit(X[many]), DensityPeaks(density).fit(X, sample_weight=counts)
    np.testing.assert_allclose(copies.density_, weights.density_[many], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(copies.score_samples(X + 0.1), weights.score_samples(X + 0.1), atol=1e-9)


@pytest.mark.parametrize("teleport", [0.0, 0.2])
def test_the_limit_of_a_weighted_walk_is_where_many_steps_lead(teleport):
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(40, 2)), random.uniform(0.5, 3, 40)
    densities = [
        DensityPeaks(KernelDiffusion(6, bandwidth=9.0, steps=steps, teleport=teleport))
        .fit(X, sample_weight=weights)
        .density_
        for steps in (20_000, np.inf)
    ]
    np.testing.assert_allclose(*densities, atol=1e-6)
    assert np.average(densities[1], weights=weights) == pytest.approx(1)


@given(seed=st.integers(0, 99), min_samples=st.integers(1, 12))
def test_weighted_dbscan_as_that_of_scikit_learn(seed, min_samples):
    X = general_position(seed, 60)
    weights = np.random.default_rng(seed).integers(1, 5, 60)
    peer = DBSCAN(eps=0.5, min_samples=min_samples).fit(X, sample_weight=weights)
    ours = DensityDBSCAN(NaiveDensity(radius=0.5), min_samples).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.core_sample_indices_, peer.core_sample_indices_)
    cores = peer.core_sample_indices_
    assert same_partition(ours.labels_[cores], peer.labels_[cores])
    np.testing.assert_array_equal(ours.labels_ == -1, peer.labels_ == -1)


def test_local_contrast_compares_weighted_counts():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = DensityPeaks("lc").fit(X, sample_weight=[5.0, 1.0, 1.0, 1.0])
    radius = model.density_estimator_.radius_
    inside = np.abs(X - X[:, 0]) <= radius
    np.testing.assert_array_equal(model.density_estimator_.naive_density_, inside @ [5, 1, 1, 1])


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_a_matrix_of_distances_with_weights_of_zero(kind):
    X = general_position(0, 60)
    D, weights = np.linalg.norm(X[:, None] - X, axis=2), np.arange(60) % 3.0
    present = weights > 0
    model, alone = (kind(metric="precomputed") for _ in range(2))
    model.fit(D, sample_weight=weights)
    alone.fit(D[np.ix_(present, present)], sample_weight=weights[present])
    np.testing.assert_array_equal(model.labels_[present], alone.labels_)
    np.testing.assert_array_equal(model.labels_[~present], alone.predict(D[np.ix_(~present, present)]))
    np.testing.assert_array_equal(model.predict(D[:7]), model.labels_[:7])


@pytest.mark.parametrize("graph", [lambda X: neighbor_graph(X, 5), lambda X: neighbor_graph(X, 5).to_scipy()])
def test_a_graph_takes_no_weights_of_zero(graph):
    given_graph, weights = graph(general_position(0, 30)), np.ones(30)
    model = DensityPeaks(metric="precomputed").fit(given_graph, sample_weight=weights + np.arange(30))
    assert len(model.labels_) == 30
    weights[4] = 0
    with refuses("sample_weight of sample 4 is zero|graph cannot|leave"):
        DensityPeaks(metric="precomputed").fit(given_graph, sample_weight=weights)


def test_weights_of_zero_and_sparse_points():
    X, weights = np.abs(general_position(0, 60)), np.arange(60) % 2.0
    dense, sparse = (DensityPeaks().fit(made, sample_weight=weights) for made in (X, sp.csr_array(X)))
    assert len(sparse.labels_) == len(dense.labels_) == 60
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)


def test_bad_values_of_absent_samples_are_refused_by_their_rows():
    X, weights = general_position(0, 30), np.ones(30)
    X[7], weights[[3, 7]] = np.nan, 0
    with refuses("NaN in rows [7]"):
        DensityPeaks().fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    "density",
    [SharedNeighborDensity(), np.ones(20), lambda graph: graph.degrees],
    ids=["shared", "values", "function"],
)
def test_densities_on_which_weights_have_no_effect_refuse_them(density):
    for kind in (DensityPeaks, DensityDBSCAN):
        with refuses("sample_weight has no effect|use density=None"):
            kind(density).fit(general_position(0, 20), sample_weight=np.ones(20))
