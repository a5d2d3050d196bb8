import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from clouds import general_position
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion

mpl.use("agg")

from diffpeaks.plotting import DecisionGraphDisplay, DensityDisplay, MergeTreeDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_decision_graph_shows_every_sample_and_marks_the_peaks():
    model = DensityPeaks(n_clusters=3).fit(general_position(0))
    display = DecisionGraphDisplay.from_estimator(model)
    others, peaks = (scatter.get_offsets() for scatter in display.ax_.collections)
    assert (len(others), len(peaks)) == (57, 3)
    np.testing.assert_allclose(np.asarray(peaks)[:, 0], model.density_[model.peak_indices_])
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert np.isfinite(np.asarray(peaks)).all()  # the densest sample has an infinite delta


def test_zero_density_and_zero_delta_are_drawn():
    display = DecisionGraphDisplay(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, np.inf])).plot()
    assert np.all(np.asarray(display.ax_.collections[0].get_offsets()) > 0)


@pytest.mark.parametrize("model", [DensityPeaks(), DensityDBSCAN(), KernelDiffusion()], ids=str)
def test_density_display(model):
    X = general_position(1, 60, 3)
    display = DensityDisplay.from_estimator(model.fit(X), X)
    assert len(display.ax_.collections[0].get_offsets()) == 60
    assert display.figure_ is display.ax_.figure


def test_clusters_and_noise_have_colours_of_their_own():
    X = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.arange(30) % 21 - 1
    display = DensityDisplay(X, np.ones(30), labels).plot()
    colors = np.asarray(display.ax_.collections[0].get_facecolors())
    assert len(np.unique(colors.round(6), axis=0)) == 21


def test_a_level_line_of_the_tree_crosses_one_bar_for_each_cluster():
    model = DensityPeaks(min_prominence=0.2).fit(general_position(4, 300))
    display = MergeTreeDisplay.from_estimator(model)
    bars, turns = (np.array(lines.get_segments()) for lines in display.ax_.collections[:2])
    ends = bars[:, 1, 1]
    assert np.sum(ends >= 0.2) == model.n_clusters_ > 1
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), 0.2)
    np.testing.assert_array_equal(turns[:, :, 1], np.column_stack([ends, ends]))
    assert sorted(display.hills_) == sorted(model.hierarchy().hills)


def test_a_tree_of_few_hills_and_of_none_that_is_absorbed():
    model = DensityPeaks(n_clusters=3).fit(general_position(5, 300))
    few = MergeTreeDisplay.from_estimator(model, max_hills=4, max_link=0.5)
    assert len(few.hills_) == len(few.ax_.get_xticks()) == 4
    assert not few.ax_.lines  # n_clusters is no level
    apart = MergeTreeDisplay(
        DensityPeaks(min_prominence=0.4).fit(general_position(6, 20)).hierarchy(1e-9)
    ).plot()
    assert len(apart.ax_.collections[2].get_offsets()) == 20
    with pytest.raises(ValueError, match=r"max_hills=0.*at least 1"):
        MergeTreeDisplay.from_estimator(model, max_hills=0)


@pytest.mark.parametrize("display", [DecisionGraphDisplay, MergeTreeDisplay])
def test_own_axes_are_used(display):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    model = DensityPeaks().fit(general_position(2))
    assert display.from_estimator(model, ax=ax).ax_ is ax


def test_what_cannot_be_drawn_is_refused():
    X = general_position(3)
    with pytest.raises(ValueError, match=r"KernelDiffusion has no clusters.*'density'"):
        DensityDisplay.from_estimator(KernelDiffusion().fit(X), X, color="cluster")
    with pytest.raises(NotFittedError):
        DensityDisplay.from_estimator(DensityPeaks(), X)
    with pytest.raises(ValueError, match=r"shape \(3,\) and delta \(2,\)"):
        DecisionGraphDisplay(np.ones(3), np.ones(2)).plot()
    with pytest.raises(ValueError, match=r"'size'.*'density' or 'cluster'"):
        DensityDisplay.from_estimator(DensityPeaks().fit(X), X, color="size")


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from diffpeaks.plotting import DecisionGraphDisplay\n"
        "DecisionGraphDisplay([1.0], [1.0]).plot()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install matplotlib" in run.stderr


def test_the_demo_writes_labels_and_a_picture(tmp_path, capsys):
    from diffpeaks.demo import main

    main(str(tmp_path))
    printed = capsys.readouterr().out
    for name in ("nothing given", "HDBSCAN", "k-means", "kd-sym", "fkd-asym"):
        assert name in printed
    assert len((tmp_path / "labels.csv").read_text().split()) == 1 + 1797
    assert (tmp_path / "decision_graph.png").stat().st_size > 10_000
