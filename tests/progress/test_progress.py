"""Stages are told in order, count up to their totals, can be cancelled, and change nothing else."""

import signal
import threading

import numpy as np
import pytest
from clouds import general_position
from observed import loops_observed
from sklearn.base import clone

import diffpeaks
from diffpeaks import (
    ApproximateSearch,
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    NaiveDensity,
    neighbor_graph,
    progress,
)
from diffpeaks._native import observe_loops
from diffpeaks.progress import Stage, listening

X = general_position(0, 2000)
WIDE = np.random.RandomState(0).normal(size=(9000, 120)).astype(np.float32)


@pytest.fixture
def _every_report(monkeypatch):
    """All that could be told is told, however soon after the last."""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with loops_observed(progress._loop_is_at, 0.0):
        yield


def by_stage(reports):
    """Runs of reports of one stage, as [(stage, [done, ...], total), ...]; a new run begins at 0."""
    runs = []
    for report in reports:
        if not runs or report.done == 0:
            runs.append((report.stage, [], report.total))
        assert (report.stage, report.total) == (runs[-1][0], runs[-1][2])
        runs[-1][1].append(report.done)
    return runs


def check_counts(reports):
    for _, done, total in by_stage(reports):
        assert done[0] == 0
        assert done[-1] == total
        assert np.all(np.diff(done) > 0)
    assert all(report.seconds >= 0 for report in reports)


JUDGED = ["isolation", "density", "hills"]
MOVED = ["cells", "neighbours", "isolation", "smoothing"]
UNMOVED = ["points", "duplicates", "neighbours", "isolation", "density", "hills", "labels"]
BY_DEFAULT = [*UNMOVED[:4], "smoothing", *UNMOVED[4:]]
# of one cluster: hills are looked for a second time, among fewer neighbours
HILLS_TWICE = ["density", "hills", "flow"] * 2
IN_MANY_DIMENSIONS = ["neighbours", "isolation", *HILLS_TWICE, "labels"]
AFTER_SMOOTHING = ["neighbours", *HILLS_TWICE, "labels"]


@pytest.mark.parametrize(
    ("estimator", "data", "stages"),
    [
        (DensityPeaks(), X, BY_DEFAULT),
        (DensityPeaks(search="brute"), X, BY_DEFAULT),
        (DensityPeaks(metric="canberra"), X, UNMOVED),
        (DensityPeaks(), WIDE[:3000], [*BY_DEFAULT[:2], *MOVED, "cells", *AFTER_SMOOTHING]),
        (DensityPeaks(smooth=False), WIDE[:3000], [*BY_DEFAULT[:2], "cells", *IN_MANY_DIMENSIONS]),
        (
            DensityPeaks(search=ApproximateSearch(0.5), smooth=False),
            WIDE,
            [*BY_DEFAULT[:2], "cells", "calibration", *IN_MANY_DIMENSIONS],
        ),
        (
            DensityPeaks(NaiveDensity("auto"), n_clusters=3),
            X,
            ["points", "radius", "ball sizes", "neighbours", *JUDGED, "hilltops", "labels"],
        ),
        (
            DensityPeaks(KernelDiffusion(radius=0.1), n_clusters=3),
            X,
            ["points", "ball sizes", *["neighbours"] * 2, *JUDGED, "hilltops", "labels"],
        ),
        (
            DensityPeaks(NaiveDensity(6.0), max_link=6.0),
            WIDE[:1000],  # in one cell
            ["points", "neighbours", *JUDGED, "labels"],
        ),
        (DensityDBSCAN("kd-asym"), X, ["points", "neighbours", "isolation", "density", "labels"]),
        (
            DensityDBSCAN(KernelDiffusion(steps=9)),
            X,
            ["points", "neighbours", "isolation", "density", "labels"],
        ),
    ],
    ids=str,
)
@pytest.mark.usefixtures("_every_report")
def test_stages_come_in_order_and_count_up_to_their_totals(estimator, data, stages):
    reports = []
    told = clone(estimator).set_params(callback=reports.append).fit(data)
    assert [name for name, _, _ in by_stage(reports)] == stages
    check_counts(reports)
    observe_loops(progress._loop_is_at, 1e6)
    untold = clone(estimator).fit(data)
    for name in ("labels_", "density_", "peak_indices_"):
        np.testing.assert_array_equal(getattr(told, name), getattr(untold, name))
    for name in ("indptr", "indices", "distances"):
        np.testing.assert_array_equal(getattr(told.graph_, name), getattr(untold.graph_, name))


@pytest.mark.parametrize(
    ("data", "options", "least"),
    [
        (X, {"n_neighbors": 5, "search": "tree"}, 4),  # 512 at a time
        (X, {"radius": 0.1, "search": "tree"}, 4),
        (WIDE, {"n_neighbors": 5, "search": "cells"}, 35),  # 256 at a time
        (WIDE, {"n_neighbors": 5, "search": "approximate"}, 35),
        (WIDE, {"radius": 4.0, "search": "cells"}, 9),
        (WIDE, {"n_neighbors": 5, "search": "brute"}, 9),
        (WIDE[:3000], {"n_neighbors": 5, "search": "cells", "memory_limit": 12_000_000}, 3),
        (WIDE[:3000], {"radius": 4.0, "search": "brute", "memory_limit": 2_000_000}, 3),
    ],
)
@pytest.mark.usefixtures("_every_report")
def test_a_search_tells_how_far_it_is(data, options, least):
    reports = []
    neighbor_graph(data, n_jobs=1, callback=reports.append, **options)
    check_counts(reports)
    [(_, done, total)] = [run for run in by_stage(reports) if run[0] == "neighbours"]
    assert total == len(data)
    assert len(done) >= least


@pytest.mark.parametrize(
    ("density", "least"), [(KernelDiffusion(steps=9), 9), (KernelDiffusion(steps=np.inf), 9)]
)
@pytest.mark.usefixtures("_every_report")
def test_the_walk_tells_how_far_it_is(density, least):
    reports = []
    with listening(reports.append):
        density.fit(X)
    [(_, done, _)] = [run for run in by_stage(reports) if run[0] == "density"]
    assert len(done) >= least


class FakeIndex:
    """Proposes the first points for all."""

    def search(self, queries, n_neighbors):
        ordered = np.argsort(((queries[:, None] - X[None, :100]) ** 2).sum(axis=2), axis=1)
        return None, ordered[:, :n_neighbors]


@pytest.mark.usefixtures("_every_report")
def test_an_index_tells_how_far_it_is():
    reports = []
    neighbor_graph(X[:100], 3, search=FakeIndex(), callback=reports.append)
    assert by_stage(reports) == [("neighbours", [0, 100], 100)]


@pytest.mark.usefixtures("_every_report")
def test_predict_is_a_stage():
    model, reports = DensityPeaks().fit(X), []
    new = general_position(1, 500)
    with listening(reports.append):
        predicted = model.predict(new)
    assert by_stage(reports) == [("prediction", [0, 500], 500)]
    np.testing.assert_array_equal(predicted, model.predict(new))


class CancelledError(Exception):
    pass


@pytest.mark.parametrize(
    ("search", "name"),
    [
        *((search, "neighbours") for search in ("tree", "cells", "brute", "approximate")),
        *(("cells", name) for name in ("points", "density", "labels")),
    ],
)
@pytest.mark.usefixtures("_every_report")
def test_an_error_of_the_callback_ends_the_fit(search, name):
    def cancel(report):
        if report.stage == name and report.done:
            raise CancelledError(name)

    model = DensityPeaks(search=search, callback=cancel)
    with pytest.raises(CancelledError, match=name):
        model.fit(WIDE)
    assert not hasattr(model, "labels_")
    assert vars(model) == vars(DensityPeaks(search=search, callback=cancel))
    model.set_params(callback=None).fit(X)
    before = dict(vars(model))
    with pytest.raises(CancelledError):
        model.set_params(callback=cancel).fit(WIDE)
    assert vars(model) == before | {"callback": cancel}
    assert all(vars(model)[key] is value for key, value in before.items() if key != "callback")


@pytest.mark.usefixtures("_every_report")
def test_after_a_cancelled_search_the_next_one_is_whole():
    def cancel(report):
        if 0 < report.done < report.total:
            raise CancelledError

    for n_jobs in (1, 3):
        with pytest.raises(CancelledError):
            neighbor_graph(WIDE, 5, n_jobs=n_jobs, callback=cancel)
        again = neighbor_graph(WIDE, 5, n_jobs=n_jobs)
        np.testing.assert_array_equal(again.indices, neighbor_graph(WIDE, 5, search="brute").indices)


@pytest.fixture
def _interruptible():
    """As in a terminal: what runs in the background may have been told to ignore interruptions."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_ends_a_compiled_loop():
    begun, shares = threading.Event(), []

    def note(share):
        shares.append(share)
        begun.set()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    many = np.random.RandomState(0).normal(size=(200_000, 3))
    thread = threading.Thread(target=interrupt)
    thread.start()
    with loops_observed(note, 0.0), pytest.raises(KeyboardInterrupt):
        neighbor_graph(many, 30, n_jobs=1)
    thread.join()
    assert len(shares) < len(many) / 512  # queries at a time


def test_nothing_is_printed_unless_asked_for(capfd):
    DensityPeaks().fit(X)
    DensityPeaks(callback=lambda report: None).fit(X)
    neighbor_graph(X, 5)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", [DensityPeaks(verbose=True), DensityDBSCAN(verbose=True)], ids=str)
def test_verbose_prints_a_line_for_each_stage(estimator, capfd):
    estimator.fit(X)
    printed = capfd.readouterr()
    assert not printed.out
    stages = [line.partition(":")[0] for line in printed.err.splitlines()]
    assert stages[0] == "points"
    assert stages[-1] == "labels"
    assert "neighbours: 2,000 in " in printed.err


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_both_are_parameters(kind):
    assert (kind().verbose, kind().callback) == (False, None)
    model = clone(kind(verbose=True, callback=print))
    assert (model.get_params()["verbose"], model.get_params()["callback"]) == (True, print)
    with pytest.raises(ValueError, match="'callback' parameter"):
        kind(callback="print").fit(X)
    with pytest.raises(ValueError, match="'verbose' parameter"):
        kind(verbose="yes").fit(X)


def test_a_saved_model_tells_nobody(tmp_path):
    model = DensityPeaks(verbose=True, callback=lambda report: None).fit(X)
    model.save(tmp_path / "model")
    loaded = DensityPeaks.load(tmp_path / "model")
    assert (loaded.verbose, loaded.callback) == (False, None)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)


def test_public_names_are_found_when_they_are_asked_for():
    assert {*diffpeaks.__all__, "metrics", "progress"} <= set(dir(diffpeaks))
    for name in diffpeaks.__all__:
        assert getattr(diffpeaks, name) is vars(diffpeaks)[name]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = diffpeaks.nonsense
    assert Stage is diffpeaks.progress.Stage
