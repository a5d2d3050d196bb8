"""Results come back as they were written, and are written whole or not at all."""

import os

import numpy as np
import pytest
from point_files import X, check_refused

from diffpeaks._base.files import replacing
from diffpeaks.files import Choice, check_destination, read_column, write_results

RESULTS = {
    "id": np.array(["a,b", 'q"', "ü"], dtype=object),
    "label": np.array([0, -1, 1]),
    "density": np.array([0.1, 1 / 3, 1e-300]),
    "delta": np.array([np.inf, 2.0, 0.5]),
}


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_results_are_read_as_they_were(folder, name):
    check_destination(name)
    write_results(name, RESULTS)
    for column, values in RESULTS.items():
        assert read_column(name, Choice(column, "--column")).astype(values.dtype).tolist() == values.tolist()
    assert os.listdir() == [name]


def test_a_file_of_labels_alone(folder):
    write_results("out.npy", RESULTS)
    assert np.load("out.npy").tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("path", "inputs", "words"),
    [
        ("nowhere/out.csv", ["a.npy"], "nowhere|does not exist"),
        ("a.npy", ["a.npy"], "'a.npy'|is an input"),
        ("out.txt", ["a.npy"], "'out.txt'|'csv'|'parquet'"),
        ("out.npz", ["a.npy"], "'out.npz'|'npy'"),
        ("out.h5ad", ["a.npy"], "'out.h5ad'|copy|'a.npy'"),
        (".", ["a.npy"], "folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(folder, path, inputs, words):
    np.save("a.npy", X)
    check_refused(lambda: check_destination(path, inputs), words)


@pytest.mark.parametrize("name", ["out.csv", "out.npy", "out.parquet"])
def test_an_interruption_leaves_what_was_there(folder, name, monkeypatch):
    (folder / name).write_text("before")

    def interrupted(file_number):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_results(name, RESULTS)
    assert os.listdir() == [name]
    assert (folder / name).read_text() == "before"


def test_a_pipe_is_not_replaced(tmp_path):
    """Nor is a device, which root could replace by a file."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="is a device or a pipe, not a file; give the name of a file"):
        check_destination(str(pipe))
    with pytest.raises(ValueError, match="is a device or a pipe"), replacing(pipe):
        pass
    assert pipe.is_fifo()
