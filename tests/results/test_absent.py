"""What a fit says of samples of weight zero: what it predicts, under the numbers that they were given by."""

import dataclasses

import numpy as np
import pytest
from clouds import general_position
from refusals import refuses

from diffpeaks import DensityDBSCAN, DensityPeaks, NeighborGraph, Split, edited
from diffpeaks.maps import map_coordinates
from diffpeaks.report import write_report

X = np.concatenate([general_position(0, 80), general_position(1, 40)])
WEIGHTS = np.arange(120) % 4.0
PRESENT, ABSENT = np.flatnonzero(WEIGHTS), np.flatnonzero(WEIGHTS == 0)
MODEL = DensityPeaks().fit(X, sample_weight=WEIGHTS)
ALONE = DensityPeaks().fit(X[PRESENT], sample_weight=WEIGHTS[PRESENT])
BOTH_KINDS = pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])


@BOTH_KINDS
def test_nobody_has_an_absent_sample_for_a_neighbour(kind):
    model = kind().fit(X, sample_weight=WEIGHTS)
    graph = model.graph_
    alone = kind().fit(X[PRESENT], sample_weight=WEIGHTS[PRESENT]).graph_
    NeighborGraph(graph.indptr, graph.indices, graph.distances)  # which checks every promise of a graph
    np.testing.assert_array_equal(graph.degrees[PRESENT], alone.degrees)
    owners = np.repeat(np.arange(120), graph.degrees)
    others = graph.indices[owners != graph.indices]
    assert not np.isin(others, ABSENT).any()
    row = slice(*graph.indptr[[4, 5]])
    distances = np.linalg.norm(X[PRESENT] - X[4], axis=1)
    nearest = PRESENT[np.argsort(distances, kind="stable")][: graph.degrees[4] - 1]
    np.testing.assert_array_equal(graph.indices[row], [4, *nearest])


@BOTH_KINDS
def test_absent_samples_are_leaves_of_the_forest(kind):
    model = kind().fit(X, sample_weight=WEIGHTS)
    forest, alone = model.forest_, kind().fit(X[PRESENT], sample_weight=WEIGHTS[PRESENT]).forest_
    np.testing.assert_array_equal(forest.roots, PRESENT[alone.roots])
    np.testing.assert_array_equal(forest.delta[PRESENT], alone.delta)
    assert sorted(forest.rank) == list(range(120))
    assert forest.rank[ABSENT].min() == len(PRESENT)
    assert not np.isin(forest.parent, ABSENT).any()
    np.testing.assert_array_equal(forest.hill[ABSENT], forest.hill[forest.parent[ABSENT]])
    denser = model.density_[forest.parent[ABSENT]] >= model.density_[ABSENT]
    assert denser.mean() > 0.5


def test_values_of_present_samples_are_those_of_a_fit_without_the_others():
    for name in ("probabilities_", "outlier_scores_", "density_", "labels_"):
        np.testing.assert_array_equal(getattr(MODEL, name)[PRESENT], getattr(ALONE, name))
        assert np.all(np.isfinite(getattr(MODEL, name)))
    np.testing.assert_array_equal(MODEL.memberships()[PRESENT].toarray(), ALONE.memberships().toarray())
    np.testing.assert_array_equal(MODEL.decision_graph()[1][PRESENT], ALONE.decision_graph()[1])
    np.testing.assert_array_equal(MODEL.density_[ABSENT], ALONE.score_samples(X[ABSENT]))
    truth = np.arange(120) % 3
    for rule in ("max_link", "n_clusters", "min_prominence"):
        found, expected = MODEL.sweep(truth, rule), ALONE.sweep(truth[PRESENT], rule)
        np.testing.assert_array_equal(found.bcubed.f, expected.bcubed.f)


def test_the_largest_share_of_an_absent_sample_is_that_of_its_label():
    shares = MODEL.memberships().toarray()
    np.testing.assert_array_equal(shares[ABSENT].argmax(axis=1), MODEL.labels_[ABSENT])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.all((MODEL.probabilities_[ABSENT] > 0) & (MODEL.outlier_scores_[ABSENT] <= 1))


@pytest.mark.parametrize("cut", [{"n_clusters": 4}, {"max_link": 0.4}, {"min_prominence": 0.2, "halo": True}])
def test_recut_predicts_too(cut):
    model = DensityPeaks(**{name: cut[name] for name in cut}).fit(X, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(MODEL.recut(**cut), model.labels_)


def test_the_hierarchy_has_all_samples():
    tree, alone = MODEL.hierarchy(), ALONE.hierarchy()
    np.testing.assert_array_equal(tree.hills, PRESENT[alone.hills])
    np.testing.assert_array_equal(tree.labels_at(0.3)[PRESENT], alone.labels_at(0.3))
    assert tree.labels_at(0.3).shape == (120,)


def test_paths_have_the_numbers_that_samples_were_given_by():
    for place in (0, 7, 50):
        found, alone = MODEL.explain(int(PRESENT[place])), ALONE.explain(place)
        assert found.path == tuple(PRESENT[list(alone.path)])
        assert (found.sample, found.label, found.delta) == (PRESENT[place], alone.label, alone.delta)
    with refuses(f"sample {ABSENT[3]} has weight zero|explain|sample {MODEL.forest_.parent[ABSENT[3]]}"):
        MODEL.explain(int(ABSENT[3]))


@pytest.mark.parametrize(
    "use",
    [
        map_coordinates,
        lambda model: edited(model, model.labels_, [Split(1)]),
        lambda model: write_report(model, "report.html"),
    ],
    ids=["map", "edit", "report"],
)
def test_what_shows_every_sample_of_a_fit_refuses(use):
    with refuses("30 of 120 samples have weight zero|fit X[sample_weight > 0]"):
        use(MODEL)


def test_a_map_of_cores_refuses_too():
    with refuses("30 of 120 samples have weight zero"):
        map_coordinates(DensityDBSCAN().fit(X, sample_weight=WEIGHTS))


def test_saved_and_loaded(tmp_path):
    MODEL.save(tmp_path / "a.model")
    loaded = DensityPeaks.load(tmp_path / "a.model")
    np.testing.assert_array_equal(loaded.labels_, MODEL.labels_)
    np.testing.assert_array_equal(loaded.predict(X), MODEL.labels_)
    np.testing.assert_array_equal(loaded.density_, MODEL.density_)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"samples": ABSENT[:-1]}, "not as many as their points"),
        ({"samples": ABSENT + 1000}, "not those of 0 .. 119"),
        ({"X": X[:3]}, "not as many as their points"),
    ],
    ids=["fewer", "others", "points"],
)
def test_a_file_with_other_absent_samples_is_refused(tmp_path, changed, words):
    model = DensityPeaks().fit(X, sample_weight=WEIGHTS)
    absent = dataclasses.replace(model._clustering.absent, **changed)
    vars(model)["_clustering"] = dataclasses.replace(model._clustering, absent=absent)
    model.save(tmp_path / "a.model")
    with refuses(f"a.model|{words}"):
        DensityPeaks.load(tmp_path / "a.model")
