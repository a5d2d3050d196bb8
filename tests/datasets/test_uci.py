"""The sets of the paper: no network but this machine's own."""

import http.client
import http.server
import os
import threading
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import processes
import pytest
import sklearn.datasets
from reference import values_checksum
from refusals import refuses

from diffpeaks.datasets import UCI_NAMES, load_uci, sources, uci

IRIS = sklearn.datasets.load_iris()
SPECIES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")


def test_names_are_in_the_order_of_the_table():
    names = (
        "banknote breast_d breast_o control glass haberman ionosphere iris libras pageblocks seeds segment"
    )
    assert [*names.split(), "wine"] == list(UCI_NAMES)


@pytest.mark.parametrize(
    ("name", "loader"), [("iris", "load_iris"), ("wine", "load_wine"), ("breast_d", "load_breast_cancer")]
)
def test_sets_of_scikit_learn_need_no_file(name, loader, monkeypatch):
    monkeypatch.setenv("DIFFPEAKS_DATA", "/nowhere")
    X, y = getattr(sklearn.datasets, loader)(return_X_y=True)
    data = load_uci(name, download=False)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert (data.name, data.X.dtype, data.y.dtype) == (name, np.float64, np.int64)
    known = uci._SETS[name]
    assert (known.shape, known.n_classes, known.checksum) == (X.shape, len(set(y)), values_checksum(X, y))


def numbers(n_features, separator=","):
    return separator.join(f"0.{i}" for i in range(1, n_features + 1))


def values(n_features):
    return [float(f"0.{i}") for i in range(1, n_features + 1)]


PUBLISHED = {  # the first lines of the files as they are published, or lines like them; features; labels
    "banknote": ("3.6216,8.6661,-2.8073,-0.44699,0\n", [[3.6216, 8.6661, -2.8073, -0.44699]], [0]),
    "breast_o": ("1057013,8,4,5,1,2,?,7,3,1,4\n", [[8, 4, 5, 1, 2, np.nan, 7, 3, 1]], [4]),
    "control": (f"{numbers(60, ' ')}  \n" * 201, [values(60)] * 201, [1] * 100 + [2] * 100 + [3]),
    "glass": ("1,1.52101,13.64,4.49,1.10,71.78,0.06,8.75,0.00,0.00,1\n",
              [[1.52101, 13.64, 4.49, 1.1, 71.78, 0.06, 8.75, 0, 0]], [1]),
    "haberman": ("30,64,1,1\n30,62,3,1", [[30, 64, 1], [30, 62, 3]], [1, 1]),
    "ionosphere": (f"{numbers(34)},g\n{numbers(34)},b\n", [values(34)] * 2, [1, 0]),
    "libras": (f"classLast,90,15,comma\n{numbers(90)},15\n", [values(90)], [15]),
    "pageblocks": ("% 1. Title\n%\n\n@relation page-blocks\n\n@attribute height INTEGER\n@data\n"
                   "5,7,35,1.400,.400,.657,2.33,14,23,6,1\n",
                   [[5, 7, 35, 1.4, 0.4, 0.657, 2.33, 14, 23, 6]], [1]),
    "seeds": ("15.26, 14.84, 0.871, 5.763, 3.312, 2.221, 5.22, 1\n",
              [[15.26, 14.84, 0.871, 5.763, 3.312, 2.221, 5.22]], [1]),
    "segment": (";;; -*- Mode -*-\n\nREGION-CENTROID-COL,REGION-CENTROID-ROW,HUE-MEAN\n\n"
                f"BRICKFACE,{numbers(19)}\nGRASS,{numbers(19)}\n", [values(19)] * 2, [0, 6]),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in UCI_NAMES if uci._SETS[name].source])
def test_published_formats(name):
    text, X, y = PUBLISHED[name]
    known = uci._SETS[name]
    data = sources.read_source(known.source, text.encode(), name, known.shape[1], "the file")
    np.testing.assert_array_equal(data.X, X)
    assert (data.y.tolist(), data.y.dtype, data.name) == (y, np.int64, name)
    with refuses("the file', line|cells"):
        sources.read_source(known.source, text.encode() + b"\n1 1\n", name, known.shape[1], "the file")


def test_published_words_that_are_no_label():
    with refuses("the file', line 1, column 'label'|'x'|an integer"):
        sources.read_source(uci._SETS["ionosphere"].source, f"{numbers(34)},x".encode(), "", 34, "the file")


@pytest.fixture
def published(tmp_path, monkeypatch):
    """The file of a server that has iris in a format of its own; `load_uci` knows it as "flowers"."""
    source = sources.Source(
        "owner/name", "abc", "data/iris.data", codes={name: code for code, name in enumerate(SPECIES)}
    )
    known = uci._Set((150, 4), 3, values_checksum(IRIS.data, IRIS.target), source)
    monkeypatch.setattr(uci, "_SETS", {"flowers": known})
    monkeypatch.delenv("DIFFPEAKS_DATA", raising=False)
    file = tmp_path / "server/owner/name/abc/data/iris.data"
    file.parent.mkdir(parents=True)
    rows = zip(IRIS.data.tolist(), IRIS.target, strict=True)
    file.write_text("".join(f"{','.join(map(str, row))},{SPECIES[label]}\n" for row, label in rows))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = partial(Quiet, directory=tmp_path / "server")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(sources, "_RAW", f"http://127.0.0.1:{server.server_port}")
        yield file
        server.shutdown()
        thread.join()


def assert_iris(data):
    np.testing.assert_array_equal(data.X, IRIS.data)
    np.testing.assert_array_equal(data.y, IRIS.target)
    assert data.name == "flowers"


def test_download_once(published, tmp_path):
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"a/uci/flowers.csv.*download=True.*iris.data.*flowers.source"
    ):
        load_uci("flowers", tmp_path / "a", download=False)
    assert_iris(load_uci("flowers", tmp_path / "a"))
    assert os.listdir(tmp_path / "a/uci") == ["flowers.csv"]
    kept = published.read_bytes()
    published.unlink()
    assert_iris(load_uci("flowers", str(tmp_path / "a")))
    with pytest.raises(OSError, match=r"(?s)http://127.*iris.data.*404.*b/uci/flowers.source"):
        load_uci("flowers", tmp_path / "b")
    (tmp_path / "b/uci").mkdir()
    (tmp_path / "b/uci/flowers.source").write_bytes(kept)  # as the message says
    assert_iris(load_uci("flowers", tmp_path / "b", download=False))


def test_no_connection(published, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_RAW", "http://127.0.0.1:1")
    with pytest.raises(
        OSError, match=r"http://127.0.0.1:1/owner/name/abc/data/iris.data.*refused.*flowers.source"
    ):
        load_uci("flowers", tmp_path)


def test_an_answer_that_breaks_off(published, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise http.client.IncompleteRead(b"5.1", 4000)

    monkeypatch.setattr(urllib.request, "urlopen", broken)
    with pytest.raises(OSError, match=r"iris.data.*3 bytes read, 4000 more expected.*flowers.source"):
        load_uci("flowers", tmp_path)


def test_other_values_are_refused_and_not_kept(published, tmp_path):
    good = published.read_text()
    published.write_text(good.replace("5.1,3.5", "5.1,3.6", 1))
    with refuses(f"iris.data|SHA-256|instead of|{values_checksum(IRIS.data, IRIS.target)}|published"):
        load_uci("flowers", tmp_path)
    published.write_text(good.split("\n", 1)[1])
    with refuses("iris.data|(149, 4)|(150, 4)"):
        load_uci("flowers", tmp_path)
    assert not (tmp_path / "uci").exists()
    published.write_text(good)
    load_uci("flowers", tmp_path)
    table = tmp_path / "uci/flowers.csv"
    table.write_text(table.read_text().replace("5.1,3.5", "5.1,3.6", 1))
    with refuses("uci/flowers.csv|SHA-256|instead of|delete the file"):
        load_uci("flowers", tmp_path)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("No space left on device")])
def test_an_interruption_leaves_no_file(published, tmp_path, monkeypatch, failure):
    def fail(*args):
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises((KeyboardInterrupt, OSError)):
        load_uci("flowers", tmp_path)
    assert not list((tmp_path / "uci").iterdir())


def test_folders(published, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    load_uci("flowers")
    assert (tmp_path / "caches/diffpeaks/uci/flowers.csv").is_file()  # made where no folder is given
    for unset in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert uci.data_folder() == tmp_path / "home/.cache/diffpeaks"
    monkeypatch.setenv("DIFFPEAKS_DATA", str(tmp_path / "variable"))
    with pytest.raises(FileNotFoundError, match=r"DIFFPEAKS_DATA='.*/variable' does not exist; make it"):
        load_uci("flowers")
    (tmp_path / "variable").mkdir()
    assert uci.data_folder() == tmp_path / "variable"
    with pytest.raises(FileNotFoundError, match=r"folder='.*/argument' does not exist; make it"):
        load_uci("flowers", tmp_path / "argument")
    (tmp_path / "argument").mkdir()
    assert uci.data_folder(tmp_path / "argument") == tmp_path / "argument"
    monkeypatch.setenv("DIFFPEAKS_DATA", "")
    assert uci.data_folder() == tmp_path / "home/.cache/diffpeaks"


def test_unknown_name():
    with refuses("name='irises'|banknote, breast_d"):
        load_uci("irises")


def test_addresses_are_of_fixed_commits():
    for name in UCI_NAMES:
        source = uci._SETS[name].source
        if source:
            assert source.url.startswith(
                f"https://raw.githubusercontent.com/{source.repository}/{source.commit}/"
            )
            assert len(source.commit) == 40


def test_the_table_in_the_documents_is_that_of_the_package():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    for name in UCI_NAMES:
        n_samples, n_features = uci._SETS[name].shape
        assert f"| `{name}` | {n_samples:,} | {n_features} | {uci._SETS[name].n_classes} |" in page


def test_import_of_the_library_leaves_the_sets_alone():
    code = "import sys, diffpeaks; sys.exit('diffpeaks.datasets' in sys.modules)"
    assert processes.run(code).returncode == 0
