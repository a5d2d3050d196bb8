"""Find, read, colour, select and gather in a real Chromium, by pointer and by keyboard alone."""

import csv

import numpy as np
import pytest
from chromium import at, changed, drag, open_pages
from clouds import general_position
from PIL import Image

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions, Pictures

X = general_position(4, 300)
X[200:260, 0] += 3 * np.ptp(X[:, 0])  # far to the right
MIDDLE = X[:, 0].max() / 2
MODEL = DensityPeaks().fit(X)
TEXTS = np.array(
    [f"{'Far away' if 200 <= row < 260 else 'near by'} number {row}" for row in range(300)], object
)


@pytest.fixture
def opened(browser, tmp_path):
    for name in range(300):
        Image.new("RGB", (8, 8), (200, 30, 30)).save(tmp_path / f"{name}.png")
    captions = Captions(
        300,
        text=TEXTS,
        metadata={"side": np.where(X[:, 0] > MIDDLE, "right", "left"), "height": X[:, 1]},
        pictures=Pictures(str(tmp_path), np.arange(300)),
    )
    yield from open_pages(browser, MODEL, captions=captions)


def selected(page, number):
    page.wait_for_selector(f"html[data-selected='{number}']", state="attached")


def test_words_are_found_marked_listed_and_their_cluster_is_a_click_away(opened):
    explorer, page = opened()
    page.keyboard.press("/")
    page.keyboard.type("far AWAY")
    selected(page, 60)
    assert page.inner_text("#selection-told") == "60 samples with “far AWAY”"
    assert page.locator("#selection tbody tr").count() == 50
    assert set(page.locator("#selection mark").all_inner_texts()) == {"Far", "away"}
    far = int(np.bincount(explorer.labels_[200:260]).argmax())
    chip = page.locator("#selection-clusters .chip").first
    assert chip.inner_text() == f"cluster {far}: {np.count_nonzero(explorer.labels_[200:260] == far)}"
    chip.click()
    page.wait_for_selector(f".row[data-cluster='{far}'][aria-selected='true']")
    page.fill("#search", "no such words")
    selected(page, 0)
    assert page.is_disabled("#gather")
    page.keyboard.press("Escape")
    page.wait_for_selector("#selection-panel", state="hidden")
    assert page.input_value("#search") == ""


def test_the_table_works_by_keyboard_alone(opened):
    _, page = opened()
    page.keyboard.press("/")
    page.keyboard.type("near")
    page.keyboard.press("Enter")
    selected(page, 240)
    page.wait_for_selector("#selection tbody tr")
    first = page.locator("#selection tbody tr td").nth(1).inner_text()
    assert page.locator("#selection img.thumbnail").count() == 50
    page.keyboard.press("ArrowDown")
    second = page.locator("#selection tr.cursor td").nth(1).inner_text()
    assert second != first
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#details .heading:has-text('{second} — ')")
    page.keyboard.press("PageDown")
    page.wait_for_selector("#selection :text('100 of 240')")
    page.keyboard.press("Escape")
    page.keyboard.press("v")  # all that is in view
    selected(page, 300)
    page.focus("#map")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Neighbours,")


def test_a_box_and_a_lasso_select_and_a_cluster_is_made(opened, tmp_path):
    explorer, page = opened()
    page.wait_for_timeout(300)
    page.keyboard.press("b")
    assert page.get_attribute("#box", "aria-pressed") == "true"
    drag(page, at(page, "#map", 0.55, 0.02), at(page, "#map", 0.99, 0.98))
    selected(page, 60)
    assert page.inner_text("#selection-told") == "60 samples inside the box"
    with page.expect_download() as download:
        page.click("#save-selection")
    download.value.save_as(tmp_path / "selected.csv")
    rows = list(csv.reader((tmp_path / "selected.csv").read_text().splitlines()))
    assert rows[0] == ["row", "label"]
    assert rows[1:] == [[str(row), str(explorer.labels_[row])] for row in range(200, 260)]
    changed(page, lambda: page.keyboard.press("g"))
    number = explorer.labels_[200]
    assert np.flatnonzero(explorer.labels_ == number).tolist() == list(range(200, 260))
    page.wait_for_selector(f".row[data-cluster='{number}'][aria-selected='true']")
    names = {"model": MODEL}
    exec(explorer.code, names)
    np.testing.assert_array_equal(names["labels"], explorer.labels_)
    page.keyboard.press("l")
    page.mouse.move(*at(page, "#map", 0.01, 0.01))
    page.mouse.down()
    for x, y in ((0.5, 0.01), (0.5, 0.99), (0.01, 0.99)):
        page.mouse.move(*at(page, "#map", x, y), steps=4)
    page.mouse.up()
    selected(page, 240)
    assert page.inner_text("#selection-told") == "240 samples inside the lasso"


def test_hovering_shows_picture_text_and_columns(opened):
    _, page = opened()
    page.wait_for_timeout(300)
    for x in np.linspace(0.05, 0.95, 60):
        page.mouse.move(*at(page, "#map", x, 0.5))
        page.wait_for_timeout(110)
        if page.locator(".hover:not([hidden])").count():
            break
    box = page.locator(".hover:not([hidden])")
    sample = int(box.locator(".heading").inner_text().split(" ")[0])
    assert TEXTS[sample] in box.inner_text()
    assert ("right" if X[sample, 0] > MIDDLE else "left") in box.inner_text()
    assert box.locator("img.picture").count() == 1
    page.mouse.move(*at(page, "#graph", 0.5, 0.5))
    page.wait_for_selector(".hover", state="hidden")


def test_points_are_coloured_by_columns_and_by_what_the_fit_knows(opened):
    _, page = opened()
    choices = page.locator("#colour-by option").all_inner_texts()
    assert choices == ["cluster", "density", "probability", "outlier score", "side", "height"]
    seen = {page.locator("#map").screenshot()}
    for name in choices[1:]:
        page.select_option("#colour-by", name)
        page.wait_for_selector(f"html[data-coloured='{name}']", state="attached")
        assert page.locator("#legend strong").inner_text() == name
        page.wait_for_timeout(60)
        seen.add(page.locator("#map").screenshot())
    assert len(seen) >= 5  # probabilities may all be one
    page.select_option("#colour-by", "side")
    page.wait_for_selector("#legend .entry >> nth=1")
    assert page.locator("#legend .entry").all_inner_texts() == ["left\n240", "right\n60"]
    page.select_option("#colour-by", "cluster")
    page.wait_for_selector("#legend", state="hidden")


def test_a_column_named_cluster_is_told_from_the_clusters(opened):
    before = np.where(np.arange(300) % 3, "old", "older").astype(object)
    _, page = opened(captions=Captions(300, metadata={"cluster": before}))
    options = page.locator("#colour-by option").all_inner_texts()
    assert options == ["cluster", "density", "probability", "outlier score", "cluster (column)"]
    page.select_option("#colour-by", label="cluster (column)")
    page.wait_for_selector("#legend .entry >> nth=1")
    assert page.locator("#legend .entry").all_inner_texts() == ["old\n200", "older\n100"]
    page.select_option("#colour-by", label="cluster")
    page.wait_for_selector("#legend", state="hidden")
