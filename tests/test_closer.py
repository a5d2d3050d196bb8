"""Where nearly all samples would be one cluster, fewer neighbours tell small groups apart."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refuses
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score
from small_groups import small_groups

from diffpeaks import DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.recipes import DEFAULT, Recipe
from diffpeaks.results.facts import facts_of, neighbors_told

ALL_NEIGHBORS = replace(DEFAULT, dominant=1.0)


@pytest.mark.parametrize(("n_features", "step", "agreement"), [(2, 6.0, 0.85), (8, 4.5, 0.5)])
def test_small_groups_are_told_apart(n_features, step, agreement):
    X, y = small_groups(n_features=n_features, step=step)
    with_all = DensityPeaks(recipe=ALL_NEIGHBORS).fit(X)
    model = DensityPeaks().fit(X)
    assert np.bincount(with_all.labels_).max() > 0.75 * len(X)
    assert np.bincount(model.labels_).max() <= 0.25 * len(X)
    assert adjusted_rand_score(y, model.labels_) > agreement
    assert model.graph_.n_neighbors == round(with_all.graph_.n_neighbors / 2)
    assert (model.smoothing_ is None) == (n_features == 2)


def test_what_was_tried_is_told():
    X, _ = small_groups()
    told = facts_of(DensityPeaks().fit(X))
    assert told["tried"] == {"n_neighbors": 24, "largest_share": 1.0}
    assert neighbors_told(told) == "12 for each sample (with 24, 100% of the samples would be one cluster)"
    told = facts_of(DensityPeaks().fit(load_iris().data))
    assert told["tried"] is None
    assert neighbors_told(told) == "22 for each sample"


def test_it_is_the_density_of_fewer_neighbors_and_a_higher_rise():
    """The same samples, smoothed with all neighbours; by chance log densities differ by 1 / sqrt(k)."""
    X, _ = small_groups(n_features=8, step=4.5)
    model, n_neighbors = DensityPeaks().fit(X), 12
    closer = replace(DEFAULT, dominant=1.0, rise=DEFAULT.rise * 2**0.5)
    start_power = model.density_estimator_.start_power
    spelled = DensityPeaks(KernelDiffusion(n_neighbors, steps=3, start_power=start_power), recipe=closer)
    np.testing.assert_array_equal(spelled.fit_predict(X), model.labels_)
    np.testing.assert_array_equal(spelled.density_, model.density_)
    assert spelled.smoothing_ == model.smoothing_


@pytest.mark.parametrize("n_features", [1, 2, 3, 10])
def test_noise_stays_one_cluster(n_features):
    random = np.random.RandomState(0)
    for n_samples in (100, 400, 1000):
        X = random.normal(size=(n_samples, n_features))
        assert DensityPeaks().fit(X)._landscape.tried is None


def test_a_large_cluster_stays_whole():
    """One group of most samples is no reason to look closer, unless fewer neighbours split it evenly."""
    random = np.random.RandomState(0)
    X = np.vstack([random.normal(size=(500, 2)), random.normal(size=(40, 2)) + 12])
    model = DensityPeaks().fit(X)
    np.testing.assert_array_equal(model.labels_, DensityPeaks(recipe=ALL_NEIGHBORS).fit_predict(X))
    assert np.bincount(model.labels_).tolist() == [500, 40]


def test_neighbors_and_densities_that_are_given_are_kept():
    X, _ = small_groups()
    for model in (DensityPeaks(n_neighbors=24), DensityPeaks("fkd-asym"), DensityPeaks(recipe=ALL_NEIGHBORS)):
        assert model.fit(X)._landscape.tried is None
    graph = neighbor_graph(X, 24)
    assert DensityPeaks(metric="precomputed").fit(graph).graph_.n_neighbors == 24


def test_a_cut_that_is_given_does_not_choose_the_neighbors():
    X, _ = small_groups()
    model, given = DensityPeaks().fit(X), DensityPeaks(n_clusters=16).fit(X)
    np.testing.assert_array_equal(given.density_, model.density_)
    np.testing.assert_array_equal(given.labels_, model.recut(n_clusters=16))


def test_weights_act_as_copies():
    """The share of a cluster is that of its weight."""
    X, _ = small_groups()
    weights = np.where(np.arange(len(X)) % 16 < 3, 3, 1)
    weighed = DensityPeaks().fit(X, sample_weight=weights)
    repeated = DensityPeaks().fit(np.repeat(X, weights, axis=0))
    assert weighed._landscape.tried is not None
    np.testing.assert_array_equal(np.repeat(weighed.labels_, weights), repeated.labels_)
    heavy = np.where(np.arange(len(X)) < 16, 1000, 1)  # one group outweighs all others
    assert DensityPeaks().fit(X, sample_weight=heavy)._landscape.tried is None


def test_a_saved_model_knows_what_was_tried(tmp_path):
    X, _ = small_groups()
    model = DensityPeaks().fit(X)
    model.save(tmp_path / "model")
    loaded = DensityPeaks.load(tmp_path / "model")
    assert loaded._landscape.tried == model._landscape.tried
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)


def test_shares_out_of_bounds_are_refused():
    with refuses("dominant=0.4|0.5"):
        Recipe(dominant=0.4)
    with refuses("closer_share=0"):
        Recipe(closer_share=0)


def test_two_moons_keep_all_neighbors():
    X, _ = make_moons(400, noise=0.06, random_state=0)
    assert DensityPeaks().fit(X)._landscape.tried is None
