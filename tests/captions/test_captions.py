"""Texts, columns and pictures are those of the files; what leads out of a folder is refused."""

import argparse

import numpy as np
import pandas as pd
import pytest
from clouds import general_position

from diffpeaks._base.typed_columns import shown_value
from diffpeaks.captions import Captions, OutsideFolderError, Pictures
from diffpeaks.cli.captions import add_captions, captions_of, check_captions, columns_beside
from diffpeaks.cli.inputs import add_inputs, samples_of
from diffpeaks.files import Wanted, read_samples

X = general_position(0, 6)
TABLE = pd.DataFrame(X, columns=["x", "y"]).assign(
    name=[f"s{i}" for i in range(6)],
    title=["one", "<script>alert(1)</script>", None, "four\nlines", "fünf", "six"],
    year=[2001, 2002, 2003, 2004, 2005, 2006],
)
FORMATS = {
    "points.csv": lambda path: TABLE.to_csv(path, index=False),
    "points.tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "points.parquet": lambda path: TABLE.to_parquet(path),
    "points.feather": lambda path: TABLE.to_feather(path),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, write in FORMATS.items():
        write(name)
    np.save("points.npy", X)
    return tmp_path


def captions(*words):
    parser = argparse.ArgumentParser()
    add_inputs(parser)
    add_captions(parser)
    given = parser.parse_args(words)
    check_captions(given)
    return captions_of(given, samples_of(given, "euclidean", columns_beside(given)))


@pytest.mark.parametrize("name", FORMATS)
def test_columns_beside_the_points(folder, name):
    samples = read_samples([name, name], Wanted(id="name", beside=("title", "year")))
    np.testing.assert_allclose(samples.X, np.tile(X, (2, 1)))
    assert samples.columns == ("x", "y")
    assert samples.ids.values.tolist() == 2 * TABLE["name"].tolist()
    assert list(map(shown_value, samples.beside["title"])) == 2 * TABLE["title"].fillna("").tolist()
    assert list(map(int, samples.beside["year"])) == 2 * TABLE["year"].tolist()


def test_a_column_can_be_a_point_and_be_shown(folder):
    samples = read_samples(["points.csv"], Wanted(columns=("x", "year"), beside=("year",)))
    assert samples.X[:, 1].tolist() == TABLE["year"].tolist() == list(map(int, samples.beside["year"]))


@pytest.mark.parametrize("source", [["points.parquet"], ["points.npy", "--captions", "points.csv"]], ids=len)
def test_captions_of_a_command(folder, source):
    named = ["--id", "name"] if len(source) == 1 else []
    found = captions(*source, *named, "--text", "title", "--show", "year", "name")
    assert found.name_of(4) == ("s4" if named else "4")
    assert [found.text_of(i) for i in range(6)] == TABLE["title"].fillna("").tolist()
    assert found.metadata_of(3) == {"year": "2004", "name": "s3"}
    assert found.picture_of(3) is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["points.csv", "--id", "name", "--text", "titel"], r"'points.csv'.*'titel'.*'title'"),
        (["points.npy", "--text", "title"], r"'points.npy' has no columns.*'title'.*--captions"),
        (["points.npy", "--captions", "points.csv"], "no column of 'points.csv'"),
        (["points.npy", "--captions", "points.csv", "--text", "no"], "'no'.*'title'"),
        (["points.npy", "--captions", "short.csv", "--text", "title"], "'short.csv' has 2 .* 6 samples"),
        (["points.csv", "--image-column", "name"], "--images"),
        (["points.csv", "--images", "nowhere"], "no folder 'nowhere'"),
        (["points.csv", "--images", "points.csv"], "'points.csv' is no folder"),
    ],
)
def test_what_cannot_be_shown_is_refused(folder, words, told):
    TABLE[:2].to_csv("short.csv", index=False)
    with pytest.raises((ValueError, OSError), match=told):
        captions(*words)


@pytest.fixture
def pictures(folder):
    (folder / "pictures" / "deep").mkdir(parents=True)
    for name in ("s0.png", "s1.JPG", "2.png", "deep/a.webp"):
        (folder / "pictures" / name).touch()
    (folder / "outside.png").touch()
    (folder / "pictures" / "link.png").symlink_to(folder / "outside.png")
    (folder / "pictures" / "inside.png").symlink_to(folder / "pictures" / "s0.png")
    return folder / "pictures"


def test_pictures_by_id_by_row_and_by_column(folder, pictures):
    by_id = captions("points.csv", "--id", "name", "--columns", "x", "--images", "pictures")
    assert [by_id.picture_of(i) for i in range(3)] == [pictures / "s0.png", None, None]
    by_row = captions("points.npy", "--images", "pictures")
    assert [by_row.picture_of(i) for i in (1, 2)] == [None, pictures / "2.png"]
    pd.DataFrame({"file": ["deep/a.webp", "deep/a", "s1.JPG", None, "a" * 5000, ""]}).to_csv("files.csv")
    named = captions(
        "points.npy", "--images", "pictures", "--image-column", "file", "--captions", "files.csv"
    )
    deep = pictures / "deep" / "a.webp"
    assert [named.picture_of(i) for i in range(6)] == [deep, deep, pictures / "s1.JPG", None, None, None]


def test_links_within_the_folder_are_followed_and_others_refused(pictures):
    found = Pictures(str(pictures), np.array(["inside", "link.png"], object))
    assert found.path(0) == pictures / "s0.png"
    with pytest.raises(OutsideFolderError, match=r"row 1.*'link.png' leaves the folder"):
        found.path(1)


@pytest.mark.parametrize("name", ["../outside.png", "/etc/passwd", "deep/../../outside", ".."])
def test_names_that_leave_the_folder_are_refused_at_once(pictures, name):
    with pytest.raises(OutsideFolderError, match=r"row 1: the picture .* leaves the folder"):
        Pictures(str(pictures), np.array(["s0", name], object))
    with pytest.raises(ValueError, match="zero byte"):
        Pictures(str(pictures), np.array(["a\0b"], object))


def test_lengths_must_agree(pictures):
    with pytest.raises(ValueError, match=r"'year' has shape \(2,\).* 3 samples"):
        Captions(3, metadata={"year": np.arange(2)})


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (np.nan, ""), (np.float32(0.5), "0.5"), (np.int64(3), "3"), (True, "True")],
)
def test_values_for_the_eye(value, shown):
    assert shown_value(value) == shown
