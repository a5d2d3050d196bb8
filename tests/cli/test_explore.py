"""`diffpeaks explore` shows what was fitted or saved, and writes what was chosen when the page is left."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from clouds import general_position, same_partition

import diffpeaks
from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.cli import main, progress
from diffpeaks.explorer import Explorer

X = general_position(0, 120)


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Pages that were waited for; the user cuts into four clusters and leaves."""
    monkeypatch.chdir(tmp_path)
    names = [f"p{i}" for i in range(len(X))]
    pd.DataFrame(X, columns=["x", "y"]).assign(name=names).to_csv("points.csv", index=False)
    shown = []

    def wait(page):
        page._session.set_rule("n_clusters", 4)
        shown.append(page)
        page.close()

    monkeypatch.setattr(Explorer, "wait", wait)
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail("the browser was opened"))
    return shown


def test_what_was_chosen_is_written(pages, capsys):
    given = ["explore", "points.csv", "--id", "name", "--no-browser", "-o", "out.csv", "--text", "name"]
    assert main(given) == 0
    told = capsys.readouterr().err
    assert pages[0].url in told
    assert "labels = model.recut(n_clusters=4)" in told
    found = pd.read_csv("out.csv")
    assert found["name"].tolist() == [f"p{i}" for i in range(len(X))]
    assert found["label"].tolist() == pages[0].labels_.tolist()
    assert same_partition(found["label"], DensityPeaks().fit(X).recut(n_clusters=4))
    desk = pages[0]._server.desk
    assert desk.captions.text_of(3) == "p3"
    assert desk.readings["/api/labels.csv"]().body == Path("out.csv").read_bytes()


def test_a_table_of_which_nothing_else_is_shown_shows_its_own_columns(pages):
    assert main(["explore", "points.csv", "--id", "name", "--no-browser"]) == 0
    assert list(pages[0]._server.desk.captions.metadata) == ["x", "y"]
    np.testing.assert_allclose(pages[0]._server.desk.captions.metadata["y"], X[:, 1])


def test_a_session_is_opened_and_names_are_written(pages):
    with diffpeaks.explore(DensityPeaks().fit(X), open_browser=False) as page:
        page._session.set_rule("n_clusters", 4)
        page._session.rename(0, "first")
        page.save_session("work.json")
    given = ["explore", "points.csv", "--columns", "[xy]", "--no-browser", "--session"]
    assert main([*given, "work.json", "-o", "out.csv"]) == 0
    found = pd.read_csv("out.csv")
    assert set(found["name"][found["label"] == 0]) == {"first"}
    assert main([*given, "none.json"]) == 2


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ([], "features"),
        (["--map", "graph"], "neighbour graph"),
        (["--map", "pca"], "features"),
        (["--coordinates", "map.npy"], "map.npy"),
    ],
)
def test_the_map_has_its_name(pages, given, name):
    np.save("map.npy", X)
    assert main(["explore", "points.csv", "--id", "name", "--no-browser", *given]) == 0
    assert pages[0]._server.desk._about["map_name"] == name


def test_progress_is_shown_until_the_page_is_open(pages, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_LASTING", 0.0)
    given = ["explore", "points.csv", "--id", "name", "--no-browser", "-o", "out.csv"]
    assert main(given) == 0
    stages, _, after = capsys.readouterr().err.partition("page   ")
    named = [line.partition(":")[0] for line in stages.splitlines()]
    assert named[:2] == ["reading", "points"]
    assert "map" in named
    assert after.splitlines()[-1] == "labels out.csv"
    assert main([*given, "--quiet"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == f"page   {pages[1].url}"


def test_a_saved_model_is_shown(pages):
    model = DensityPeaks(halo=True).fit(X)
    model.save("points.model")
    assert main(["explore", "--model", "points.model", "--no-browser", "-o", "out.npy"]) == 0
    assert same_partition(np.load("out.npy"), model.recut(n_clusters=4))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "no points"),
        (["points.csv", "--id", "name", "--map", "none"], "no map"),
        (["points.csv", "--id", "name", "-o", "points.csv"], "points.csv"),
        (["--model", "missing.model"], "missing.model"),
        (["missing.csv", "--port", "65536"], "port=65536 must be an integer in 0 .. 65535; 0 takes"),
        (["missing.csv", "--port", "-1"], "port=-1"),
    ],
)
def test_what_cannot_be_shown_is_refused(pages, capsys, given, reason):
    assert main(["explore", "--no-browser", *given]) == 2
    assert reason in capsys.readouterr().err
    assert pages == []


def test_other_clusterers_are_refused():
    with pytest.raises(TypeError, match="DensityPeaks"):
        diffpeaks.explore(DensityDBSCAN().fit(X), open_browser=False)


def test_interrupting_ends_the_page(monkeypatch):
    page = diffpeaks.explore(DensityPeaks().fit(X), open_browser=False)

    def interrupted(timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(page._thread, "join", interrupted)
    page.wait()
    assert page._server.has_ended


def test_a_port_that_is_taken_is_refused_before_anything_is_read(pages, monkeypatch, capsys):
    monkeypatch.setattr("diffpeaks.cli.explore.read_shown", lambda _: pytest.fail("points were read"))
    with diffpeaks.explore(DensityPeaks().fit(X), open_browser=False) as page:
        port = page._server.server_port
        assert main(["explore", "points.csv", "--id", "name", "--port", str(port)]) == 2
    assert f"port={port} cannot be opened" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["explore", "--no-browser"], ["report", "-o", "page.html"]])
@pytest.mark.parametrize("content", ["id,label", "[]", '{"format": "diffpeaks session", "version": 99}'])
def test_a_file_that_is_no_session_is_refused_before_anything_is_read(
    pages, monkeypatch, capsys, command, content
):
    monkeypatch.setattr(f"diffpeaks.cli.{command[0]}.read_shown", lambda _: pytest.fail("points were read"))
    Path("work.json").write_text(content)
    assert main([*command, "points.csv", "--id", "name", "--session", "work.json"]) == 2
    assert "'work.json' is no session of diffpeaks" in capsys.readouterr().err
