"""Merging and splitting by hand against plain loops, and the laws they keep."""

import numpy as np
import pytest
import reference
import reference_clusters
from clouds import clouds, general_position, rows_of, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import NOISE, DensityPeaks, Gather, Merge, Split, edited

cuts = st.sampled_from([{}, {"n_clusters": 1}, {"n_clusters": 2}, {"min_prominence": 0.3}, {"max_link": 1.5}])


@st.composite
def fits(draw):
    X = draw(clouds(min_samples=2))
    cut = draw(cuts)
    model = DensityPeaks(n_neighbors=min(len(X), draw(st.integers(2, 8))), **cut).fit(X)
    order = np.argsort(model.forest_.rank).tolist()
    return X, model, order


@given(case=fits(), data=st.data())
def test_merge_as_loops(case, data):
    X, model, order = case
    samples = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=2, max_size=4))
    expected = reference_clusters.merged(model.labels_.tolist(), samples)
    found = edited(model, model.labels_, [Merge(samples)])
    assert found.tolist() == reference_clusters.numbered_by_top(expected, order)


@given(case=fits(), data=st.data())
def test_split_as_loops(case, data):
    X, model, order = case
    sample = data.draw(st.integers(0, len(X) - 1))
    D = reference.euclidean_distances(X)
    expected = reference_clusters.split(
        model.labels_.tolist(), sample, D, rows_of(model._landscape.links), model.density_, order
    )
    if expected is None:
        with refuses("Split|one hill|name another"):
            edited(model, model.labels_, [Split(sample)])
        return
    found = edited(model, model.labels_, [Split(sample)])
    assert found.tolist() == reference_clusters.numbered_by_top(expected, order)


@given(case=fits())
def test_no_edit_changes_nothing(case):
    _, model, _ = case
    np.testing.assert_array_equal(edited(model, model.labels_, []), model.labels_)


@given(case=fits(), data=st.data())
def test_a_split_is_undone_by_a_merge_of_its_sides(case, data):
    X, model, _ = case
    sample = data.draw(st.integers(0, len(X) - 1))
    try:
        split = edited(model, model.labels_, [Split(sample)])
    except ValueError:
        return  # a cluster of one hill
    assert split.max() == model.labels_.max() + 1
    sides = [
        np.flatnonzero(split == side)[0] for side in np.unique(split[model.labels_ == model.labels_[sample]])
    ]
    assert len(sides) == 2
    again = edited(model, model.labels_, [Split(sample), Merge(sides)])
    np.testing.assert_array_equal(again, model.labels_)


@given(case=fits(), data=st.data())
def test_edits_do_not_depend_on_how_clusters_are_numbered(case, data):
    X, model, _ = case
    samples = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=2, max_size=3))
    other = np.random.default_rng(0).permutation(len(X))[model.labels_]
    found = edited(model, other, [Merge(samples)])
    assert same_partition(found, edited(model, model.labels_, [Merge(samples)]))


def test_noise_stays_noise_and_cannot_be_named():
    model = DensityPeaks().fit(general_position(1, 90))
    labels = model.recut(n_clusters=4, halo=True)
    noise, first, last = (int(np.flatnonzero(labels == label)[0]) for label in (NOISE, 0, labels.max()))
    found = edited(model, labels, [Merge((first, last))])
    np.testing.assert_array_equal(found == NOISE, labels == NOISE)
    with refuses(f"sample {noise}|noise"):
        edited(model, labels, [Split(noise)])
    with refuses(f"sample {noise}|noise"):
        edited(model, labels, [Merge((noise, first))])


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Merge((0,)), "1 samples|at least two"),
        (Merge((0, 90)), "sample=90|0 .. 89"),
        (Split(-1), "sample=-1|0 .. 89"),
        (Split(1.5), "integer|1.5"),
    ],
)
def test_refusals(edit, words):
    model = DensityPeaks().fit(general_position(1, 90))
    with refuses(words):
        edited(model, model.labels_, [edit])


def test_labels_of_other_samples_are_refused():
    model = DensityPeaks().fit(general_position(1, 90))
    with refuses("labels|(3,)|(90,)"):
        edited(model, [0, 0, 1], [])


@given(case=fits(), data=st.data())
def test_gathered_samples_are_one_cluster_and_others_stay(case, data):
    X, model, order = case
    samples = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5))
    expected = model.labels_.tolist()
    for sample in samples:
        expected[sample] = len(X)
    found = edited(model, model.labels_, [Gather(tuple(samples))])
    assert found.tolist() == reference_clusters.numbered_by_top(expected, order)


def test_gather_refuses_what_is_no_sample():
    model = DensityPeaks().fit(general_position(1, 40))
    for samples, words in (((), "at least one"), ((0, 40), "sample=40|in 0 .. 39"), ((-1, 3), "sample=-1")):
        with refuses(words):
            edited(model, model.labels_, [Gather(samples)])
