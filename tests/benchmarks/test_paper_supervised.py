"""Supervised rows of the tables: who is trained on, who is tested, and what the rows say."""

import json
from dataclasses import replace
from hashlib import md5
from types import SimpleNamespace

import numpy as np
import pytest
from published_networks import put_all

from diffpeaks.datasets import PUBLISHED_MD5, make_faces, write_faces
from diffpeaks_paper import supervised
from diffpeaks_paper.face_tables import face_table
from diffpeaks_paper.records import Records
from diffpeaks_paper.sources import available_source
from diffpeaks_paper.supervised import LEARNED, TRAIN_FILES, WEIGHTS
from diffpeaks_paper.supervised_tables import half_table, set_rows

N_FACES = 1000
FAST = {
    "L-GCN": {"n_neighbors": 10, "n_second": 3, "n_links": 3, "n_hidden": 16, "n_epochs": 1},
    "LTC": {"n_hidden": 16, "n_epochs": 1},
    "GCN-V": {"n_hidden": 16, "n_epochs": 1},
    "GCN-V+E": {"n_hidden": 16, "n_epochs": 1, "n_link_epochs": 1},
}


@pytest.fixture
def fast(monkeypatch):
    """Small networks that are hardly trained."""
    for name, params in FAST.items():
        small = {**params, "device": "cpu"}
        monkeypatch.setitem(LEARNED, name, replace(LEARNED[name], on_sets=small, on_halves=small))


def test_no_one_is_both_trained_on_and_tested():
    X, y = make_faces(1200, 300, n_features=16, random_state=0)
    trained, tested = supervised.halves(SimpleNamespace(X=X, y=y, name="lfw"))
    assert not set(trained.y) & set(tested.y)
    assert len(trained.y) + len(tested.y) == 1200
    assert len(set(trained.y)) == len(set(tested.y)) == 150
    again, _ = supervised.halves(SimpleNamespace(X=X, y=y, name="lfw"))
    np.testing.assert_array_equal(again.y, trained.y)


@pytest.mark.usefixtures("fast")
def test_rows_of_half_of_the_people(tmp_path):
    path = tmp_path / "results.jsonl"
    for job in supervised.half_jobs("lfw", "generated", 1200):
        found = supervised.run_on_half(job, None, str(tmp_path))
        with path.open("a") as file:
            file.write(json.dumps({**job, **found, "seconds": 1.0}) + "\n")
    text = "\n".join(half_table(Records(path), "lfw", "generated", 1200))
    assert "**Supervised**, trained on the" in text
    assert text.count(", supervised |") == len(LEARNED)
    assert "| DensityPeaks() |" in text
    assert half_table(Records(path), "lfw", "real", 1200) == []


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("method", LEARNED)
def test_rows_of_the_tables_of_faces(tmp_path, method):
    (job,) = (
        job for job in supervised.set_jobs("ms1m", "generated", N_FACES, None) if job["method"] == method
    )
    found = supervised.run_on_set(job, None, str(tmp_path))
    assert (found["n_trained"], found["n_tested"], found["device"]) == (N_FACES, N_FACES, "cpu")
    faces = {"experiment": "faces", "set": "ms1m", "source": "generated", "n_samples": N_FACES}
    score = {"precision": 90.0, "recall": 80.0, "f": 84.7, "n_clusters": 1234}
    naive = {**faces, "method": "naive", "recall": 1.0, "pairwise": score, "bcubed": score, "seconds": 1.0}
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (naive, {**job, **found, "seconds": 3.0})))
    text = face_table(Records(path), "ms1m", "generated", N_FACES)
    assert f"| {method}, supervised | " in text
    assert "trained on 1,000 generated faces of 15 other identities | 3 (cpu)" in text
    assert text.count("supervised, not run") == len(LEARNED) - 1


@pytest.fixture
def ms1m(tmp_path):
    """The tested faces of MS1M in a data folder, in the published format."""
    folder = tmp_path / "ms1m"
    folder.mkdir()
    write_faces(folder, "part1_test", n_samples=N_FACES, n_identities=30, random_state=0)
    return folder


def row_on_files(ms1m, method):
    """The row of a method that is run on the files of a data folder."""
    data = ms1m.parent
    source, size = available_source("ms1m", data)
    (job,) = (job for job in supervised.set_jobs("ms1m", source, size, data) if job["method"] == method)
    line = {**job, **supervised.run_on_set(job, data, str(data / "graphs")), "seconds": 1.0}
    (data / "results.jsonl").write_text(json.dumps(line) + "\n")
    rows = set_rows(Records(data / "results.jsonl"), lambda method: "", "ms1m", source, size)
    return line, next(row for row in rows if row[0] == f"{method}, supervised")


@pytest.mark.usefixtures("fast")
def test_a_network_is_trained_on_the_published_training_set(ms1m):
    write_faces(ms1m, TRAIN_FILES, n_samples=1100, n_identities=40, random_state=1)
    line, row = row_on_files(ms1m, "GCN-V")
    assert (line["n_trained"], line["n_tested"]) == (1100, N_FACES)
    assert "trained on 1,100 faces of part0_train of 40 other identities" in row[6]


def test_the_authors_network_is_not_trained(ms1m, monkeypatch):
    weights = ms1m / "pretrained_models"
    weights.mkdir()
    put_all(weights)
    for file in weights.iterdir():
        monkeypatch.setitem(PUBLISHED_MD5, file.name, md5(file.read_bytes()).hexdigest())
    line, row = row_on_files(ms1m, "GCN-V")
    assert "n_trained" not in line
    assert line["published"] == line["chosen"]
    assert row[6].endswith("with the authors' weights")


def test_what_real_sets_are_trained_on(tmp_path):
    """The authors' weights, or their training set, or nothing; no training set of emore_200k is known."""

    def teachers():
        return {job["trained_on"] for job in supervised.set_jobs("ms1m", "real 01", N_FACES, tmp_path)}

    assert teachers() == set()
    (tmp_path / "ms1m" / "features").mkdir(parents=True)
    (tmp_path / "ms1m" / "features" / "part0_train.bin").touch()
    assert teachers() == {TRAIN_FILES}
    (tmp_path / "ms1m" / "pretrained_models").mkdir()
    assert teachers() == {WEIGHTS}
    assert supervised.set_jobs("emore_200k", "real 01", N_FACES, tmp_path) == []
