"""`diffpeaks report`: the page of a fit, from files or a saved model; refusals come before the work."""

import json

import numpy as np
import pandas as pd
import pytest
from clouds import general_position
from pages import Page
from PIL import Image

from diffpeaks import DensityPeaks
from diffpeaks.cli import main
from diffpeaks.results.members import members_of

X = general_position(3, 120, 3)
NAMES = [f"s{i:03d}" for i in range(len(X))]
TABLE = pd.DataFrame(X, columns=["x", "y", "z"]).assign(
    name=NAMES, title=[f"title {i:03d}" for i in range(len(X))], u=X[:, 0], v=-X[:, 1]
)
POINTS = ["points.csv", "--id", "name", "--columns", "x", "--columns", "y", "--columns", "z"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("points.csv", index=False)
    np.save("points.npy", X)
    np.save("places.npy", X[:, :2])
    DensityPeaks(n_clusters=4).fit(X).save("points.model")
    return tmp_path


def page_of(folder, *words):
    assert main(["report", *words, "-o", "report.html"]) == 0
    return Page.of(folder / "report.html")


def test_a_page_of_files(folder, capsys):
    page = page_of(
        folder, *POINTS, "--text", "title", "--show", "u", "v", "--n-clusters", "4", "--members", "2"
    )
    assert capsys.readouterr().err.count("\n") == 5
    members = members_of(DensityPeaks(n_clusters=4).fit(X))
    assert page.ids() == [f"cluster-{label}" for label in members.largest_first()]
    for label in range(4):
        for sample in members.central(label, 2):
            assert f"title {sample:03d} s{sample:03d} u {X[sample, 0]}" in page.text
    for told in ("Clusters of points.csv", "n_clusters=4", "120 samples of 3 features", "seconds read"):
        assert told in page.text


@pytest.mark.usefixtures("undrawn")
def test_the_summary_as_json(folder, capsys):
    assert main(["report", *POINTS, "-o", "report.html", "--json", "--title", "mine"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_samples"] == 120
    assert summary["output_bytes"] == (folder / "report.html").stat().st_size
    assert "mine" in Page.of(folder / "report.html").text


def told_of_clusters(page):
    return page.text[page.text.index("Central members are") :]


@pytest.mark.usefixtures("undrawn")
def test_a_saved_model_has_the_page_of_its_fit(folder):
    fitted = page_of(folder, "points.npy", "--n-clusters", "4")
    alone = page_of(folder, "--model", "points.model")
    assert told_of_clusters(alone) == told_of_clusters(fitted)
    assert ", fit " in fitted.text
    assert "seconds read " in alone.text
    assert ", fit " not in alone.text  # which is not known of a fit that was saved
    named = page_of(folder, *POINTS, "--model", "points.model", "--text", "title")
    assert "title 000" in named.text or "title 001" in named.text
    beside = page_of(folder, "--model", "points.model", "--captions", "points.csv", "--text", "title")
    assert beside.text.count("title ") == named.text.count("title ")


def axes_of(page):
    return [name for name in ("first principal axis", "u", "v") if f" {name} " in f" {page.text} "]


def test_maps(folder):
    assert axes_of(page_of(folder, "points.npy", "--map", "pca")) == ["first principal axis"]
    laid_out = page_of(folder, "points.npy")
    assert len(laid_out.with_class("map")) == 1
    assert not axes_of(laid_out)
    assert axes_of(page_of(folder, *POINTS, "--coordinates", "u", "v")) == ["u", "v"]
    assert len(page_of(folder, "points.npy", "--coordinates", "places.npy").with_class("map")) == 1
    assert not page_of(folder, "points.npy", "--map", "none").with_class("map")


@pytest.mark.usefixtures("undrawn")
def test_pictures(folder):
    (folder / "pictures").mkdir()
    for i in range(len(X)):
        Image.new("RGB", (20, 20), (2 * i, 0, 0)).save(f"pictures/s{i:03d}.png")
    page = page_of(folder, *POINTS, "--images", "pictures", "--members", "1", "--n-clusters", "3")
    assert [tag for tag, _ in page.elements].count("img") >= 3
    assert "no picture" not in page.text


def test_names_of_files_and_columns_are_text(folder):
    name = "<script>alert(1)</script>.csv"
    attack = "<img src=x onerror=alert(1)>"
    TABLE.rename(columns={"title": attack}).to_csv(name.replace("/", "\N{FRACTION SLASH}"), index=False)
    page = page_of(folder, name.replace("/", "\N{FRACTION SLASH}"), *POINTS[1:], "--show", attack)
    assert len(page.scripts) == 1
    assert not any(tag == "img" for tag, _ in page.elements)
    assert f"{attack} title" in page.text


REFUSED = [
    ([], "no points|--model"),
    (["nowhere.csv"], "no file 'nowhere.csv'"),
    (["points.npy", "--text", "title"], "'points.npy' has no columns|--captions"),
    ([*POINTS, "--show", "titel"], "'titel'|'title'"),
    (["points.npy", "--images", "nowhere"], "no folder 'nowhere'"),
    (["points.npy", "--members", "0"], "n_members=0"),
    (["points.npy", "--coordinates", "u", "v", "w"], "two columns or one file"),
    (["points.npy", "--coordinates", "points.npy"], "(120, 3)|(120, 2)"),
    ([*POINTS, "--coordinates", "u", "title"], "row 0, column 'title'|'title 000'"),
    ([*POINTS, "--metric", "precomputed", "--map", "pca"], "--map graph|--coordinates|--map none"),
    (["points.npy", "--min-prominence", "-1"], "min_prominence"),
    (["--model", "nowhere.model"], "no file 'nowhere.model'"),
    (["--model", "points.model", "--n-clusters", "3"], "--n-clusters has no effect with --model"),
    (["--model", "points.model", "--text", "title"], "'title'|in no file"),
    (["--model", "points.model", "--coordinates", "u", "v"], "'u', 'v'|in no file"),
    (["places.npy", "--model", "points.model"], "'places.npy'|'points.model'|120 samples of 3"),
    (["moved.npy", "--model", "points.model"], "'moved.npy'|are not those of the model"),
]


@pytest.mark.parametrize(("words", "told"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_refusals_come_before_the_work(folder, capsys, monkeypatch, words, told):
    np.save("moved.npy", X + 1)
    monkeypatch.setattr(DensityPeaks, "fit", lambda *_: pytest.fail("the work was begun"))
    (folder / "report.html").write_text("the old one")
    assert main(["report", *words, "-o", "report.html"]) == 2
    error = capsys.readouterr().err
    assert all(word in error for word in told.split("|")), error
    assert (folder / "report.html").read_text() == "the old one"


@pytest.mark.parametrize("output", ["points.csv", "nowhere/report.html", "."])
def test_where_it_cannot_be_written(folder, capsys, output):
    assert main(["report", *POINTS, "-o", output]) == 2
    assert repr(output.split("/")[0])[1:-1] in capsys.readouterr().err
    assert (folder / "points.csv").read_text() == TABLE.to_csv(index=False)


@pytest.mark.usefixtures("undrawn")
def test_values_that_miss_have_no_principal_axes(folder, capsys):
    holes = X.copy()
    holes[3, 1] = np.nan
    np.save("holes.npy", holes)
    given = ["report", "holes.npy", "--metric", "nan_euclidean", "-o", "report.html"]
    assert main([*given, "--map", "pca"]) == 2
    assert "NaN" in capsys.readouterr().err
    assert main(given) == 0  # their graph is known
