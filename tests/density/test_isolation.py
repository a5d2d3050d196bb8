"""Samples far from all others: told from the distances to nearest neighbours, and what comes of it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from diffpeaks import DensityDBSCAN, DensityPeaks, neighbor_graph
from diffpeaks.datasets import make_faces
from diffpeaks.density.samples import isolation_by
from diffpeaks.metrics import bcubed_scores

FACES, PEOPLE = make_faces(2000, n_features=64, singleton_share=0.3, random_state=0)


def lengths(near=900, valley=10, strangers=200, tail=0):
    """So many nearest neighbours at each distance, in units of that of random pairs."""
    parts = (0.45, near), (0.65, valley), (0.8, strangers), (1.2, tail)
    return np.concatenate([np.full(number, length) for length, number in parts])


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (lengths(), "strangers"),
        (np.concatenate([lengths(), np.linspace(0.4, 0.95, 600)]), "strangers"),
        (np.concatenate([lengths(), np.linspace(0.4, 0.95, 3000)]), "outliers"),  # less than twice the valley
        (np.random.RandomState(0).normal(0.72, 0.05, 1000), "outliers"),  # one peak, whose slope is no valley
        (lengths(tail=1), "strangers"),
        (
            lengths(tail=3),
            "outliers",
        ),  # of the far ones too many are farther than random pairs
        (lengths(strangers=9), "none"),
        (lengths(near=1, valley=0), "unknown"),  # all are far: distances have concentrated
        (np.empty(0), "none"),
    ],
)
def test_strangers_make_a_peak_and_outliers_a_tail(found, kind):
    isolation = isolation_by(found)
    assert isolation.kind == kind
    assert isolation.are_strangers == (kind == "strangers")
    assert str(isolation).count("strangers") == (kind == "strangers")


def test_people_seen_once_stay_alone():
    model = DensityPeaks().fit(FACES)
    assert model.isolation_.kind == "strangers"
    assert model.smoothing_ is None
    assert np.isfinite(model.cut_.max_link)
    alone = np.bincount(PEOPLE)[PEOPLE] == 1
    assert np.mean(np.bincount(model.labels_)[model.labels_[alone]] == 1) > 0.95
    assert bcubed_scores(PEOPLE, model.labels_).f > 0.95
    assert DensityDBSCAN().fit(FACES).isolation_.kind == "strangers"


def test_random_state_draws_the_pairs_that_say_what_far_is():
    fixed, again = (DensityPeaks().fit(FACES).cut_.max_link for _ in range(2))
    one, other = (DensityPeaks(random_state=seed).fit(FACES).cut_.max_link for seed in (1, 2))
    assert fixed == again
    assert one != other
    assert one == pytest.approx(other, rel=0.02)


def test_a_generator_is_asked_for_a_seed_at_the_fit_alone():
    generator = np.random.RandomState(0)
    model = DensityPeaks(n_clusters=4, random_state=generator).fit(FACES)
    drawn = DensityPeaks(random_state=model._landscape.seed).fit(FACES).cut_.max_link
    before = generator.get_state()[2]
    model.recut()
    assert generator.get_state()[2] == before
    assert model._landscape.automatic_cut.max_link == drawn


def test_poor_samples_of_a_cluster_stay_with_it():
    X, _ = make_blobs(600, 50, centers=3, random_state=0)
    X[:12] += 120 * np.random.RandomState(0).normal(size=(12, 50)) / np.sqrt(50)
    model = DensityPeaks().fit(X)
    assert model.isolation_.kind == "outliers"
    assert model.cut_.max_link == np.inf
    assert np.bincount(model.labels_).min() > 100
    assert "farther from all others than random pairs" in str(model.isolation_)


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_a_graph_does_not_tell(kind):
    model = kind(metric="precomputed").fit(neighbor_graph(FACES, 20))
    assert model.isolation_.kind == "unknown"
    assert "do not show" in str(model.isolation_)


def test_users_have_the_last_word():
    kept = DensityPeaks(min_cluster_size=2).fit(FACES)
    assert np.mean(kept.labels_ == -1) > 0.25
    linked = DensityPeaks(max_link=np.inf).fit(FACES)
    assert linked.isolation_.kind == "strangers"
    assert linked.n_clusters_ < 100


def test_it_is_kept_in_files(tmp_path):
    model = DensityPeaks().fit(FACES[:500])
    model.save(tmp_path / "faces.model")
    assert DensityPeaks.load(tmp_path / "faces.model").isolation_ == model.isolation_
