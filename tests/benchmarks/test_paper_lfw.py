"""The table on LFW, on generated faces and small files: every method runs, and bad files are refused."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refuses

from diffpeaks.cli import main
from diffpeaks.datasets import LFW_LIKENESS, make_faces
from diffpeaks_paper import command, lfw_densities, lfw_runs, likeness, sources
from diffpeaks_paper.lfw_methods import METHODS, grid_of
from diffpeaks_paper.lfw_tables import lfw_table
from diffpeaks_paper.records import Records

ROOT = Path(__file__).parents[2]
REAL = "real 0123456789abcdef"
N_FACES = 1000
EXTRA = "EVoC"  # which the tests do without


@pytest.fixture
def faces_file(tmp_path):
    """A file of 1,100 faces in its place in a data folder."""
    X, y = make_faces(1100, 480, **LFW_LIKENESS, random_state=1)
    (tmp_path / "real").mkdir()
    np.savez(tmp_path / "real" / "faces_lfw.npz", X=X.astype(np.float16), y=y.astype(np.int32))
    return tmp_path / "real" / "faces_lfw.npz"


@pytest.mark.parametrize("method", [*lfw_densities.ROWS, *METHODS])
def test_every_method_as_published_and_at_its_best(tmp_path_factory, monkeypatch, method):
    if method == EXTRA:
        pytest.skip("needs the extra clusterers")
    if method in METHODS:
        monkeypatch.setitem(METHODS, method, replace(METHODS[method], grid=METHODS[method].grid[:2]))
    else:
        monkeypatch.setattr(lfw_densities, "_NEIGHBORS", (40, 200))
    work = str(tmp_path_factory.getbasetemp() / "graphs")
    (job,) = (job for job in lfw_runs.jobs("lfw", "generated", N_FACES) if job["method"] == method)
    found = lfw_runs.run(job, None, work)
    for score in ("pairwise", "bcubed"):
        assert found["best"][score]["f"] >= found["published"][score]["f"]
    assert found["best"]["bcubed"]["f"] > (15 if method in ("FC-ES", "Leiden") else 50)
    assert found["n_settings"] >= 1
    json.dumps(found)


def test_grids_hold_what_is_published_of_densities():
    """So that the best is no worse; a sweep tries every threshold."""
    for clusterer, density in lfw_densities.ROWS.values():
        setting = lfw_densities.published_setting(clusterer, density)
        assert setting.pop("max_link", 0.8) == 0.8
        assert setting.pop("min_density", 1) == 1
        tried = {"radius": lfw_densities._RADII, "n_neighbors": lfw_densities._NEIGHBORS}
        tried["bandwidth"] = lfw_densities._BANDWIDTHS
        assert all(value in tried[name] for name, value in setting.items())


def test_grids_are_all_combinations():
    assert grid_of(a=(1, 2), b=(3,)) == ({"a": 1, "b": 3}, {"a": 2, "b": 3})


def lines_of(source):
    score = {"precision": 90.0, "recall": 80.0, "f": 84.7, "n_clusters": 1234, "max_link": 0.99}
    made = {"published": {"pairwise": score, "bcubed": score, "setting": {}, "seconds": 1.0}, "n_settings": 7}
    made |= {"best": {"pairwise": score, "bcubed": score}, "packages": {"evoc": "0.3.2"}}
    graph = {"search_seconds": 0.5, "n_neighbors": 256, "recall": 1.0, "n_identities": 480}
    machine = dict.fromkeys(("diffpeaks", "numpy", "scipy", "scikit-learn"), "1") | {"cores": 2}
    jobs = lfw_runs.jobs("lfw", source, 1100)
    parts = [graph if job["method"] == lfw_runs.GRAPH else made for job in jobs]
    return [
        {**job, **part, "seconds": 1.0, "machine": machine} for job, part in zip(jobs, parts, strict=True)
    ]


def test_results_of_real_faces_are_meant_unless_generated_ones_are_asked_for(tmp_path, capsys):
    pytest.importorskip("evoc")
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines_of(REAL) + lines_of("generated")))
    given = ["paper", "table-lfw", "--read", "--results", str(path), "--output", str(tmp_path)]
    assert main(given) == 0
    text = (tmp_path / "table-lfw.md").read_text()
    assert text.startswith("Labeled Faces in the Wild: 1,100 samples of 480 people.")
    assert "| DensityPeaks() | 84.7 | 84.7 | 1,234 | 1.0 * | default | 84.7 |" in text
    assert "evoc 0.3.2" in text
    assert main([*given, "--generated"]) == 0
    assert "**Generated in the likeness of LFW**: 1,100" in capsys.readouterr().out


def test_a_missing_package_is_named_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "evoc" else sys)
    assert main(["paper", "table-lfw", "--generated", "--output", str(tmp_path / "out")]) == 2
    said = "table-lfw needs evoc; install with: pip install 'diffpeaks[clusterers,learned]'"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("table", ["table-lfw", "table-likeness"])
def test_a_missing_file_is_refused_with_the_remedy(tmp_path, monkeypatch, capsys, table):
    monkeypatch.setattr(command, "find_spec", lambda name: sys)
    monkeypatch.delenv("DIFFPEAKS_DATA", raising=False)
    given = ["paper", table, "--output", str(tmp_path / "out")]
    assert main(given) == 2
    error = capsys.readouterr().err
    assert (
        "no data folder is named; name the one with real/faces_lfw.npz by --data or DIFFPEAKS_DATA" in error
    )
    monkeypatch.setenv("DIFFPEAKS_DATA", str(tmp_path))
    assert main(given) == 2
    assert f"there is no file {tmp_path / 'real' / 'faces_lfw.npz'}; put it there" in capsys.readouterr().err


def test_files_that_are_no_faces(tmp_path, faces_file):
    source, size = sources.available_source("lfw", tmp_path)
    assert (source[:5], size) == ("real ", 1100)
    whole = faces_file.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"neither numbers nor a zip"):
        faces_file.write_bytes(content)
        with refuses("faces_lfw.npz is no whole file of numpy with the arrays X and y|fetch the file again"):
            sources.available_source("lfw", tmp_path)
    np.savez(faces_file, X=np.ones((1100, 8)))
    with refuses("faces_lfw.npz is no whole file of numpy with the arrays X and y|y is not a file"):
        sources.available_source("lfw", tmp_path)
    for X, y in (
        (np.ones((1100, 8)), np.zeros(1099, int)),
        (np.ones((1100, 8), int), np.zeros(1100, int)),
        (np.ones((1100, 8)), np.zeros(1100)),
        (np.ones(1100), np.zeros(1100, int)),
    ):
        np.savez(faces_file, X=X, y=y)
        with refuses("faces_lfw.npz has X of|y of|a row of floats and y an integer"):
            sources.available_source("lfw", tmp_path)


def test_the_likeness_of_a_small_file(tmp_path, faces_file, capsys):
    given = ["paper", "table-likeness", "--data", str(tmp_path), "--output", str(tmp_path / "out")]
    assert main(given) == 0
    text = capsys.readouterr().out
    assert "| people seen once |" in text
    assert text.count("| generated") == 4  # two columns of statistics, two of scores
    assert main([*given, "--generated"]) == 2
    assert "table-likeness compares with real faces; leave --generated out" in capsys.readouterr().err


def test_statistics_by_hand():
    """A hundred people with an image and its copy, two hundred with one image, in random directions."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 12)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.concatenate((np.repeat(np.arange(100), 2), 100 + np.arange(200)))
    X[1:200:2] = X[0:200:2]  # every second image is the first again
    found = likeness.statistics(X, y)
    assert found["people seen once"] == [200]
    assert found["images of the others: median, 0.95, 0.99, most"] == [2, 2, 2, 2]
    assert found["nearest distance, 2 to 9 images"] == pytest.approx([0, 0, 0, 0], abs=1e-3)
    assert found["cosine of one person's images"] == pytest.approx([1, 1, 1, 1])
    assert found["share of images of several that are like none of their person (cosines below 0.3)"] == [0]
    (dimension,) = found["intrinsic dimension, people seen once"]
    assert 6 < dimension < 12  # of 11, seen through 400 samples
    assert found["nearest distance, 10 or more"] == found["intrinsic dimension, 30 or more"] == []
    assert min(found["nearest distance to someone else"]) > 0.1


@pytest.mark.parametrize(
    ("table", "make", "jobs"),
    [
        ("table-lfw", lfw_table, lfw_runs.jobs),
        ("table-likeness", likeness.likeness_table, likeness.jobs),
    ],
)
def test_the_documents_hold_the_tables_of_real_faces(table, make, jobs):
    records = Records(ROOT / "benchmarks" / "results" / "paper.jsonl")
    source, size = sources.recorded_source(records, jobs, "lfw", real=True)
    assert (ROOT / "docs" / "reproduction" / f"{table}.md").read_text() == make(records, "lfw", source, size)
