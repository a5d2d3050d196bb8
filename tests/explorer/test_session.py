"""What the explorer shows is what Python gives: `recut`, `edited`, and the lines that it prints."""

from dataclasses import replace

import numpy as np
import pytest
from clouds import clouds, general_position, same_partition
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityPeaks, Merge, Split, edited, neighbor_graph
from diffpeaks.cuts import Cut
from diffpeaks.explorer.code import python_lines
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.states import MOST_STEPS_BACK
from diffpeaks.explorer.words import about_clustering

X = general_position(9, 220)
MODEL = DensityPeaks().fit(X)


def labels_of_code(session, model):
    names = {"model": model}
    exec(python_lines(session), names)
    return names["labels"]


def check(session, model):
    """Lists, peaks and lines agree with the labels."""
    labels = session.labels
    np.testing.assert_array_equal(labels_of_code(session, model), labels)
    numbers = session.now.numbers
    np.testing.assert_array_equal(np.unique(labels[labels >= 0]), np.sort(numbers))
    np.testing.assert_array_equal(labels[session.now.peaks], numbers)
    np.testing.assert_array_equal(session.now.sizes, [np.count_nonzero(labels == one) for one in numbers])
    assert session.now.n_noise == np.count_nonzero(labels == -1)


def split_some(session, first=0):
    """Split the first cluster that has several hills."""
    for number in session.now.numbers[first:].tolist():
        try:
            return session.split(number)
        except ValueError:
            continue
    raise AssertionError("no cluster can be split")


rules = st.one_of(
    st.tuples(st.just("n_clusters"), st.one_of(st.none(), st.integers(1, 6))),
    st.tuples(st.just("max_link"), st.sampled_from([None, 0.4, 1.0, 3.0, 60.0])),
    st.tuples(st.just("min_prominence"), st.sampled_from([None, 0.0, 0.2, 1.0, np.inf])),
)
policies = st.fixed_dictionaries(
    {},
    optional={
        "halo": st.booleans(),
        "min_cluster_size": st.integers(1, 3),
        "noise": st.sampled_from(["keep", "assign", "singletons"]),
    },
)
samples = st.integers(0, 10**6)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("set_rule"), rules),
        st.tuples(st.just("set_policy"), policies),
        st.tuples(st.just("choose_peaks"), st.lists(samples, max_size=3)),
        st.tuples(st.just("merge"), st.lists(samples, min_size=2, max_size=3)),
        st.tuples(st.just("split"), samples),
        st.tuples(st.just("gather"), st.lists(samples, min_size=1, max_size=4)),
        st.tuples(st.sampled_from(["undo", "redo"]), st.none()),
        st.tuples(st.just("return_to"), st.sampled_from(["automatic", "fit"])),
    ),
    max_size=6,
)


def take(session, step, n_samples):
    name, value = step
    numbers = session.now.numbers.tolist() or [0]
    calls = {
        "set_rule": lambda: session.set_rule(*value),
        "set_policy": lambda: session.set_policy(**value),
        "choose_peaks": lambda: session.choose_peaks([sample % n_samples for sample in value]),
        "merge": lambda: session.merge([numbers[sample % len(numbers)] for sample in value]),
        "split": lambda: session.split(numbers[value % len(numbers)]),
        "gather": lambda: session.gather([sample % n_samples for sample in value]),
        "return_to": lambda: session.return_to(value),
        "undo": session.undo,
        "redo": session.redo,
    }
    calls[name]()


@settings(max_examples=120)
@given(points=clouds(min_samples=3), steps=steps, params=policies)
def test_whatever_is_done_the_lines_make_the_labels(points, steps, params):
    try:
        model = DensityPeaks(n_neighbors=min(len(points), 6), **params).fit(points)
    except ValueError:  # a policy that leaves no cluster
        return
    session = Session(model)
    check(session, model)
    for step in steps:
        before = session.state, session.labels
        try:
            take(session, step, len(points))
        except ValueError:
            assert session.state == before[0]
            assert session.labels is before[1]
        check(session, model)
    while session.can["undo"]:
        session.undo()
    np.testing.assert_array_equal(session.labels, model.labels_)


def test_rules_combine_as_in_a_cut():
    session = Session(MODEL)
    session.set_rule("min_prominence", 0.1)
    assert same_partition(session.labels, MODEL.recut(cut=replace(MODEL.cut_, min_prominence=0.1)))
    session.set_rule("max_link", 0.8)
    cut = replace(MODEL.cut_, min_prominence=0.1, max_link=0.8)
    assert same_partition(session.labels, MODEL.recut(cut=cut))
    session.set_rule("n_clusters", 3)  # begins alone, then others say who may be a peak
    assert same_partition(session.labels, MODEL.recut(n_clusters=3))
    session.set_rule("min_prominence", 0.01)
    assert same_partition(session.labels, MODEL.recut(n_clusters=3, min_prominence=0.01))
    session.set_rule("min_prominence", None)
    session.set_rule("n_clusters", None)
    assert session.state.cut == MODEL.cut_


def test_numbers_mean_the_same_however_they_are_sent():
    session = Session(MODEL)
    session.set_rule("n_clusters", 3.0)
    assert session.state.cut == Cut(n_clusters=3)
    session.return_to("automatic")
    session.set_rule("max_link", 10**20)
    assert session.state.cut.max_link == 1e20
    check(session, MODEL)


def test_edits_stay_while_the_cut_moves_and_are_dropped_when_they_mean_nothing():
    session = Session(MODEL)
    session.set_rule("n_clusters", 4)
    session.merge(session.now.numbers[:2].tolist())
    assert len(session.now.peaks) == 3
    session.set_rule("n_clusters", 5)
    expected = edited(MODEL, MODEL.recut(n_clusters=5), session.state.edits)
    assert same_partition(session.labels, expected)
    split_some(session, 1)  # another one than the merged
    assert [type(edit) for edit in session.state.edits] == [Merge, Split]
    session.set_rule("n_clusters", len(X))
    assert [type(edit) for edit in session.state.edits] == [Merge]
    assert any("dropped" in note for note in session.notes)


def test_what_passes_is_no_step_to_go_back_to():
    session = Session(MODEL)
    for value in (0.1, 0.2, 0.3):
        session.set_rule("min_prominence", value, keep=False)
    session.set_rule("min_prominence", 0.3)
    session.undo()
    assert session.state.cut == MODEL.cut_
    assert session.can == {"undo": False, "redo": True}
    session.redo()
    assert session.state.cut.min_prominence == 0.3
    with refuses("nothing to redo"):
        session.redo()


def test_steps_back_are_limited():
    session = Session(MODEL)
    for step in range(MOST_STEPS_BACK + 20):
        session.set_rule("min_prominence", 1.0 + step)
    count = 0
    while session.can["undo"]:
        session.undo()
        count += 1
    assert count == MOST_STEPS_BACK


def test_a_score_counts_peaks():
    density, delta = MODEL.decision_graph()
    known = np.isfinite(delta)
    session = Session(MODEL)
    for least in (0.5, 1.0, float(np.sort(density[known] * delta[known])[-3])):
        session.set_score(least)
        assert session.state.cut == Cut(
            n_clusters=1 + np.count_nonzero(density[known] * delta[known] >= least)
        )


def test_the_densest_sample_is_added_to_peaks_and_that_is_said():
    densest = int(np.argmin(MODEL.forest_.rank))
    session = Session(MODEL)
    session.choose_peaks([(densest + 1) % len(X)])
    assert densest in session.state.cut.peaks
    assert any(f"sample {densest}" in note for note in session.notes)
    session.choose_peaks([densest])
    assert session.notes == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.set_rule("radius", 1.0), "radius|n_clusters"),
        (lambda s: s.set_rule("n_clusters", 0), "n_clusters|of DensityPeaks"),
        (lambda s: s.set_rule("n_clusters", "3"), "n_clusters"),
        (lambda s: s.set_rule("max_link", -1.0), "max_link"),
        (lambda s: s.set_rule("min_prominence", float("nan")), "min_prominence"),
        (lambda s: s.set_policy(fate="keep"), "fate|halo"),
        (lambda s: s.set_policy(min_cluster_size=0), "min_cluster_size"),
        (lambda s: s.merge([0, 99]), "cluster 99 is not there"),
        (lambda s: s.split(-1), "cluster=-1"),
        (lambda s: s.split(1.5), "cluster must be an integer|1.5"),
        (lambda s: s.merge([0, 1.5]), "cluster must be an integer|1.5"),
        (lambda s: s.merge(3), "clusters|list|3"),
        (lambda s: s.return_to("yesterday"), "yesterday|automatic"),
        (lambda s: s.choose_peaks([10**6]), "1000000"),
        (lambda s: s.undo(), "nothing to undo"),
    ],
)
def test_refusals_change_nothing(call, words):
    session = Session(MODEL)
    with refuses(words):
        call(session)
    assert session.labels is MODEL.labels_
    assert not session.can["undo"]


def test_a_graph_without_far_distances_refuses_numbers_of_clusters_alone():
    points = np.concatenate([X, X + 500.0])
    model = DensityPeaks(metric="precomputed").fit(neighbor_graph(points, 10))
    session = Session(model)
    with refuses("precomputed"):
        session.set_rule("n_clusters", 3)
    session.set_rule("min_prominence", 0.2)
    assert same_partition(session.labels, model.recut(cut=replace(model.cut_, min_prominence=0.2)))


def test_the_model_stays_as_it_is():
    model = DensityPeaks().fit(X)
    before = dict(vars(model))
    session = Session(model)
    session.set_rule("n_clusters", 4)
    split_some(session)
    assert all(vars(model)[name] is value for name, value in before.items())


def test_the_status_says_what_the_cut_did():
    session = Session(MODEL)
    told = about_clustering(session)
    assert told["told"] == f"{MODEL.n_clusters_} clusters, no noise"
    assert "the default" in told["cut_told"]
    n_samples = len(MODEL.labels_)
    session.set_rule("n_clusters", n_samples)
    assert about_clustering(session)["told"] == f"{n_samples} clusters ({n_samples} of one sample), no noise"
    session.set_rule("n_clusters", 1)
    session.set_policy(halo=True, min_cluster_size=3)
    told = about_clustering(session)
    assert told["told"].startswith("1 cluster, ")
    assert told["cut_told"] == (
        "The 1 sample with the largest density x delta is the peak; the halo is noise; clusters have at "
        "least 3 samples."
    )
    session.set_policy(noise="assign")
    assert "the halo joins the clusters beside it" in about_clustering(session)["cut_told"]


def numbers_of(session, samples):
    return session.labels[list(samples)].tolist()


def test_a_cluster_keeps_its_number_through_merge_split_undo_and_redo():
    session = Session(MODEL)
    session.set_rule("n_clusters", 6)
    before, sizes = session.labels, dict(zip(session.now.numbers.tolist(), session.now.sizes, strict=True))
    two = sorted(sizes, key=sizes.get)[-2:]  # the larger one last
    session.merge(two)
    merged = session.labels
    np.testing.assert_array_equal(merged, np.where(before == two[0], two[1], before))
    assert session.result == [two[1]]
    other = next(one for one in session.now.numbers.tolist() if one != two[1])
    session.split(two[1])
    new = [one for one in session.now.numbers.tolist() if one not in sizes]
    assert len(new) == 1
    assert new[0] > max(sizes)  # no number is given twice
    assert session.result == sorted([two[1], *new])
    np.testing.assert_array_equal(session.labels == other, before == other)
    session.undo()
    np.testing.assert_array_equal(session.labels, merged)
    assert session.result == [two[1]]
    session.undo()
    np.testing.assert_array_equal(session.labels, before)
    assert session.result == sorted(two)
    session.redo()
    np.testing.assert_array_equal(session.labels, merged)
    assert session.result == [two[1]]


def test_numbers_come_back_with_the_clusters_and_those_of_the_fit_are_its_labels():
    session = Session(MODEL)
    session.set_rule("n_clusters", 9)
    nine = session.labels
    for n_clusters in (8, 3, 1, 9):
        session.set_rule("n_clusters", n_clusters)
    np.testing.assert_array_equal(session.labels, nine)
    session.set_rule("n_clusters", 8)  # of which one or two have changed
    assert sum(np.array_equal(session.labels == one, nine == one) for one in np.unique(session.labels)) >= 6
    session.return_to("fit")
    np.testing.assert_array_equal(session.labels, MODEL.labels_)


def test_what_passes_takes_no_numbers():
    session = Session(MODEL)
    for n_clusters in (50, 2, 120, 9):
        session.set_rule("n_clusters", n_clusters, keep=False)
    passed = session.labels
    fresh = Session(MODEL)
    fresh.set_rule("n_clusters", 9)
    np.testing.assert_array_equal(passed, fresh.labels)


def test_every_change_is_a_revision_and_a_refusal_is_none():
    session = Session(MODEL)
    session.set_rule("n_clusters", 4)
    session.merge(session.now.numbers[:2].tolist())
    session.undo()
    assert session.revision == 3
    with refuses("cluster 99 is not there any more"):
        session.merge([0, 99])
    assert session.revision == 3


def test_a_cluster_named_many_times_is_merged_once():
    session = Session(MODEL)
    session.set_rule("n_clusters", 4)
    session.merge(session.now.numbers[:2].tolist() * 1000)
    assert len(session.state.edits[0].samples) == 2
    with refuses("name at least two"):
        session.merge([session.now.numbers[0].item()] * 3)


def test_gathered_samples_are_a_new_cluster_which_is_the_result():
    session = Session(MODEL)
    taken = [3, 40, 77, 150]
    before = session.labels
    session.gather(taken)
    (number,) = session.result
    assert number not in before
    assert np.flatnonzero(session.labels == number).tolist() == taken
    others = np.setdiff1d(np.arange(len(X)), taken)
    np.testing.assert_array_equal(session.labels[others], before[others])
    session.undo()
    np.testing.assert_array_equal(session.labels, before)
