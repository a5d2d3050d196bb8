"""Names stay with their clusters; a session is saved, opened again, and replayed on another fit."""

import json

import numpy as np
import pytest
from clouds import general_position, same_partition
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

import diffpeaks
from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions
from diffpeaks.explorer.saved import replay, saved_session
from diffpeaks.explorer.session import LONGEST_NAME, Session

X = general_position(9, 220)
MODEL = DensityPeaks().fit(X)
IDS = np.array([f"s{row}" for row in range(220)], object)


def changed_session(steps=("n_clusters", "merge", "split", "gather", "rename")):
    session = Session(MODEL)
    if "n_clusters" in steps:
        session.set_rule("n_clusters", 7)
    if "merge" in steps:
        session.merge(session.now.numbers[:2].tolist())
    if "split" in steps:
        session.split(session.result[0] if session.result else 0)
    if "gather" in steps:
        session.gather([3, 50, 99])
    if "rename" in steps:
        session.rename(session.now.numbers[0].item(), "first one")
    return session


steps = st.sets(st.sampled_from(["n_clusters", "merge", "split", "gather", "rename"]))


@settings(max_examples=20)
@given(steps, st.booleans())
def test_a_session_comes_back_as_it_was(taken, has_ids):
    captions = Captions(220, IDS) if has_ids else Captions(220)
    try:
        session = changed_session(taken)
    except ValueError:  # a cluster of one hill
        return
    saved = json.loads(json.dumps(saved_session(session, captions, {"bounds": None}), allow_nan=False))
    again = Session(MODEL)
    assert replay(again, captions, saved) == {"bounds": None}
    np.testing.assert_array_equal(again.labels, session.labels)
    assert (again.state, again.names, again.notes) == (session.state, session.names, [])
    if again.can["undo"]:
        again.undo()
    np.testing.assert_array_equal(again.labels, MODEL.labels_)


def test_infinite_bounds_and_peaks_by_hand_come_back():
    for change in (
        lambda session: session.set_rule("min_prominence", np.inf),
        lambda session: session.choose_peaks([5, 80, 120]),
        lambda session: session.return_to("automatic"),
    ):
        session, again = Session(MODEL), Session(MODEL)
        change(session)
        replay(
            again,
            Captions(220),
            json.loads(json.dumps(saved_session(session, Captions(220)), allow_nan=False)),
        )
        np.testing.assert_array_equal(again.labels, session.labels)


def test_on_another_fit_it_applies_by_ids_and_says_what_does_not():
    session = changed_session(("merge", "gather", "rename"))
    saved = saved_session(session, Captions(220, IDS))
    there = np.arange(40, 220)  # without sample 3 of the gathered ones, and in another order
    order = np.random.default_rng(0).permutation(there)
    other = DensityPeaks().fit(X[order])
    again = Session(other)
    replay(again, Captions(len(order), IDS[order]), saved)
    place = {sample: row for row, sample in enumerate(order.tolist())}
    gathered = again.labels[[place[50], place[99]]]
    assert gathered[0] == gathered[1] == session.labels[50]
    assert np.count_nonzero(again.labels == gathered[0]) == 2
    assert any("1 samples are not there" in note for note in again.notes)
    assert any("saved with 220 samples, this fit has 180" in note for note in again.notes)


def test_a_cut_that_does_not_apply_gives_way_to_that_of_the_fit():
    session = Session(MODEL)
    session.set_rule("n_clusters", 150)
    small = DensityPeaks().fit(X[:60])
    again = Session(small)
    replay(again, Captions(60), saved_session(session, Captions(220)))
    assert again.state.cut == small.cut_
    assert any("the cut of the fit was taken" in note for note in again.notes)


@pytest.mark.parametrize(
    "saved",
    [
        None,
        [],
        {},
        {"format": "diffpeaks session", "version": 2},
        {"format": "diffpeaks session", "version": 1},
        {"format": "diffpeaks session", "version": 1, "noise": 3, "edits": [], "clusters": []},
        saved_session(Session(MODEL), Captions(220)) | {"noise": {"halo": False}},
        *(
            saved_session(Session(MODEL), Captions(220)) | {"view": view}
            for view in (3, {"bounds": "all"}, {"bounds": [0, 0, 0, 1]}, {"bounds": [0, 0, 1, float("nan")]})
        ),
    ],
)
def test_what_is_no_session_is_refused_and_changes_nothing(saved):
    session = Session(MODEL)
    with refuses("session"):
        replay(session, Captions(220), saved)
    assert session.labels is MODEL.labels_


def test_names_stay_with_the_cluster_and_are_undone():
    session = Session(MODEL)
    session.set_rule("n_clusters", 5)
    number = int(session.now.numbers[np.argmax(session.now.sizes)])
    session.rename(number, "  the   largest ")
    assert session.names == {number: "the largest"}
    other = next(one for one in session.now.numbers.tolist() if one != number)
    session.merge([other, number])
    assert session.names == {number: "the largest"}
    session.undo()
    session.undo()
    assert session.names == {}
    session.redo()
    session.rename(number, "")
    assert session.names == {}
    with refuses(f"{LONGEST_NAME + 1} characters|at most {LONGEST_NAME}"):
        session.rename(number, "a" * (LONGEST_NAME + 1))
    with refuses("must be text"):
        session.rename(number, 3)


def test_merged_clusters_have_the_name_that_one_of_them_had():
    session = Session(MODEL)
    session.set_rule("n_clusters", 5)
    by_size = session.now.numbers[np.argsort(-session.now.sizes)].tolist()
    session.rename(by_size[2], "a small one")
    session.merge(by_size[:1] + by_size[2:3])
    assert session.names == {by_size[0]: "a small one"}
    assert session.notes == []
    session.rename(by_size[1], "another")
    session.merge(by_size[:2])
    (kept,) = session.names.values()
    assert {kept, "a small one", "another"} == {"a small one", "another"}
    gone = "another" if kept == "a small one" else "a small one"
    assert session.notes == [f"{gone!r} is part of {kept!r}"]
    for _ in range(3):
        session.undo()
    assert session.names == {by_size[2]: "a small one"}
    session.redo()
    assert session.names == {by_size[0]: "a small one"}


def test_python_saves_and_opens(tmp_path):
    with diffpeaks.explore(MODEL, open_browser=False) as page:
        page._session.set_rule("n_clusters", 6)
        page._session.rename(0, "zero")
        page.save_session(tmp_path / "work.json")
        labels, code = page.labels_, page.code
    with diffpeaks.explore(MODEL, session=tmp_path / "work.json", open_browser=False) as page:
        np.testing.assert_array_equal(page.labels_, labels)
        assert (page.code, page.names_[0]) == (code, "zero")
        assert page.results_["name"][labels == 0][0] == "zero"
    assert same_partition(labels, MODEL.recut(n_clusters=6))
    names = {"model": MODEL}
    exec(code, names)
    assert names["names"] == {0: "zero"}
    for text in ("{", "[" * 100_000):
        (tmp_path / "work.json").write_text(text)
        with refuses("work.json|no session of diffpeaks"):
            diffpeaks.explore(MODEL, session=tmp_path / "work.json", open_browser=False)
