"""A page tells what the fit found, loads nothing, runs nothing of what it shows, and stays small."""

import base64
import hashlib
import io
import re
import sys

import matplotlib as mpl
import numpy as np
import pytest
from clouds import general_position
from pages import Page
from PIL import Image
from sklearn.exceptions import NotFittedError

from diffpeaks import DensityDBSCAN, DensityPeaks, neighbor_graph
from diffpeaks.captions import Captions, OutsideFolderError, Pictures
from diffpeaks.explorer.saved import saved_session, write_session
from diffpeaks.explorer.session import Session
from diffpeaks.report import content, pictures, write_report
from diffpeaks.report.thumbnails import thumbnail
from diffpeaks.results.members import members_of

mpl.use("agg")

X = general_position(0, 150, 4)
ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"
MODEL = DensityPeaks(n_clusters=5, min_cluster_size=8).fit(X)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "report.html"


def written(out, model=MODEL, *args, **named):
    write_report(model, out, *args, **named)
    return Page.of(out)


@pytest.mark.usefixtures("undrawn")
def test_the_page_tells_what_the_fit_found(out):
    names = np.array([f"sample {i:03d}" for i in range(len(X))], object)
    texts = np.array([f"text of {i:03d}" for i in range(len(X))], object)
    captions = Captions(len(X), names, texts, {"half": np.arange(len(X)) / 2})
    page = written(out, MODEL, captions, n_members=3, data="points.csv", seconds={"fit": 1.25})
    members = members_of(MODEL)
    assert f"samples 150 clusters {MODEL.n_clusters_} noise" in page.text
    assert page.ids() == [f"cluster-{label}" for label in members.largest_first()]
    for label in range(MODEL.n_clusters_):
        share = f"{members.sizes[label]} samples"
        assert share in page.text
        shown = [*members.central(label, 3), *(doubt.sample for doubt in members.doubtful(label, 3))]
        for sample in shown:
            assert names[sample] in page.text
            assert texts[sample] in page.text
            assert f"half {sample / 2:.6g}" in page.text
        for doubt in members.doubtful(label, 3):
            assert f"{100 * doubt.probability:.0f}%, else {doubt.next_label}" in page.text
    for sample in members.central(-1, 3):
        assert names[sample] in page.text
    assert members.n_noise > 0
    for told in ("points.csv", "min_cluster_size=8, n_clusters=5", "fit 1.25", "150 samples of 4 features"):
        assert told in page.text


def test_nothing_is_loaded_and_one_script_may_run(out):
    page = written(out, MODEL, Captions(len(X), text=np.full(len(X), "http://example.org", object)))
    ids = {attributes.get("id") for _, attributes in page.elements}
    for target in page.targets():
        assert target.startswith("data:image/") or target[1:] in ids, target
    [policy] = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "url(" not in re.sub(r"url\(#\w+\)", "", out.read_text())


def test_texts_names_and_columns_are_never_more_than_text(out, tmp_path):
    everywhere = np.full(len(X), ATTACK, object)
    captions = Captions(
        len(X), everywhere, everywhere, {ATTACK: everywhere}, Pictures(str(tmp_path), everywhere)
    )
    page = written(out, MODEL, captions, X[:, :2], axis_names=(ATTACK, "$\\frac$"), title=ATTACK, data=ATTACK)
    assert len(page.scripts) == [tag for tag, _ in page.elements].count("script") == 1
    assert not any(tag == "img" for tag, _ in page.elements)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert page.text.count(ATTACK) > 20


@pytest.mark.usefixtures("undrawn")
def test_clusters_beyond_the_limit_are_rows_and_then_a_number(out, monkeypatch):
    model = DensityPeaks(n_clusters=20).fit(X)
    sizes = np.sort(np.bincount(model.labels_))[::-1]
    page = written(out, model, n_clusters=4)
    assert (len(page.with_class("card")), page.elements.count(("tbody", {}))) == (4, 1)
    assert len(page.ids()) == len(set(page.ids())) == 20
    monkeypatch.setattr(content, "MOST_ROWS", 6)
    page = written(out, model, n_clusters=4)
    assert len(page.ids()) == 10
    assert f"The next 6; 10 more of at most {sizes[10]} samples each, {sizes[10:].sum()} in all" in page.text
    none_in_full = written(out, model, n_clusters=0)
    assert not none_in_full.with_class("card")


@pytest.mark.parametrize(
    ("model", "points", "told"),
    [
        (DensityPeaks(min_cluster_size=500), X, ["clusters 0", "noise 100% 150 samples"]),
        (DensityPeaks(min_prominence=np.inf, n_neighbors=50), X[:50], ["cluster 1", "unbounded"]),
        (DensityPeaks(), X[:1], ["sample 1 cluster 1 noise none"]),
        (DensityPeaks(), X[:2], []),
        (DensityPeaks(), np.ones((30, 3)), ["cluster 1"]),
        (DensityPeaks(), X[:, :1], ["1 feature,"]),
        (DensityPeaks("fkd-sym", n_clusters=3), X[:, :2], ["first feature", "fkd-sym"]),
        (DensityPeaks(np.arange(1.0, 151)), X, ["density=...", "given values"]),
        (DensityPeaks(min_cluster_size=2, noise="singletons", max_link=0.3), X, []),
    ],
    ids=["noise", "one", "single", "pair", "copies", "line", "plane", "values", "singletons"],
)
def test_every_fit_has_a_page(out, model, points, told):
    model.fit(points)
    page = written(out, model)
    for words in told:
        assert words in page.text
    assert len(page.ids()) == min(model.n_clusters_, content.MOST_ROWS + 150)
    assert len(page.with_class("picture")) == 4


def test_a_graph_is_enough_for_a_map(out):
    model = DensityPeaks(metric="precomputed").fit(neighbor_graph(X, n_neighbors=8))
    with pytest.raises(ValueError, match="give coordinates"):
        write_report(model, out, coordinates="pca")
    assert not out.exists()
    assert len(written(out, model).with_class("picture")) == 4
    assert len(written(out, model, coordinates=None).with_class("picture")) == 3
    assert len(written(out, model, coordinates=X[:, :2]).with_class("picture")) == 4


def test_what_cannot_be_reported_is_refused(out):
    with pytest.raises(ValueError, match="3 samples, but the fit has 150"):
        write_report(MODEL, out, Captions(3))
    with pytest.raises(ValueError, match="n_members=0"):
        write_report(MODEL, out, n_members=0)
    with pytest.raises(ValueError, match="n_clusters=-1"):
        write_report(MODEL, out, n_clusters=-1)
    with pytest.raises(TypeError, match="DensityDBSCAN"):
        write_report(DensityDBSCAN().fit(X), out)
    with pytest.raises(NotFittedError):
        write_report(DensityPeaks(), out)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write_report(MODEL, out.parent / "nowhere" / "report.html")


@pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
def test_what_is_not_installed_is_named(out, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"needs {name}.*diffpeaks\[report\]"):
        write_report(MODEL, out)


def image_of(url):
    kind, encoded = re.fullmatch(r"data:image/(png|jpeg);base64,(.*)", url).groups()
    image = Image.open(io.BytesIO(base64.b64decode(encoded)))
    assert image.format.lower() == kind
    return image


def test_thumbnails_are_small_and_say_nothing_else(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (600, 900, 3), np.uint8)
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    exif[0x0112] = 6  # turned by a quarter
    Image.fromarray(noise).save(tmp_path / "large.jpg", exif=exif)
    url = thumbnail(tmp_path / "large.jpg")
    assert image_of(url).size == (64, 96)
    assert not image_of(url).getexif()
    assert len(url) < 20_000
    Image.fromarray(noise[:8, :8]).save(tmp_path / "tiny.png")
    np.testing.assert_array_equal(
        np.asarray(image_of(thumbnail(tmp_path / "tiny.png")))[::6, ::6], noise[:8, :8]
    )
    Image.new("RGBA", (20, 10), (255, 0, 0, 0)).save(tmp_path / "clear.webp")
    assert image_of(thumbnail(tmp_path / "clear.webp")).mode == "RGBA"


def test_what_is_no_picture_is_missing(tmp_path, monkeypatch):
    (tmp_path / "text.png").write_text("no picture")
    whole = io.BytesIO()
    Image.new("RGB", (50, 50)).save(whole, "png")
    (tmp_path / "half.png").write_bytes(whole.getvalue()[:60])
    assert thumbnail(None) is thumbnail(tmp_path / "text.png") is thumbnail(tmp_path / "half.png") is None
    (tmp_path / "whole.png").write_bytes(whole.getvalue())
    assert thumbnail(tmp_path / "whole.png") is not None
    monkeypatch.setattr("diffpeaks.report.thumbnails._MOST_PIXELS", 2000)
    assert thumbnail(tmp_path / "whole.png") is None


@pytest.mark.usefixtures("undrawn")
def test_pictures_of_samples(out, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    first = members_of(MODEL).central(0, 1)[0]
    Image.new("RGB", (30, 30), "red").save(folder / f"{first}.png")
    captions = Captions(len(X), pictures=Pictures(str(folder), np.arange(len(X))))
    page = written(out, MODEL, captions)
    assert [tag for tag, _ in page.elements].count("img") == 1
    assert "no picture" in page.text
    (folder / f"{first}.png").rename(tmp_path / "outside.png")
    (folder / f"{first}.png").symlink_to(tmp_path / "outside.png")
    before = out.read_bytes()
    with pytest.raises(OutsideFolderError, match="leaves the folder"):
        write_report(MODEL, out, captions)
    assert out.read_bytes() == before


@pytest.mark.usefixtures("undrawn")
def test_long_texts_are_shortened(out):
    page = written(out, MODEL, Captions(len(X), text=np.full(len(X), "word " * 10_000, object)))
    assert "word\N{HORIZONTAL ELLIPSIS}" in page.text
    assert out.stat().st_size < 1_000_000


def test_of_many_samples_the_densest_of_each_square_is_drawn(monkeypatch):
    monkeypatch.setattr(pictures, "_MOST_DRAWN", 100)
    monkeypatch.setattr(pictures, "_SQUARES", 5)
    random = np.random.default_rng(0)
    places, density = random.random((400, 2)), random.permutation(400).astype(float)
    extent = np.max(np.ptp(places, axis=0))
    best = {}
    for sample, (x, y) in enumerate(places - places.min(axis=0)):
        square = int(5 * x / extent), int(5 * y / extent)
        if square not in best or density[sample] > density[best[square]]:
            best[square] = sample
    assert sorted(pictures.uncovered(places, density)) == sorted(best.values())
    assert pictures.uncovered(places[:100], density[:100]).tolist() == list(range(100))
    assert len(pictures.uncovered(np.ones((400, 2)), density)) == 1


@pytest.mark.usefixtures("undrawn")
def test_every_cluster_is_reached_from_a_list_and_has_its_words(out):
    model = DensityPeaks(n_clusters=20).fit(X)
    texts = np.array([f"word{'abcdefghijklmnopqrst'[label]} common" for label in model.labels_], object)
    page = written(out, model, Captions(len(X), text=texts), n_clusters=4)
    links = [target for target in page.targets() if target.startswith("#cluster-")]
    assert links[:20] == [f"#cluster-{label}" for label in range(20)]
    assert {f"#{name}" for name in page.ids()} == set(links[:20])
    for label in range(20):
        assert f"{label} word{'abcdefghijklmnopqrst'[label]}" in page.text
    assert "All clusters" not in written(out, MODEL).text  # one look finds five


def test_a_session_is_reported_with_its_numbers_and_names(out, tmp_path):
    model = DensityPeaks(n_clusters=8).fit(X)
    session = Session(model)
    session.merge([0, 1])
    session.rename(session.result[0], "two <in> one")
    session.split(max(session.now.numbers.tolist(), key=lambda one: np.count_nonzero(session.labels == one)))
    write_session(tmp_path / "work.json", saved_session(session, Captions(len(X))))
    page = written(out, model, session=tmp_path / "work.json")
    assert sorted(page.ids()) == sorted(f"cluster-{number}" for number in session.now.numbers)
    assert "two <in> one" in page.text
    for number, size in zip(session.now.numbers, session.now.sizes, strict=True):
        assert f"Cluster {number}" in page.text
        assert f"{size} sample" in page.text


def test_the_head_of_the_page_tells_how_many_clusters_have_one_sample(out):
    X = [[0.0], [1.0], [2.0], [50.0], [90.0], [91.0]]
    assert "3 1 of one sample" in " ".join(written(out, DensityPeaks(max_link=3.0).fit(X)).text.split())
    assert "of one sample" not in written(out, DensityPeaks(max_link=100.0).fit(X)).text
