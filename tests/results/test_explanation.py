"""Explanations agree with the labels, link by link."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from clouds import clouds, general_position
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityPeaks
from diffpeaks.forest.peaks import complete_forest, peak_forest
from diffpeaks.results.explanation import Reason

CUTS = [{}, {"n_clusters": 2}, {"max_link": 1.1}, {"min_prominence": 0.6}]


def steps_of(model, was_assigned, kept):
    """The steps that a path may take: to the parent, from a hilltop over its saddle, out of noise."""
    forest = model.forest_
    allowed = set(enumerate(forest.parent.tolist()))
    for top in forest.roots.tolist():
        saddle, crossing = int(forest.saddle[top]), int(forest.crossing[top])
        allowed |= {(top, saddle), (saddle, crossing), (top, crossing)}
    if was_assigned:
        complete = complete_forest(peak_forest(model.graph_, model.density_), model._landscape.points, 4)
        allowed |= set(enumerate(complete.parent.tolist()))
        allowed |= {(int(np.argmin(forest.rank)), int(j)) for j in np.flatnonzero(kept != -1)}
    return allowed


@given(
    X=clouds(min_samples=3),
    cut=st.sampled_from(CUTS),
    halo=st.booleans(),
    min_cluster_size=st.integers(1, 4),
    fate=st.sampled_from(["keep", "assign", "singletons"]),
    seed=st.integers(0, 999),
)
def test_paths_lead_to_the_peak_by_allowed_steps(X, cut, halo, min_cluster_size, fate, seed):
    density = 1 + np.random.default_rng(seed).integers(0, 6, len(X)).astype(float)
    given = {**cut, "n_neighbors": min(len(X), 4), "halo": halo, "min_cluster_size": min_cluster_size}
    kept = DensityPeaks(density, **given).fit_predict(X)
    assume(fate != "assign" or np.any(kept != -1))
    model = DensityPeaks(density, **given, noise=fate).fit(X)
    before = DensityPeaks(density, **cut, n_neighbors=given["n_neighbors"]).fit(X)
    sizes = np.bincount(before.labels_)[before.labels_]
    for i, why in enumerate(map(model.explain, range(len(X)))):
        assert (why.sample, why.label, why.density) == (i, model.labels_[i], density[i])
        assert why.delta == model.forest_.delta[i]
        assert (why.reason in (Reason.HALO, Reason.SMALL_CLUSTER)) == (kept[i] == -1)
        assert (why.reason == Reason.SMALL_CLUSTER) == (sizes[i] < min_cluster_size)
        assert (why.reason == Reason.PEAK) == (i in before.peak_indices_ and kept[i] != -1)
        assert (why.reason == Reason.ABSORBED) == (len(why.saddles) > 0 and kept[i] != -1)
        was_assigned = fate == "assign" and kept[i] == -1
        peaks, labels = (
            (model.peak_indices_, model.labels_) if was_assigned else (before.peak_indices_, before.labels_)
        )
        assert why.peak == peaks[labels[i]]
        assert why.prominence == model.forest_.prominence[why.peak]
        assert why.path[0] == i
        assert set(why.saddles) <= set(why.path)
        assert len(set(why.path)) == len(why.path)  # no sample comes twice
        assert set(pairwise(why.path)) <= steps_of(model, was_assigned, kept)


def test_every_reason_and_how_it_reads():
    """Two hills, of which the second has a shoulder that it absorbs; one sample lies far away."""
    X = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 40])[:, None]
    density = np.array([0.8, 9, 4, 1, 5, 8, 5.5, 6, 5.2, 0.5])
    model = DensityPeaks(
        density, max_link=5.0, min_prominence=0.5, n_neighbors=3, halo=True, min_cluster_size=2
    ).fit(X)
    assert model.labels_.tolist() == [-1, 0, 0, 0, 1, 1, 1, 1, 1, -1]
    reasons = [model.explain(i).reason for i in range(10)]
    assert reasons[1] == reasons[5] == Reason.PEAK
    assert reasons[2] == Reason.LINKED
    assert reasons[7] == reasons[8] == Reason.ABSORBED
    assert reasons[0] == Reason.HALO
    assert reasons[9] == Reason.SMALL_CLUSTER
    assert model.explain(8).path == (8, 7, 6, 5)
    assert model.explain(8).saddles == (6,)
    assert str(model.explain(8)) == (
        "sample 8: cluster 1 (absorbed)\n"
        "  density 5.2, delta 1\n"
        "  path 8 > 7 > 6 (saddle) > 5 (peak)\n"
        "  peak 5: prominence 2.079, meets cluster 0 at sample 3, density 1"
    )
    alone = model.explain(9)
    assert (alone.next_saddle, alone.next_label, alone.next_saddle_density) == (None, None, None)
    assert "noise (small cluster)" in str(alone)
    assert "no denser hill is met" in str(alone)


def test_assigned_noise_keeps_its_reason_and_shows_the_way_in():
    X = np.array([0.0, 1, 2, 3, 10, 20, 21, 22, 23])[:, None]
    density = np.array([3.0, 5, 4, 2, 9, 1, 3, 4, 2])
    given = {"max_link": 2.0, "n_neighbors": 3, "min_cluster_size": 2}
    why = DensityPeaks(density, noise="assign", **given).fit(X).explain(4)
    assert (why.label, why.reason, why.path) == (0, Reason.SMALL_CLUSTER, (4, 3, 2, 1))
    why = DensityPeaks(density, noise="singletons", **given).fit(X).explain(4)
    assert (why.label, why.reason, why.path) == (2, Reason.SMALL_CLUSTER, (4,))


def test_long_paths_are_printed_in_part():
    X = np.arange(40.0)[:, None]
    model = DensityPeaks(1 + np.arange(40.0), min_prominence=1.0, n_neighbors=3).fit(X)
    assert len(model.explain(0).path) == 40
    assert "0 > 1 > 2 > 3 > 4 > 5 > ... 28 more ... > 34 > 35" in str(model.explain(0))


def test_it_cannot_be_changed_and_belongs_to_the_fit():
    X = general_position(0)
    model = DensityPeaks(min_cluster_size=3, noise="assign").fit(X)
    before = model.explain(5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.label = 7
    assert model.set_params(noise="keep", min_cluster_size=50).explain(5) == before
    assert model.fit(X).explain(5).reason == Reason.SMALL_CLUSTER


def test_refusals():
    with pytest.raises(NotFittedError):
        DensityPeaks().explain(0)
    model = DensityPeaks().fit(general_position(1, 30))
    with refuses("sample=30|0 .. 29"):
        model.explain(30)
    with refuses("sample=-1|0 .. 29"):
        model.explain(-1)
    with refuses("sample|integer|'a'"):
        model.explain("a")
