"""What the page is sent: packed arrays come out as they went in, thinning keeps what must be seen."""

import json

import numpy as np
import pytest
from clouds import general_position, same_partition
from hypothesis import given
from hypothesis import strategies as st
from packets import unpacked
from refusals import refuses

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions
from diffpeaks.explorer.selection import inside
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import (
    Scene,
    drawn_samples,
    hills_to_plot,
    listed_clusters,
    log_positions,
    packed,
    packed_clustering,
)
from diffpeaks.explorer.words import Shown, about_cluster, about_sample

X = general_position(4, 220)
MODEL = DensityPeaks().fit(X)


@given(text=st.text(), numbers=st.lists(st.integers(0, 2**31 - 1)), reals=st.lists(st.floats(width=32)))
def test_packets_come_out_as_they_went_in(text, numbers, reals):
    found = unpacked(packed({"text": text}, numbers=np.array(numbers, np.int64), reals=np.array(reals, "f4")))
    assert found["text"] == text
    assert found["numbers"].tolist() == numbers
    np.testing.assert_array_equal(found["reals"], np.array(reals, np.float32))


@given(n_samples=st.integers(1, 400), most=st.integers(2, 120), seed=st.integers(0, 99))
def test_thinning_keeps_what_comes_first(n_samples, most, seed):
    random = np.random.default_rng(seed)
    rank = random.permutation(n_samples).astype(np.int32)
    first = [random.permutation(n_samples)[:5], random.permutation(n_samples)]
    drawn = drawn_samples(first, rank, most)
    assert len(drawn) == len(np.unique(drawn)) == min(n_samples, most)
    assert np.all(np.diff(rank[drawn]) < 0)  # the densest is drawn last, on top
    if n_samples > most:
        assert set(first[0][: most // 2]) <= set(drawn)


def test_log_positions_hold_zero_and_infinity():
    found = log_positions(np.array([0.0, 0.1, 10.0, np.inf]))
    assert found[1:3].tolist() == [-1, 1]
    assert found[0] < found[1]
    assert found[3] > found[2]
    assert np.isfinite(log_positions(np.array([0.0, np.inf]))).all()


def test_the_largest_clusters_are_listed_in_the_order_of_labels():
    sizes = np.array([5, 1, 9, 2])
    assert listed_clusters(sizes).tolist() == [0, 1, 2, 3]
    assert listed_clusters(sizes, 2).tolist() == [0, 2]


@given(n_hills=st.integers(0, 5000))
def test_hills_are_thinned_from_the_least_prominent_on(n_hills):
    places = hills_to_plot(np.arange(n_hills)[::-1].astype(float), 100)
    assert len(places) <= 100
    assert places[: min(50, n_hills)].tolist() == list(range(min(50, n_hills)))
    assert n_hills == 0 or places[-1] == n_hills - 1


def scene_of(session, most=10**6):
    return Scene.of(session.model, X, most)


def test_a_thinned_scene_has_all_peaks_and_labels_of_what_is_drawn():
    session = Session(MODEL)
    scene = scene_of(session, 50)
    found = unpacked(scene.packed({}))
    assert (found["n_samples"], found["n_drawn"]) == (220, 50)
    assert set(MODEL.peak_indices_) <= set(found["drawn"])
    np.testing.assert_array_equal(found["map"].reshape(-1, 2), X[found["drawn"]].astype(np.float32))
    session.set_rule("n_clusters", 7)
    now = unpacked(packed_clustering(session, scene, np.arange(7) % 3, {}))
    np.testing.assert_array_equal(now["labels"], session.labels[found["drawn"]])
    assert same_partition(now["labels"], MODEL.recut(n_clusters=7)[found["drawn"]])
    assert now["sizes"].sum() == 220
    np.testing.assert_array_equal(now["peaks_map"].reshape(-1, 2), X[now["peaks"]].astype(np.float32))


def test_delta_of_hilltops_is_filled_in_when_it_is_known():
    session = Session(MODEL)
    scene = scene_of(session)
    exact = scene.with_exact_delta(session.model)
    delta = MODEL.decision_graph()[1]
    known = np.isfinite(delta)
    assert not scene.is_exact
    np.testing.assert_allclose(10 ** exact.in_graph[known, 1].astype(float), delta[known], rtol=1e-5)
    assert exact.in_graph[~known, 1].min() > exact.in_graph[known, 1].max()
    assert exact.link_range == (delta[known & (delta > 0)].min(), delta[known].max())


def test_a_lasso_finds_what_is_inside():
    scene = scene_of(Session(MODEL))
    low, high = scene.in_graph.min(axis=0) - 1, scene.in_graph.max(axis=0) + 1
    middle = np.median(scene.in_graph[:, 0])
    right_half = [[middle, low[1]], [high[0], low[1]], [high[0], high[1]], [middle, high[1]]]
    found = set(inside(scene.in_graph, right_half).tolist())
    assert found == set(np.flatnonzero(scene.in_graph[:, 0] > middle).tolist())
    assert (
        len(inside(scene.in_graph, [[low[0] - 9, low[1]], [low[0] - 8, low[1]], [low[0] - 8, high[1]]])) == 0
    )


@pytest.mark.parametrize("sample", [0, 7, 219])
def test_a_sample_is_explained_as_the_model_explains_it(sample):
    session = Session(MODEL)
    show = Shown(
        session, scene_of(session), Captions(220, text=np.array([f"<b>{i}</b>" for i in range(220)]))
    )
    told = json.loads(json.dumps(about_sample(show, sample, 5), allow_nan=False))
    expected = MODEL.explain(sample)
    assert [one["sample"] for one in told["path"]] == list(expected.path)
    row = MODEL.graph_.indices[MODEL.graph_.indptr[sample] : MODEL.graph_.indptr[sample + 1]]
    assert [one["sample"] for one in told["neighbors"]] == row[1:6].tolist()
    assert told["caption"]["text"] == f"<b>{sample}</b>"  # as it is: the page sets it as text


def test_members_come_in_pages_densest_first():
    session = Session(MODEL)
    show = Shown(session, scene_of(session), Captions(220))
    size = np.count_nonzero(MODEL.labels_ == 0)
    members = []
    for start in range(0, size, 25):
        members += [one["sample"] for one in about_cluster(show, 0, start, 25)["members"]]
    for start in (-5, size):
        with refuses(f"start={start}|in 0 .. {size - 1}"):
            about_cluster(show, 0, start, 25)
    assert sorted(members) == np.flatnonzero(MODEL.labels_ == 0).tolist()
    assert np.all(np.diff(MODEL.forest_.rank[members]) > 0)
