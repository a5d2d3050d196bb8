"""`recut(peaks=...)`: chosen samples are the peaks, and all others follow their nearest denser sample."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from clouds import clouds, general_position
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityPeaks
from diffpeaks.cuts import Cut


@given(X=clouds(min_samples=2), data=st.data())
def test_as_loops(X, data):
    model = DensityPeaks(n_neighbors=min(len(X), 5), smooth=False).fit(X)
    order = np.argsort(model.forest_.rank).tolist()
    chosen = data.draw(st.lists(st.sampled_from(order[1:]), unique=True, max_size=4))
    peaks = data.draw(st.permutations([order[0], *chosen]))
    parent, _ = reference.nearest_denser(reference.euclidean_distances(X), order)
    led_to = reference.dpc_labels(parent, peaks)
    ranked = sorted(peaks, key=order.index)
    assert model.recut(peaks=peaks).tolist() == [ranked.index(peak) for peak in led_to]


def test_peaks_of_a_number_of_clusters_are_that_cut():
    X = general_position(0)
    model = DensityPeaks(n_clusters=4).fit(X)
    np.testing.assert_array_equal(model.recut(peaks=model.peak_indices_), model.labels_)
    np.testing.assert_array_equal(model.recut(cut=Cut(peaks=tuple(model.peak_indices_))), model.labels_)


def test_noise_is_told_apart_as_in_every_cut():
    model = DensityPeaks().fit(general_position(0))
    peaks = DensityPeaks(n_clusters=3).fit(general_position(0)).peak_indices_
    for policy in ({"halo": True}, {"min_cluster_size": 12}, {"min_cluster_size": 12, "noise": "assign"}):
        np.testing.assert_array_equal(model.recut(peaks=peaks, **policy), model.recut(n_clusters=3, **policy))


MODEL = DensityPeaks().fit(general_position(0))
DENSEST = int(np.argmin(MODEL.forest_.rank))


@pytest.mark.parametrize(
    ("peaks", "words"),
    [
        ([(DENSEST + 1) % 60], f"peaks lack sample {DENSEST}|add it"),
        ([], f"peaks lack sample {DENSEST}|add it"),
        ([DENSEST, 60], "sample 60|0 .. 59"),
        ([DENSEST, -1], "sample -1|0 .. 59"),
        ([DENSEST, DENSEST], "twice"),
        ([DENSEST, 1.5], "integers"),
    ],
)
def test_refusals(peaks, words):
    with refuses(words):
        MODEL.recut(peaks=peaks)


def test_peaks_and_rules_are_not_mixed():
    for rule in ({"n_clusters": 2}, {"max_link": 1.0}, {"cut": MODEL.cut_}):
        with refuses("in two ways|peaks"):
            MODEL.recut(peaks=[DENSEST], **rule)
    with refuses("peaks and rules"):
        replace(MODEL.cut_, peaks=(DENSEST,))
