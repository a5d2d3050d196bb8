"""Lone samples follow most of their neighbours, and no others."""

from functools import partial

import numpy as np
import pytest
from clouds import clouds, rows_of
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import NOISE, DensityPeaks
from diffpeaks.datasets import make_faces
from diffpeaks.lone import agreed_labels
from diffpeaks.metrics import bcubed_scores
from diffpeaks.neighbors.contract import Neighbors

FACES, PERSONS = make_faces(1500, n_identities=400, singleton_share=0.2, random_state=0)


@given(
    rows=st.lists(st.lists(st.integers(0, 7), max_size=6), max_size=8),
    labels=st.lists(st.integers(-1, 2), min_size=8, max_size=8),
    max_link=st.sampled_from([0.0, 2.5, np.inf]),
)
def test_most_of_a_row_as_loops(rows, labels, max_link):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([j for row in rows for j in row], np.int32)
    distances = np.array([float(place) for row in rows for place in range(len(row))], np.float32)
    expected = []
    for row in rows:
        near = [labels[j] for place, j in enumerate(row) if place < max_link]
        expected.append(next((c for c in (0, 1, 2) if 2 * near.count(c) > len(row)), NOISE))
    found = agreed_labels(Neighbors(indptr, indices, distances), np.array(labels), max_link)
    assert found.tolist() == expected


def is_nearer(X, i, length, j):
    return np.linalg.norm(X[i].astype(float) - X[j]) < length


def check_lone(model, X):
    """Every sample against the clusters that there are before lone samples are linked, round by round."""
    cut, rank = model.cut_, model.forest_.rank
    before = model.recut(max_link=cut.max_link, min_prominence=cut.min_prominence)
    label, linked = before.tolist(), {}
    everyone, places = np.arange(len(X)), model._places
    first = everyone if places.first is None else places.first[places.number]  # at the place of each
    for graph, all_agree in ((model._linked(), False), (model.graph_, True)):
        rows, found = rows_of(graph), {None: None}
        sizes_before = np.bincount(np.array(label)[first == everyone])  # in places
        while found:
            sizes, found = np.bincount(np.array(label)[first == everyone]), {}
            for i in (i for i, of_i in enumerate(label) if sizes[of_i] == 1 and first[i] == i):
                near = partial(is_nearer, X, i, (1.25 if all_agree else 1.0) * cut.max_lone_link)
                others = rows[i][1:]
                votes = [label[j] for j in others if sizes[label[j]] > 1 and (all_agree or near(j))]
                needed = len(others) - 1 if all_agree else len(others) / 2
                agreed = next((c for c in votes if votes.count(c) > needed), None)
                denser = [j for j in others if label[j] == agreed and rank[j] < rank[i]]
                if all_agree:
                    denser = [j for j in denser if near(j) and 8 * len(others) <= sizes_before[agreed]]
                found |= {i: denser[0]} if agreed is not None and denser else {}
            linked |= found
            label = [label[found.get(i, i)] for i in first]
    assert {i: model.forest_.parent[i] for i in linked} == linked
    pairs = set(zip(label, model.labels_.tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    return len(linked)


def test_samples_that_noise_carried_far_stay_with_all_of_their_neighbours():
    noise = np.random.RandomState(0).standard_normal((1000, 50))
    model = DensityPeaks().fit(noise)
    assert model.labels_.max() < 30
    assert check_lone(model, model._seen().space.points) > 100
    strays = noise[:3] + 100 * np.array([[1.0], [2.0], [3.0]])
    labels = DensityPeaks().fit_predict(np.concatenate([noise, strays]))
    assert np.all(np.bincount(labels)[labels[-3:]] == 1)


def test_copies_of_a_lone_sample_are_as_alone_as_it_is():
    for seed in range(10):
        random = np.random.RandomState(seed)
        X, weights = random.standard_normal((60, 20)), random.randint(1, 4, 60)
        weighed = DensityPeaks().fit(X, sample_weight=weights)
        copied = DensityPeaks().fit(np.repeat(X, weights, axis=0))
        np.testing.assert_array_equal(copied.labels_, np.repeat(weighed.labels_, weights))


def test_lone_faces_follow_the_rule():
    model = DensityPeaks(smooth=False).fit(FACES)
    assert check_lone(model, FACES) > 5
    assert bcubed_scores(PERSONS, model.labels_).f > 0.95
    np.testing.assert_array_equal(model.predict(FACES), model.labels_)
    assert model.hierarchy(model.cut_.max_link).labels_at(model.cut_.min_prominence).tolist() == (
        model.labels_.tolist()
    )


@given(X=clouds(3))
def test_lone_samples_follow_the_rule_anywhere(X):
    check_lone(DensityPeaks(smooth=False).fit(X), X)


def test_new_lone_samples_follow_most_of_their_neighbours():
    model = DensityPeaks(smooth=False).fit(FACES[:1000])
    new = FACES[1000:]
    within = model.density_estimator_._points.nearest_to(new, 6)
    distances, indices = within.distances.reshape(-1, 6), within.indices.reshape(-1, 6)
    n_counting = round(0.25 * model.density_estimator_.n_neighbors_) - 1
    lone = np.flatnonzero(distances[:, 0] >= model.cut_.max_link)
    assert n_counting <= 6
    assert len(lone) > 5
    predicted = model.predict(new)
    for i in lone:
        near = distances[i, :n_counting] < model.cut_.max_lone_link
        votes = model.labels_[indices[i, :n_counting][near]].tolist()
        expected = next((c for c in votes if 2 * votes.count(c) > n_counting), NOISE)
        assert predicted[i] == expected


@pytest.mark.parametrize("cut", [{"max_link": 0.9}, {"n_clusters": 3}, {"min_prominence": 0.5}])
def test_a_cut_of_the_user_leaves_lone_samples_alone(cut):
    model = DensityPeaks(**cut).fit(FACES)
    assert model.cut_.max_lone_link is None
    assert not cut.get("max_link") or model.forest_.delta[model.forest_.parent >= 0].max() < 0.9
