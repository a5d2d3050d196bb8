"""The parts of benchmarks/peers that need no other clusterer and no file from elsewhere."""

import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from diffpeaks_paper.records import Records

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS / "peers"))

import sets  # noqa: E402
import systems  # noqa: E402
import worker  # noqa: E402
from families_report import Scores, family_table, left_out_table  # noqa: E402
from run import jobs, told  # noqa: E402
from scoring import scores  # noqa: E402
from table import Results, mean_table, tables  # noqa: E402
from thresholds import MULTIPLES, predicted  # noqa: E402


def line(system, name, bcubed=50.0, ami=40.0, **other):
    return {"experiment": "peers", "system": system, "set": name, "bcubed": bcubed, "ami": ami, **other}


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("digits", (1797, 64), 10),
        ("iris", (150, 4), 3),
        ("circles", (2000, 2), 2),
        ("moons", (2000, 2), 2),
        ("noise_dimensions", (2000, 50), 5),
        ("unequal_densities", (2000, 2), 4),
        ("duplicates", (2000, 2), 4),
        ("background", (2000, 2), 505),
        ("faces_big", (10_000, 256), 10),
    ],
)
def test_shapes_of_the_sets(name, shape, n_classes):
    X, y, found = sets.load(name)
    assert (X.shape, found, len(np.unique(y))) == (shape, name, n_classes)
    assert X.dtype.kind == "f"
    assert len(y) == len(X)
    assert np.array_equal(X, sets.load(name).X)


def test_what_a_set_is_for():
    assert np.allclose(sets.load("wine").X.std(axis=0), 1)
    _, repeated = np.unique(sets.load("duplicates").X, axis=0, return_counts=True)
    assert set(repeated) == {5}
    _, sizes = np.unique(sets.load("faces_50").y, return_counts=True)
    assert np.sum(sizes == 1) >= 5000
    X, y, _ = sets.load("unequal_densities")
    widths = [X[y == group].std(axis=0).mean() for group in range(4)]
    assert all(2 * narrow < wide for narrow, wide in pairwise(widths))


def test_the_halves_part_each_kind_evenly():
    chosen, held = (set(names) for names in sets.HALVES.values())
    assert not chosen & held
    assert chosen | held == {*sets.GROUPS["uci"], *sets.GROUPS["shapes"]}
    for kind, counts in (("uci", (7, 6)), ("shapes", (7, 7))):
        assert (
            len(chosen.intersection(sets.GROUPS[kind])),
            len(held.intersection(sets.GROUPS[kind])),
        ) == counts


def test_sets_by_group_or_name():
    assert sets.set_names(["shipped", "moons", "generated"])[:2] == ["digits", "moons"]
    assert sets.set_names(["generated", "moons"]).count("moons") == 1
    with pytest.raises(SystemExit, match="no set or group mooons; use some of: uci"):
        sets.set_names(["mooons"])


def test_noise_is_scored_as_singletons_and_is_no_cluster():
    y = [0, 0, 1, 1, 2, 3]
    found = scores(y, [7, 7, 4, 4, -1, -1])
    assert found.pop("n_clusters") == 2
    assert found.pop("noise") == 33.33
    assert set(found.values()) == {100.0}
    nothing = scores([0, 0, 0, 1], [-1] * 4)
    assert (nothing["n_clusters"], nothing["noise"], nothing["ari"]) == (0, 100.0, 0.0)
    assert nothing["bcubed"] == 66.67  # precision 1; recall 1/3 of three samples and 1 of one


def test_a_missing_package_is_refused_beforehand(monkeypatch):
    monkeypatch.setitem(systems.SYSTEMS, "diffpeaks", systems.System(systems.diffpeaks, ("no-such-thing",)))
    with pytest.raises(
        SystemExit, match=r"no-such-thing not installed; pip install 'diffpeaks\[clusterers\]'"
    ):
        systems.check_installed(["diffpeaks"])


def test_labels_and_errors_of_a_fit(tmp_path):
    path = tmp_path / "blobs.npz"
    np.savez(path, X=np.array([[0.0], [0.1], [9.0], [9.1]]), y=[0, 0, 1, 1])
    calls = []

    def fit(X, n_classes, n_threads):
        calls.append((n_classes, n_threads))
        return (X[:, 0] > 5).astype(int)

    found = worker.measure(fit, path, n_threads=2, timeout=60, repeats=3)
    assert calls == [(2, 2)] * 3
    assert found["bcubed"] == 100.0
    assert {"first_seconds", "seconds"} <= found.keys()

    def refuse(X, n_classes, n_threads):
        raise ValueError("n_components=4 is too many")

    found = worker.measure(refuse, path, n_threads=2, timeout=60, repeats=3)
    assert found == {"error": "ValueError: n_components=4 is too many"}
    assert signal.alarm(0) == 0  # no clock is left running


@pytest.fixture
def digits(tmp_path):
    path = tmp_path / "digits.npz"
    X, y, _ = sets.load("digits")
    np.savez(path, X=X, y=y)
    return path


def slow_serve(connection, system, n_threads, timeout, repeats):
    """A system that never answers the first set, in the place of worker.serve."""
    signal.alarm(timeout)
    connection.recv()
    time.sleep(60)


def test_a_fit_over_time_is_said_to_be_and_another_worker_goes_from_set_to_set(digits, monkeypatch):
    monkeypatch.setattr(worker, "serve", slow_serve)
    one = worker.Worker("diffpeaks", n_threads=1, timeout=1, repeats=1)
    assert one.measured(digits) == {"timed_out": 1}
    assert told({"timed_out": 1}) == "no labels within 1 s"
    monkeypatch.undo()
    one._arguments = ("diffpeaks", 1, 60, 1)
    first, second = one.measured(digits), one.measured(digits)  # by another process
    one.close()
    assert first["bcubed"] == second["bcubed"] > 50
    assert first["start_seconds"] == second["start_seconds"]


def test_what_is_there_is_not_run_again(tmp_path):
    records = Records(tmp_path / "peers.jsonl")
    asked = jobs(["moons", "wine"], ["diffpeaks", "hdbscan"], 2)
    records.append({**asked[1], "timed_out": 120})
    assert records.missing(asked) == [asked[0], *asked[2:]]


def test_tables_hide_nothing():
    lines = [
        line("diffpeaks", "moons", 80, 70),
        line("diffpeaks", "circles", 60, 50),
        line("hdbscan", "moons", 99, 98),
        {"system": "hdbscan", "set": "circles", "timed_out": 120},
        {"system": "EVoC", "set": "moons", "error": "ValueError: a | b"},
    ]
    means, every_set, beside_ours, failures = tables(lines, "scores").split("\n\n")
    assert "| diffpeaks | 70.0 / 60.0 (2 of 6) |" in means
    assert "| hdbscan | 99.0 / 98.0 (1 of 6) |" in means
    assert "| EVoC |  |" in means
    assert "| circles |  | 60.0 / 50.0 | over time |  |" in every_set
    assert "| moons |  | 80.0 / 70.0 | 99.0 / 98.0 | error |" in every_set
    assert "| hdbscan | generated | 1 of 2 | 99.0 / 98.0 | 80.0 / 70.0 |" in beside_ours
    assert "| hdbscan | no labels within 120 s | circles |" in failures
    assert r"| EVoC | ValueError: a \| b | moons |" in failures


def test_means_of_a_whole_half_have_no_count():
    lines = [line("diffpeaks", name) for name in sets.HALVES["second half"]]
    assert "| diffpeaks | 50.0 / 40.0 | 50.0 / 40.0 (6 of 13) | 50.0 / 40.0 (7 of 14) |" in tables(
        lines, "scores"
    )


def test_lines_of_the_neighbours_benchmark_are_records_too():
    records = Records(BENCHMARKS / "results" / "neighbors.jsonl", mark="kind")
    assert records.of(kind="timed", system="diffpeaks", set="mnist")


def test_the_means_in_the_documents_are_those_of_the_results():
    lines = Records(BENCHMARKS / "results" / "peers.jsonl").lines
    page = BENCHMARKS.parent / "docs" / "peers.md"
    assert mean_table(Results(lines, "scores")) in page.read_text()


def test_the_families_in_the_documents_are_those_of_the_results():
    scores = Scores(Records(BENCHMARKS / "results" / "families.jsonl").of(experiment="families"))
    page = (BENCHMARKS.parent / "docs" / "peers.md").read_text()
    assert family_table(scores) in page
    assert left_out_table(scores) in page


def test_the_default_is_above_every_peer_on_the_sets_that_both_can_do():
    lines = Records(BENCHMARKS / "results" / "peers.jsonl").lines
    scored = {(line["system"], line["set"]): (line["bcubed"], line["ami"]) for line in lines if "ami" in line}
    every_set = [*sets.GROUPS["uci"], *sets.GROUPS["shapes"]]

    def mean(system, names):
        return np.mean([scored[system, name] for name in names], axis=0)

    assert (mean("diffpeaks", every_set) >= (77, 63)).all()
    for system in {line["system"] for line in lines} - {"diffpeaks"}:
        names = [name for name in every_set if (system, name) in scored]
        assert (mean("diffpeaks", names) > mean(system, names)).all(), system


def test_the_best_bound_is_learned_from_other_families():
    jobs = [(family, str(number)) for family in ("a", "b", "c") for number in range(8)]
    best = np.random.default_rng(0).integers(0, len(MULTIPLES), len(jobs))
    gains = -np.abs(np.arange(len(MULTIPLES)) - best[:, None]).astype(float)
    found, looks = np.stack([gains, gains], axis=2), gains[:, :, None]  # the looks tell what is best
    assert np.array_equal(predicted(jobs, found, looks), best)
    contrary = found.copy()
    contrary[:8] *= -1  # the scores of a family say nothing of its own choice
    assert np.array_equal(predicted(jobs, contrary, looks)[:8], best[:8])
