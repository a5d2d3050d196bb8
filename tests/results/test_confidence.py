"""Memberships, probabilities and outlier scores against loops, and as users see them."""

import pickle

import numpy as np
import pytest
import reference
import reference_clusters
from clouds import clouds_and_k, general_position, rows_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityPeaks, NaiveDensity, neighbor_graph
from diffpeaks.results import confidence


@st.composite
def labelled(draw):
    """A graph and labels that know nothing of it, with noise; ties abound."""
    X, k = draw(clouds_and_k())
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_clusters = draw(st.integers(1, 5))
    return X, neighbor_graph(X, k), random.integers(-1, n_clusters, len(X)), n_clusters


def expected_shares(X, graph, labels):
    D = reference.euclidean_distances(X)
    return reference_clusters.shares(D, rows_of(graph), labels.tolist(), confidence.LEAD_OF_THE_LABEL)


@given(case=labelled())
def test_shares_of_all_clusters(case):
    X, graph, labels, n_clusters = case
    found = confidence.memberships(graph, labels, n_clusters, top=n_clusters).toarray()
    own = confidence.probabilities(graph, labels, n_clusters)
    for i, shares in enumerate(expected_shares(X, graph, labels)):
        np.testing.assert_allclose(found[i], [shares.get(c, 0.0) for c in range(n_clusters)], rtol=1e-12)
        assert own[i] == pytest.approx(shares.get(labels[i], 0.0))


@given(case=labelled(), top=st.integers(1, 4), dtype=st.sampled_from([np.float64, np.float32]))
def test_the_label_is_the_argmax_whatever_is_kept(case, top, dtype):
    _, graph, labels, n_clusters = case
    found = confidence.memberships(graph, labels, n_clusters, top)
    clustered = labels != -1
    lengths = np.diff(found.indptr)
    assert found.shape == (graph.n_samples, n_clusters)
    assert np.all(lengths[clustered] >= 1)
    assert np.all(lengths <= top)
    assert not lengths[~clustered].any()
    dense = found.astype(dtype).toarray()[clustered]
    np.testing.assert_array_equal(dense.argmax(axis=1), labels[clustered])
    np.testing.assert_array_equal(dense[:, ::-1].argmax(axis=1), n_clusters - 1 - labels[clustered])
    np.testing.assert_allclose(dense.sum(axis=1), 1, rtol=1e-6)


@given(case=labelled(), top=st.integers(1, 4))
def test_the_largest_shares_are_kept_and_their_ratios(case, top):
    _, graph, labels, n_clusters = case
    whole = confidence.memberships(graph, labels, n_clusters, n_clusters).toarray()
    few = confidence.memberships(graph, labels, n_clusters, top).toarray()
    for i in np.flatnonzero(labels != -1):
        kept = few[i] > 0
        assert kept.sum() == min(top, np.count_nonzero(whole[i]))
        np.testing.assert_allclose(few[i, kept], whole[i, kept] / whole[i, kept].sum(), rtol=1e-12)
        assert whole[i, ~kept].max(initial=0) <= whole[i, kept].min() * (1 + 1e-12)


@given(case=clouds_and_k(), seed=st.integers(0, 999))
def test_outlier_scores(case, seed):
    X, k = case
    graph = neighbor_graph(X, k)
    density = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    expected = reference_clusters.outlier_scores(reference.euclidean_distances(X), rows_of(graph), density)
    np.testing.assert_allclose(confidence.outlier_scores(graph, density), expected, rtol=1e-12, atol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    model = DensityPeaks(n_clusters=4, halo=True).fit(general_position(0, 150))
    arguments = (model.graph_, model.labels_, 4)
    whole = confidence.memberships(*arguments, top=2)
    monkeypatch.setattr("diffpeaks.graph.rows._BLOCK_ENTRIES", 50)
    parts = confidence.memberships(*arguments, top=2)
    np.testing.assert_array_equal(parts.toarray(), whole.toarray())
    np.testing.assert_array_equal(confidence.probabilities(*arguments), model.probabilities_)
    np.testing.assert_array_equal(
        confidence.outlier_scores(model.graph_, model.density_), model.outlier_scores_
    )


@pytest.mark.parametrize("fate", ["keep", "assign", "singletons"])
def test_of_a_fit(fate):
    X = general_position(1, 200)
    model = DensityPeaks("fkd-asym", n_clusters=8, halo=True, min_cluster_size=6, noise=fate).fit(X)
    found = model.memberships(top=2)
    clustered = model.labels_ != -1
    assert found.shape == (200, model.n_clusters_)
    np.testing.assert_array_equal(found.toarray().argmax(axis=1)[clustered], model.labels_[clustered])
    assert not model.probabilities_[~clustered].any()
    assert np.all(model.probabilities_[clustered] > 0)
    everything = model.memberships(top=model.n_clusters_).toarray()
    np.testing.assert_allclose(everything.max(axis=1), model.probabilities_, rtol=1e-12)
    assert np.all((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1))


def test_sure_inside_and_torn_between():
    """Two groups on a line and one sample in the very middle, which sees three of each besides itself."""
    X = np.array([0.0, 1, 2, 3, 7, 8, 9, 10, 5.0])[:, None]
    density = np.array([1.0, 4, 3, 2, 2, 3, 4, 1, 0.1])
    model = DensityPeaks(density, n_clusters=2, n_neighbors=5).fit(X)
    assert model.labels_[:4].tolist() == [0] * 4
    assert model.labels_[4:8].tolist() == [1] * 4
    assert model.probabilities_[1] > 0.8
    assert 0.5 < model.probabilities_[8] < 0.8  # itself and a half of the others
    assert model.outlier_scores_[8] > 0.9
    assert model.outlier_scores_[1] == 0


def test_a_sample_alone_in_its_ball_is_an_outlier():
    X = np.array([[0.0], [0.5], [1.0], [30.0]])
    model = DensityPeaks(NaiveDensity(radius=1.0)).fit(X)
    assert model.outlier_scores_[3] == 1
    assert model.probabilities_[3] == 1  # it makes a cluster of its own


def test_all_noise():
    model = DensityPeaks(min_cluster_size=100).fit(general_position(2, 40))
    assert model.memberships().shape == (40, 0)
    assert not model.probabilities_.any()


@pytest.mark.parametrize("name", ["probabilities_", "outlier_scores_"])
def test_computed_when_asked_for_once_a_fit(name):
    X = general_position(3, 80)
    model = DensityPeaks()
    assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        getattr(model, name)
    model.fit(X)
    assert not any("kept" in key for key in vars(model))  # the fit itself pays nothing
    first = getattr(model, name)
    assert getattr(model, name) is first
    np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), name), first)
    assert len(getattr(model.fit(X[:50]), name)) == 50


def test_refusals():
    with pytest.raises(NotFittedError):
        DensityPeaks().memberships()
    model = DensityPeaks().fit(general_position(4))
    with refuses("top=0|at least 1"):
        model.memberships(0)
    with refuses("top|integer|2.5"):
        model.memberships(2.5)
