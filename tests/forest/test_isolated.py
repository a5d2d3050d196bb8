"""Among strangers, samples without links join the cluster whose mean they resemble: against plain loops."""

from dataclasses import replace

import numpy as np
import pytest

from diffpeaks import DensityPeaks
from diffpeaks.datasets import make_faces
from diffpeaks.forest.isolated import _best_bound
from diffpeaks.metrics import bcubed_scores
from diffpeaks.recipes import DEFAULT, FACES

APART = replace(DEFAULT, join_lone=False)


@pytest.fixture(scope="module")
def faces():
    """Many people seen once, and poor photographs of those seen often."""
    X, y = make_faces(2500, 900, singleton_share=0.3, random_state=0)
    return X, y


def unit(vector):
    return vector / np.sqrt(np.sum(vector**2))


def joined_by_loops(X, labels):
    """The labels after each lone sample has joined the nearest mean direction, if that is near enough."""
    members = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
    clusters = [c for c in members if len(members[c]) > 1]
    means = {c: unit(X[members[c]].astype(np.float64).sum(axis=0)) for c in clusters}
    to_own, to_other = [], []
    for c in clusters:
        for i in members[c]:
            others = X[members[c]].astype(np.float64).sum(axis=0) - X[i]
            to_own.append(np.linalg.norm(X[i] - unit(others)))
            to_other.append(min(np.linalg.norm(X[i] - means[o]) for o in clusters if o != c))
    bound, fewest = 0.0, np.inf
    for length in sorted(to_own):
        mistakes = np.mean(np.array(to_own) > length) + np.mean(np.array(to_other) <= length)
        if mistakes < fewest:
            fewest, bound = mistakes, min((other for other in to_other if other > length), default=0.0)
    joined = labels.copy()
    for c in members:
        if len(members[c]) == 1:
            sample = members[c][0]
            apart = {o: np.linalg.norm(X[sample] - means[o]) for o in clusters}
            nearest = min(apart, key=apart.get)
            if apart[nearest] < bound:
                joined[sample] = nearest
    return joined


def same_partition(labels, others):
    pairs = len(set(zip(labels.tolist(), others.tolist(), strict=True)))
    return pairs == len(np.unique(labels)) == len(np.unique(others))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_lone_samples_join_as_the_loops_say(faces, metric):
    X, y = faces
    apart = DensityPeaks(recipe=APART, metric=metric).fit(X)
    model = DensityPeaks(metric=metric).fit(X)
    assert model.isolation_.are_strangers
    assert model.n_clusters_ < apart.n_clusters_
    assert same_partition(model.labels_, joined_by_loops(X, apart.labels_))
    assert bcubed_scores(y, model.labels_).f > bcubed_scores(y, apart.labels_).f


def test_whoever_joined_is_explained_and_kept(faces, tmp_path):
    X, _ = faces
    apart, model = DensityPeaks(recipe=APART).fit(X), DensityPeaks().fit(X)
    lone = np.flatnonzero(np.bincount(apart.labels_)[apart.labels_] == 1)
    joined = lone[np.bincount(model.labels_)[model.labels_[lone]] > 1]
    for sample in joined.tolist():
        told = model.explain(sample)
        assert told.reason == "resembles"
        assert told.peak == model.peak_indices_[model.labels_[sample]]
        assert told.path == (sample, told.peak)
        assert told.saddles == ()
    others = np.setdiff1d(np.arange(len(X)), lone)[:200]
    assert "resembles" not in {model.explain(int(sample)).reason for sample in others}
    np.testing.assert_array_equal(model.recut(), model.labels_)
    np.testing.assert_array_equal(model.recut(cut=model.cut_), model.labels_)
    model.save(tmp_path / "faces")
    np.testing.assert_array_equal(DensityPeaks.load(tmp_path / "faces").recut(), model.labels_)


def test_the_recipe_for_faces_bounds_links_without_strangers_too():
    X, y = make_faces(4000, random_state=1)
    default, faces = DensityPeaks().fit(X), DensityPeaks(recipe=FACES).fit(X)
    assert default.isolation_.kind == faces.isolation_.by_distances == "outliers"
    assert default.cut_.max_link == np.inf > faces.cut_.max_link
    assert faces.smoothing_ is not None  # only those that distances show to be strangers forbid it
    assert bcubed_scores(y, faces.labels_).precision > bcubed_scores(y, default.labels_).precision


def test_copies_are_weights(faces):
    X, _ = faces
    apart, model = DensityPeaks(recipe=APART).fit(X), DensityPeaks().fit(X)
    joined = np.flatnonzero(np.bincount(apart.labels_)[apart.labels_] == 1)
    joined = joined[np.bincount(model.labels_)[model.labels_[joined]] > 1]
    again = np.concatenate([joined, np.flatnonzero(np.bincount(model.labels_)[model.labels_] > 5)[:200]])
    copies = DensityPeaks().fit(np.vstack([X, X[again]]))
    weights = DensityPeaks().fit(X, sample_weight=1.0 + np.isin(np.arange(len(X)), again))
    assert same_partition(copies.labels_[: len(X)], weights.labels_)
    np.testing.assert_array_equal(copies.labels_[len(X) :], copies.labels_[again])


@pytest.mark.parametrize(("n_samples", "share", "seed"), [(500, 0.8, 0), (300, 0.5, 2), (1000, 0.6, 1)])
def test_few_clusters_tell_nothing_about_strangers(n_samples, share, seed):
    X, _ = make_faces(n_samples, singleton_share=share, random_state=seed)
    model, apart = DensityPeaks().fit(X), DensityPeaks(recipe=APART).fit(X)
    assert model.isolation_.are_strangers
    np.testing.assert_array_equal(model.labels_, apart.labels_)


def test_without_strangers_nobody_joins():
    X = np.random.default_rng(0).normal(size=(600, 20))
    model, apart = DensityPeaks().fit(X), DensityPeaks(recipe=APART).fit(X)
    assert not model.isolation_.are_strangers
    np.testing.assert_array_equal(model.labels_, apart.labels_)


@pytest.mark.parametrize(
    ("to_own", "to_other", "bound"),
    [
        ([1.0, 2.0], [5.0, 6.0], 5.0),  # apart: up to the next other
        ([1.0, 2.0, 9.0], [5.0, 6.0, 7.0], 5.0),  # one member lost rather than three others taken
        ([1.0, 4.0], [3.0, 6.0, 7.0], 6.0),  # one other taken rather than one of two members lost
        ([8.0, 9.0], [1.0, 2.0], 0.0),  # no length tells them apart
    ],
)
def test_the_bound_makes_the_fewest_mistakes(to_own, to_other, bound):
    assert _best_bound(np.array(to_own), np.array(to_other)) == bound
