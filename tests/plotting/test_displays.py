from itertools import product

import numpy as np
import pandas as pd
import processes
import pytest
from clouds import general_position
from drawn import offsets
from sklearn.exceptions import NotFittedError

from diffpeaks import NOISE, DensityDBSCAN, DensityPeaks, KernelDiffusion
from diffpeaks.plotting import (
    ClusterSizesDisplay,
    DecisionGraphDisplay,
    DensityDisplay,
    MergeTreeDisplay,
    PrecisionRecallDisplay,
    ProminenceDisplay,
    cluster_colors,
    paper_style,
)

pytestmark = pytest.mark.usefixtures("closed_figures")
DRAWN = {
    "decision graph": lambda model, X, y, ax=None: DecisionGraphDisplay.from_estimator(model, ax=ax),
    "density": lambda model, X, y, ax=None: DensityDisplay.from_estimator(model, X, ax=ax),
    "clusters": lambda model, X, y, ax=None: DensityDisplay.from_estimator(model, X, color="cluster", ax=ax),
    "contours": lambda model, X, y, ax=None: DensityDisplay.from_estimator(model, X, contours=True, ax=ax),
    "prominence": lambda model, X, y, ax=None: ProminenceDisplay.from_estimator(model, ax=ax),
    "precision, recall": lambda model, X, y, ax=None: PrecisionRecallDisplay.from_estimator(model, y, ax=ax),
    "sizes": lambda model, X, y, ax=None: ClusterSizesDisplay.from_estimator(model, ax=ax),
    "tree": lambda model, X, y, ax=None: MergeTreeDisplay.from_estimator(model, ax=ax),
}
EDGE_CASES = {
    "one sample": (DensityPeaks(), np.zeros((1, 2))),
    "two samples": (DensityPeaks(), np.array([[0.0, 1.0], [2.0, 3.0]])),
    "copies": (DensityPeaks(), np.ones((20, 2))),
    "a line": (DensityPeaks(), np.column_stack([np.arange(30.0), np.zeros(30)])),
    "all noise": (DensityPeaks(min_cluster_size=61), general_position(0)),
    "all apart": (DensityPeaks(max_link=1e-9), general_position(0)),
    "one cluster": (DensityPeaks(n_clusters=1), general_position(0)),
    "densities of zero": (DensityPeaks(np.repeat([0.0, 1.0], 30), n_clusters=2), general_position(0)),
    "float32": (DensityPeaks(), general_position(0).astype(np.float32)),
}


@pytest.mark.parametrize(
    ("display", "case"),
    # a density that is given as values is not known between the samples
    sorted({*product(DRAWN, EDGE_CASES)} - {("contours", "densities of zero")}),
)
def test_edge_cases_are_drawn_at_finite_places(display, case):
    model, X = EDGE_CASES[case]
    drawn = DRAWN[display](model.fit(X), X, np.arange(len(X)) % 2)
    drawn.figure_.draw_without_rendering()
    for collection in drawn.ax_.collections:
        assert np.all(np.isfinite(offsets(collection)))
    assert np.all(np.isfinite([*drawn.ax_.get_xlim(), *drawn.ax_.get_ylim()]))


@pytest.mark.parametrize("display", DRAWN)
def test_own_axes_are_used_and_axes_are_named(display):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    X = general_position(2)
    drawn = DRAWN[display](DensityPeaks().fit(X), X, np.arange(len(X)) % 2, ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.mark.parametrize("display", DRAWN)
def test_text_stays_within_a_column_of_a_paper(display):
    X = general_position(2, 300)
    with paper_style():
        drawn = DRAWN[display](DensityPeaks(min_prominence=0.2).fit(X), X, np.arange(len(X)) % 2)
        drawn.figure_.canvas.draw()
        width, height = drawn.figure_.get_size_inches() * drawn.figure_.dpi
        texts = (drawn.ax_.title, drawn.ax_.xaxis.label, drawn.ax_.yaxis.label)
        for box in (text.get_window_extent() for text in texts if text.get_text()):
            assert min(box.x0, box.y0) >= -1
            assert box.x1 <= width + 1
            assert box.y1 <= height + 1
    assert width / drawn.figure_.dpi == pytest.approx(3.3)


def test_many_samples_are_drawn_as_pixels():
    density = np.linspace(0.1, 2.0, 20_000)
    positions = np.column_stack([density, density])
    for display in (DecisionGraphDisplay(density, density), DensityDisplay(positions, density)):
        assert display.plot().ax_.collections[0].get_rasterized()


def test_decision_graph_shows_every_sample_and_marks_the_peaks():
    model = DensityPeaks(n_clusters=3).fit(general_position(0))
    display = DecisionGraphDisplay.from_estimator(model)
    others, peaks = (offsets(collection) for collection in display.ax_.collections)
    assert (len(others), len(peaks)) == (57, 3)
    np.testing.assert_allclose(peaks[:, 0], model.density_[model.peak_indices_])
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert np.isfinite(peaks).all()  # the densest sample has an infinite delta


def test_zero_density_and_zero_delta_are_drawn():
    display = DecisionGraphDisplay(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, np.inf])).plot()
    assert np.all(offsets(display.ax_.collections[0]) > 0)


@pytest.mark.parametrize("model", [DensityPeaks(), DensityDBSCAN(), KernelDiffusion()], ids=str)
@pytest.mark.parametrize("n_features", [2, 3])
def test_samples_are_drawn_the_densest_last(model, n_features):
    X = general_position(1, 60, n_features)
    display = DensityDisplay.from_estimator(model.fit(X), X)
    samples = display.ax_.collections[0]
    np.testing.assert_allclose(samples.get_array(), np.sort(model.density_))
    if n_features == 2:
        np.testing.assert_array_equal(offsets(samples), X[np.argsort(model.density_, kind="stable")])


def test_samples_are_drawn_where_they_are_put():
    X, places = general_position(1, 60, 5), general_position(2)
    model = DensityPeaks().fit(X)
    display = DensityDisplay.from_estimator(model, X, positions=places, color="cluster")
    order = np.argsort(model.density_, kind="stable")
    samples = display.ax_.collections[0]
    np.testing.assert_array_equal(offsets(samples), places[order])
    np.testing.assert_allclose(samples.get_facecolors()[:, :3], cluster_colors(model.labels_[order]))


@pytest.mark.parametrize("model", [DensityPeaks(), DensityDBSCAN(), KernelDiffusion(radius=0.5)], ids=str)
def test_contours_are_those_of_the_density_at_new_samples(model):
    X = general_position(1)
    grid = DensityDisplay.from_estimator(model.fit(X), X, contours=True).grid
    assert grid.x[0] < X[:, 0].min() < X[:, 0].max() < grid.x[-1]
    assert grid.y[0] < X[:, 1].min() < X[:, 1].max() < grid.y[-1]
    density = getattr(model, "density_estimator_", model)
    for i, j in ((0, 0), (75, 40), (149, 100)):
        assert grid.density[j, i] == density.score_samples([[grid.x[i], grid.y[j]]])[0]


def test_axes_have_the_names_of_the_columns():
    X = pd.DataFrame(general_position(1), columns=["length", "width"])
    ax = DensityDisplay.from_estimator(DensityPeaks().fit(X), X).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")


@pytest.mark.parametrize("n_clusters", [0, 1, 3, 60, 61, 30_000])
def test_sizes_of_any_number_of_clusters(n_clusters):
    sizes = np.random.default_rng(0).zipf(1.5, n_clusters).clip(max=10_000)
    ax = ClusterSizesDisplay(sizes, 17).plot().ax_
    if n_clusters <= 60:
        assert [bar.get_height() for bar in ax.patches] == [*np.sort(sizes)[::-1], 17]
    else:
        ranks, heights = ax.lines[0].get_data()
        steps = dict(zip(ranks[1:].astype(int), heights[1:], strict=True))
        assert len(steps) == len(np.unique(sizes))  # no more than the picture needs
        for rank, size in list(enumerate(np.sort(sizes)[::-1], start=1))[::97]:
            assert steps[min(step for step in steps if step >= rank)] == size


@pytest.mark.parametrize(
    "model",
    [DensityPeaks(n_clusters=5, min_cluster_size=8), DensityDBSCAN(min_density=1.2, border=False)],
    ids=str,
)
def test_sizes_of_a_fit_are_those_of_its_labels(model):
    labels = model.fit_predict(general_position(0, 150, 4))
    display = ClusterSizesDisplay.from_estimator(model)
    np.testing.assert_array_equal(
        display.sizes, [np.sum(labels == label) for label in range(labels.max() + 1)]
    )
    assert display.n_noise == np.sum(labels == NOISE) > 0


def test_much_noise_leaves_room_for_the_clusters():
    display = ClusterSizesDisplay(np.array([10, 20]), 5000).plot()
    assert display.ax_.get_ylim() == (0, 30)
    assert [text.get_text() for text in display.ax_.texts] == ["5,000, cut off here"]


def test_clusters_have_the_same_colours_on_the_decision_graph_and_on_the_map():
    X = general_position(4)
    model = DensityPeaks(n_clusters=3).fit(X)
    chosen = np.array([5, 2, 9])
    graph = DecisionGraphDisplay.from_estimator(model, color_indices=chosen)
    on_map = DensityDisplay.from_estimator(model, X, color="cluster", color_indices=chosen)
    peaks = graph.ax_.collections[-1].get_facecolors()
    np.testing.assert_allclose(peaks[:, :3], cluster_colors(np.arange(3), chosen))
    assert {tuple(color) for color in on_map.ax_.collections[0].get_facecolors()} == set(map(tuple, peaks))


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
    with pytest.raises(ValueError, match=f"X has 5 samples, but the fit has {len(X)}"):
        DensityDisplay.from_estimator(DensityPeaks().fit(X), X[:5])
    wide = general_position(3, 60, 3)
    with pytest.raises(ValueError, match=r"2 features, got 3 features; use contours=False"):
        DensityDisplay.from_estimator(DensityPeaks().fit(wide), wide, contours=True)
    with pytest.raises(ValueError, match=r"2 features and positions; use contours=False"):
        DensityDisplay.from_estimator(DensityPeaks().fit(X), X, positions=X, contours=True)


def test_without_matplotlib_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from diffpeaks.plotting import DecisionGraphDisplay\n"
        "DecisionGraphDisplay([1.0], [1.0]).plot()"
    )
    run = processes.run(code)
    assert "pip install matplotlib" in run.stderr


def test_the_demo_writes_labels_and_a_picture(tmp_path, capsys):
    from diffpeaks.cli.demonstration import main

    main(str(tmp_path))
    printed = capsys.readouterr().out
    for name in ("no parameters", "HDBSCAN", "k-means", "kd-sym", "fkd-asym"):
        assert name in printed
    assert len((tmp_path / "labels.csv").read_text().split()) == 1 + 1797
    assert (tmp_path / "decision_graph.png").stat().st_size > 10_000
