"""Displays of hills and of cuts: the diagram, the tree, and precision against recall."""

import numpy as np
import pytest
from clouds import general_position
from drawn import offsets
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.metrics import Scores, bcubed_scores, pairwise_scores
from diffpeaks.plotting import (
    DecisionGraphDisplay,
    MergeTreeDisplay,
    PrecisionRecallDisplay,
    ProminenceDisplay,
    cluster_colors,
)

pytestmark = pytest.mark.usefixtures("closed_figures")
X = general_position(4, 300)
Y = np.arange(300) % 3


def hills_of(display):
    """Places of the hills that are no clusters, and of those that are."""
    return [offsets(collection) for collection in display.ax_.collections[-2:]]


@pytest.mark.parametrize("model", [DensityPeaks(), DensityPeaks(min_prominence=0.2)], ids=str)
def test_the_band_parts_hills_from_clusters(model):
    model.fit(X)
    display = ProminenceDisplay.from_estimator(model)
    others, clusters = hills_of(display)
    assert len(clusters) == model.n_clusters_ > 1
    prominence = [np.log(places[:, 1]) - np.log(places[:, 0]) for places in (others, clusters)]
    hills = model.forest_.prominence[model.forest_.roots]
    is_peak = np.isin(model.forest_.roots, model.peak_indices_)
    np.testing.assert_allclose(np.sort(prominence[0]), np.sort(hills[~is_peak]), atol=1e-12)
    met = np.isfinite(hills[is_peak])
    np.testing.assert_allclose(prominence[1][met], hills[is_peak][met])
    assert np.all(prominence[0] < model.cut_.min_prominence)
    np.testing.assert_allclose(
        display.ax_.collections[-1].get_facecolors()[:, :3], cluster_colors(np.arange(model.n_clusters_))
    )
    band = display.ax_.collections[0].get_paths()[0].vertices
    heights = np.log(band[:, 1] / band[:, 0])
    np.testing.assert_allclose([heights.min(), heights.max()], [0, model.cut_.min_prominence], atol=1e-12)


def test_hills_that_meet_no_denser_one_are_beyond_the_line():
    display = ProminenceDisplay(np.array([3.0, 2.0, 1.0]), np.array([0.0, 0.5, 0.0])).plot()
    others, clusters = hills_of(display)
    line = display.ax_.lines[-1].get_xdata()[0]
    assert len(clusters) == 0
    np.testing.assert_array_equal(others[:, 1], [3, 2, 1])
    np.testing.assert_array_equal(others[:, 0] < line, [True, False, True])
    np.testing.assert_array_equal(others[:, 0] > display.ax_.get_xlim()[0], True)


def test_a_number_of_clusters_is_no_band():
    model = DensityPeaks(n_clusters=3).fit(X)
    assert len(ProminenceDisplay.from_estimator(model).ax_.collections) == 2
    assert ProminenceDisplay.from_estimator(model).min_prominence is None


@pytest.mark.parametrize("model", [DensityPeaks(), DensityPeaks(min_prominence=0.2)], ids=str)
def test_a_level_line_of_the_tree_crosses_one_bar_for_each_cluster(model):
    model.fit(X)
    level = model.cut_.min_prominence
    display = MergeTreeDisplay.from_estimator(model, max_hills=1000)
    bars, turns = (np.array(lines.get_segments()) for lines in display.ax_.collections[:2])
    ends = bars[:, 1, 1]
    assert np.sum(ends >= level) == model.n_clusters_ > 1
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), level)
    np.testing.assert_array_equal(turns[:, :, 1], np.column_stack([ends, ends]))
    assert sorted(display.hills_) == sorted(model.hierarchy(model.cut_.max_link).hills)


def test_a_tree_of_few_hills_and_of_none_that_is_absorbed():
    model = DensityPeaks(n_clusters=3).fit(X)
    few = MergeTreeDisplay.from_estimator(model, max_hills=4, max_link=0.5)
    assert len(few.hills_) == len(few.ax_.get_xticks()) == 4
    assert not few.ax_.lines  # n_clusters is no level
    apart = MergeTreeDisplay(
        DensityPeaks(min_prominence=0.4).fit(general_position(6, 20)).hierarchy(1e-9)
    ).plot()
    assert len(offsets(apart.ax_.collections[2])) == 20
    with pytest.raises(ValueError, match=r"max_hills=0.*at least 1"):
        MergeTreeDisplay.from_estimator(model, max_hills=0)


@pytest.mark.parametrize(("score", "expected"), [("bcubed", bcubed_scores), ("pairwise", pairwise_scores)])
@pytest.mark.parametrize(
    ("model", "rule"),
    [
        (DensityPeaks(), "min_prominence"),
        (DensityPeaks(max_link=0.5), "max_link"),
        (DensityPeaks(n_clusters=3), "n_clusters"),
    ],
)
def test_the_curve_is_the_sweep_of_the_rule_of_the_fit(model, rule, score, expected):
    model.fit(X)
    display = PrecisionRecallDisplay.from_estimator(model, Y, score=score)
    curve = getattr(model.sweep(Y, rule), score)
    np.testing.assert_array_equal(
        display.ax_.lines[-1].get_xydata(), np.column_stack([curve.recall, curve.precision])
    )
    chosen = expected(Y, model.labels_)
    np.testing.assert_array_equal(offsets(display.ax_.collections[-1]), [[chosen.recall, chosen.precision]])


def test_a_fit_by_the_rule_of_the_sweep_lies_on_its_curve():
    model = DensityPeaks("naive", n_clusters=7).fit(X)
    display = PrecisionRecallDisplay.from_estimator(model, Y)
    at = model.sweep(Y, "n_clusters").n_clusters == 7
    on_the_curve = display.ax_.lines[-1].get_xydata()[at]
    np.testing.assert_allclose(offsets(display.ax_.collections[-1]), on_the_curve)


def test_curves_of_several_estimators_have_colours_and_names_of_their_own():
    first = PrecisionRecallDisplay.from_estimator(DensityPeaks().fit(X), Y, "max_link", name="ours")
    second = PrecisionRecallDisplay.from_estimator(DensityDBSCAN().fit(X), Y, ax=first.ax_)
    third = PrecisionRecallDisplay(Scores(np.ones(2), np.array([0.5, 1.0]), np.ones(2)), name="ideal").plot(
        second.ax_
    )
    curves, names = third.ax_.get_legend_handles_labels()
    np.testing.assert_allclose([curve.get_color() for curve in curves], cluster_colors([0, 1, 2]))
    assert [name.split(" (")[0] for name in names] == ["ours", "DensityDBSCAN", "ideal"]
    assert len(third.ax_.collections) == 2  # nothing was chosen on the last curve


def test_lines_of_equal_f_are_that():
    display = PrecisionRecallDisplay(Scores(np.ones(1), np.ones(1), np.ones(1))).plot()
    for line, f in zip(display.ax_.lines[:4], (0.2, 0.4, 0.6, 0.8), strict=True):
        recall, precision = line.get_xydata().T
        np.testing.assert_allclose(2 * precision * recall / (precision + recall), f)


@pytest.mark.parametrize("display", [DecisionGraphDisplay, ProminenceDisplay, MergeTreeDisplay])
def test_estimators_that_cannot_be_drawn_are_refused(display):
    with pytest.raises(TypeError, match=rf"{display.__name__}.*DensityDBSCAN has none, DensityPeaks has"):
        display.from_estimator(DensityDBSCAN().fit(X))
    with pytest.raises(NotFittedError):
        display.from_estimator(DensityPeaks())


def test_bad_arguments_are_refused():
    model = DensityPeaks().fit(X)
    with pytest.raises(ValueError, match=r"score='f'.*'bcubed' or 'pairwise'"):
        PrecisionRecallDisplay.from_estimator(model, Y, score="f")
    with pytest.raises(ValueError, match=r"rule='radius'.*'max_link'"):
        PrecisionRecallDisplay.from_estimator(model, Y, "radius")
    with pytest.raises(NotFittedError):
        PrecisionRecallDisplay.from_estimator(DensityPeaks(), Y)
    with pytest.raises(ValueError, match=r"shape \(3,\) and saddle_density \(2,\)"):
        ProminenceDisplay(np.ones(3), np.ones(2)).plot()
