"""Which faces the experiments are about: real files, generated ones, or those of the results."""

import json

import numpy as np
import pytest
from refusals import refuses

from diffpeaks.cli import main
from diffpeaks.datasets import write_faces
from diffpeaks_paper import cost, face_runs
from diffpeaks_paper.faces import load_faces
from diffpeaks_paper.records import Records
from diffpeaks_paper.sources import available_source, recorded_source

REAL = "real 0123456789abcdef"


@pytest.fixture
def features(tmp_path):
    """The features of a real set of 1,200 samples, in their place in a data folder."""
    (tmp_path / "ms1m").mkdir()
    write_faces(tmp_path / "ms1m", "part1_test", n_samples=1200, n_identities=30, random_state=0)
    return tmp_path / "ms1m" / "features" / "part1_test.bin"


def changed(path, position):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_a_real_set_is_told_apart_by_every_value(tmp_path, features):
    found = [available_source("ms1m", tmp_path)]
    assert found[0][0].startswith("real ")
    assert found[0][1] == 1200
    for position in (0, 1024 * 601 + 7, -1):  # in the first, the last and some row between
        changed(features, position)
        found.append(available_source("ms1m", tmp_path))
    labels = tmp_path / "ms1m" / "labels" / "part1_test.meta"
    labels.write_text("1000" + labels.read_text()[1:])
    found.append(available_source("ms1m", tmp_path))
    assert len(set(found)) == 5
    graphs = {load_faces("ms1m", tmp_path, *which, tmp_path).graph_file for which in found}
    assert len(graphs) == 5


def test_what_is_wrong_with_real_files(tmp_path, features):
    with refuses("--samples=2000 is more than the 1200 samples of ms1m"):
        available_source("ms1m", tmp_path, 2000)
    X = np.fromfile(features, np.float32).reshape(-1, 256)
    X[5, 3] = np.nan
    X.tofile(features)
    source, size = available_source("ms1m", tmp_path)
    with refuses("part1_test.bin: rows [5]|drop rows"):
        load_faces("ms1m", tmp_path, source, size, tmp_path)
    features.write_bytes(features.read_bytes()[: 999 * 1024])
    labels = tmp_path / "ms1m" / "labels" / "part1_test.meta"
    labels.write_text("0\n" * 999)
    with refuses("part1_test.bin has 999 samples, but at least 1000"):
        available_source("ms1m", tmp_path)
    features.write_bytes(b"123")
    with refuses("part1_test.bin|3 bytes|fetch the file again"):
        available_source("ms1m", tmp_path)


@pytest.mark.parametrize("setting", ["--data", "DIFFPEAKS_DATA"])
@pytest.mark.parametrize(
    ("table", "path"),
    [("table2", "emore_200k/features/emore_200k.bin"), ("table3", "ms1m/features/part1_test.bin")],
)
def test_a_data_folder_without_the_faces_is_refused(tmp_path, monkeypatch, capsys, setting, table, path):
    given = ["paper", table, "--output", str(tmp_path / "out")]
    if setting == "--data":
        given += ["--data", str(tmp_path)]
    else:
        monkeypatch.setenv(setting, str(tmp_path))
    assert main(given) == 2
    error = capsys.readouterr().err
    assert f"there is no file {tmp_path / path}; put it there, or take generated faces with --gen" in error
    assert error.count("\n") == 1


def ran(monkeypatch, *arguments):
    """The first job of a run, and no more than that."""
    jobs = []

    def run(job, folder, work):
        jobs.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(face_runs, "run", run)
    assert main(["paper", "table3", *arguments]) == 130
    return jobs[0]


@pytest.mark.parametrize(("setting", "generated"), [(None, False), ("", False), ("folder", True)])
def test_generated_faces_are_said_to_be(tmp_path, features, monkeypatch, capsys, setting, generated):
    monkeypatch.chdir(tmp_path)  # a folder with real files, which nobody named
    monkeypatch.delenv("DIFFPEAKS_DATA", raising=False)
    if setting is not None:
        monkeypatch.setenv("DIFFPEAKS_DATA", setting and str(tmp_path))
    job = ran(monkeypatch, "--output", str(tmp_path / "out"), *["--generated"] * generated)
    assert (job["source"], job["n_samples"]) == ("generated", 584_013)
    said = "ms1m: 584,013 samples, generated; real ones are read with --data DATA, from DATA/ms1m/features"
    assert capsys.readouterr().err.startswith(said)


def test_real_faces_are_said_to_be(tmp_path, features, monkeypatch, capsys):
    job = ran(monkeypatch, "--output", str(tmp_path / "out"), "--data", str(tmp_path))
    assert (job["source"][:5], job["n_samples"]) == ("real ", 1200)
    assert f"ms1m: 1,200 samples, {job['source']}, from {features}\n" in capsys.readouterr().err


def records_of(path, *jobs):
    lines = [{**job, "recall": 1.0, "seconds": 1.0} for job in jobs]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Records(path)


def test_results_are_read_for_the_faces_that_they_are_of(tmp_path, monkeypatch):
    real, generated, smaller = (
        face_runs.method_jobs("ms1m", *which) for which in ((REAL, 1200), ("generated", 1200), (REAL, 1100))
    )
    others = [*cost.jobs("ms1m", "generated", 5000), *face_runs.method_jobs("emore_200k", "generated", 3000)]
    read = face_runs.method_jobs, "ms1m"
    path = tmp_path / "results.jsonl"
    assert recorded_source(records_of(path, *others, *real), *read) == (REAL, 1200)
    assert recorded_source(records_of(path, *others), cost.jobs, "ms1m") == ("generated", 5000)
    with refuses("results.jsonl has no such results on ms1m; run without --read"):
        recorded_source(records_of(path, *others), *read)
    assert recorded_source(records_of(path, *real[:9], *generated[:8]), *read) == (REAL, 1200)
    records = records_of(path, *real, *generated, *smaller)
    with refuses(f"several sources: generated, 1,200|{REAL}, 1,100|{REAL}, 1,200 samples|--generated"):
        recorded_source(records, *read)
    assert recorded_source(records, *read, generated=True) == ("generated", 1200)
    assert recorded_source(records, *read, n_samples=1100) == (REAL, 1100)


def test_a_table_of_real_results_needs_the_results_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DIFFPEAKS_DATA", str(tmp_path / "gone"))
    score = {"precision": 90.0, "recall": 80.0, "f": 84.7, "n_clusters": 30}
    jobs = [{**job, "pairwise": score, "bcubed": score} for job in face_runs.method_jobs("ms1m", REAL, 1200)]
    path = tmp_path / "base.jsonl"
    records_of(path, *jobs)
    assert main(["paper", "table3", "--read", "--results", str(path), "--output", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert f"ms1m: 1,200 samples, {REAL}, as {path} has them" in said.err
    assert "The files of ms1m: 1,200 samples" in said.out
