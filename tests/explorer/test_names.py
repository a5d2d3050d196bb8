"""Clusters with names in a real Chromium: words, columns, renaming, export and sessions."""

import csv
import json

import numpy as np
import pytest
from chromium import changed, open_pages, set_rule
from clouds import general_position

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions

X = general_position(4, 300)
X[200:260, 0] += 3 * np.ptp(X[:, 0])
MODEL = DensityPeaks().fit(X)
IS_FAR = (np.arange(300) >= 200) & (np.arange(300) < 260)
CAPTIONS = Captions(
    300,
    text=np.where(IS_FAR, "distant thunder", "nearby music").astype(object),
    metadata={"place": np.where(IS_FAR, "sea", "town")},
)


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL, captions=CAPTIONS)


def test_words_and_columns_name_a_cluster_and_people_rename_it(opened, tmp_path):
    explorer, page = opened()
    far = int(explorer.labels_[np.flatnonzero(IS_FAR)[0]])
    row = page.locator(f".row[data-cluster='{far}']")
    page.wait_for_selector(f".row[data-cluster='{far}'] .name:has-text('distant, thunder')")
    row.click()
    page.wait_for_selector("#details :text('of all 20%')")  # of the column
    assert "distant, thunder" in page.inner_text("#details")
    page.keyboard.press("r")
    page.keyboard.type("Storms at <sea>")
    changed(page, lambda: page.keyboard.press("Enter"))
    page.wait_for_selector(f".row[data-cluster='{far}'] .name.given:has-text('Storms at <sea>')")
    assert explorer.names_[far] == "Storms at <sea>"
    set_rule(page, "n_clusters", 4)
    page.focus("#map")
    changed(page, lambda: page.keyboard.press("Control+z"))
    assert explorer.names_[far] == "Storms at <sea>"
    page.keyboard.press("e")
    page.wait_for_selector("#export-dialog[open]")
    assert f"names = {{{far}: 'Storms at <sea>'}}" in page.inner_text("#code")
    with page.expect_download() as download:
        page.click("#save-csv")
    download.value.save_as(tmp_path / "labels.csv")
    rows = list(csv.reader((tmp_path / "labels.csv").read_text().splitlines()))
    assert rows[0] == ["row", "label", "name"]
    assert {row[2] for row in rows[1:] if int(row[1]) == far} == {"Storms at <sea>"}
    assert "music, nearby" in {row[2] for row in rows[1:]}


def test_a_session_is_saved_and_opened_with_its_view(opened, tmp_path):
    explorer, page = opened()
    set_rule(page, "n_clusters", 5)
    page.locator(".row").first.click()
    page.wait_for_selector("#cluster-name")
    page.fill("#cluster-name", "largest")
    changed(page, lambda: page.press("#cluster-name", "Enter"))
    page.select_option("#colour-by", "place")
    page.focus("#map")
    page.keyboard.press("+")
    labels, names = explorer.labels_, explorer.names_
    page.keyboard.press("e")
    with page.expect_download() as download:
        page.click("#save-session")
    download.value.save_as(tmp_path / "session.json")
    view = json.loads((tmp_path / "session.json").read_text())["view"]
    assert view["colour_by"] == "place"
    assert len(view["bounds"]) == 4
    again, other = opened()
    other.keyboard.press("e")
    other.wait_for_selector("#export-dialog[open]")
    changed(other, lambda: other.set_input_files("#session-file", tmp_path / "session.json"))
    np.testing.assert_array_equal(again.labels_, labels)
    assert again.names_ == names
    assert other.input_value("#colour-by") == "place"
    (tmp_path / "none.json").write_text("no JSON")
    other.set_input_files("#session-file", tmp_path / "none.json")
    other.wait_for_selector("#status.refusal:has-text('no session of diffpeaks')")
    np.testing.assert_array_equal(again.labels_, labels)
