"""What a person does who has never seen the page, in a real Chromium.

Find a topic by a word, read why a sample is in it, rename it, merge two, take the labels away with names,
and get the same by the Python lines that the page shows.
"""

import csv
import json

import numpy as np
import pytest
from chromium import changed, open_pages
from clouds import general_position
from processes import run

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions

X = general_position(4, 300)
TOPIC = np.repeat(["storms at sea", "football cup", "opera tickets"], 100)
X[100:200, 0] += 4 * np.ptp(X[:, 0])
X[200:, 0] += 8 * np.ptp(X[:, 0])
MODEL = DensityPeaks(n_clusters=6).fit(X)
IDS = np.array([f"news{row}" for row in range(300)], object)
CAPTIONS = Captions(
    300, ids=IDS, text=np.array([f"About {topic}, part {row}" for row, topic in enumerate(TOPIC)], object)
)
FRESH = """
import json, sys
import numpy as np
from diffpeaks import DensityPeaks
model = DensityPeaks.load(sys.argv[1])
exec(open(sys.argv[2]).read())
np.save(sys.argv[3], labels)
print(json.dumps(sorted(names.items())))
"""


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL, captions=CAPTIONS)


def exported(page, button, path):
    with page.expect_download() as download:
        page.click(button)
    download.value.save_as(path)
    return path


def test_a_first_visit(opened, tmp_path):
    _, page = opened()
    page.fill("#search", "football")  # a topic by a word
    page.wait_for_selector("html[data-selected='100']", state="attached")
    page.locator("#selection tbody tr").nth(3).click()
    page.wait_for_selector("#details :text('Why: it ')")  # why a sample is in it
    assert page.locator("#details .text mark").inner_text() == "football"
    page.wait_for_selector("#details :text-matches('Path to the peak|It is the peak')")
    clusters = page.locator("#selection-clusters .chip")
    numbers = [int(text.split(":")[0].removeprefix("cluster ")) for text in clusters.all_inner_texts()]
    assert len(numbers) >= 2
    clusters.first.click()
    page.wait_for_selector("#cluster-name")
    page.fill("#cluster-name", "The 🏆 cup")
    changed(page, lambda: page.press("#cluster-name", "Enter"))
    clusters.first.click()  # merge two
    page.locator(f".row[data-cluster='{numbers[1]}']").click(modifiers=["Control"])
    changed(page, lambda: page.click("#merge"))
    kept = int(page.locator(".row[aria-selected='true'] .label").inner_text())
    assert kept == numbers[0]
    page.wait_for_selector(f".row[data-cluster='{kept}'] .name.given:has-text('The 🏆 cup')")
    page.click("#export")
    page.wait_for_selector("#export-dialog[open]")
    table = exported(page, "#save-csv", tmp_path / "labels.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    lines = tmp_path / "lines.py"
    lines.write_text(page.inner_text("#code"), encoding="utf-8")
    MODEL.save(tmp_path / "news.model")
    done = run(FRESH, tmp_path / "news.model", lines, tmp_path / "again.npy")
    assert done.returncode == 0, done.stderr
    again, names = np.load(tmp_path / "again.npy"), dict(json.loads(done.stdout))
    assert [row["id"] for row in rows] == IDS.tolist()
    np.testing.assert_array_equal(again, [int(row["label"]) for row in rows])
    np.testing.assert_array_equal(again, np.load(exported(page, "#save-npy", tmp_path / "labels.npy")))
    assert names == {kept: "The 🏆 cup"}
    assert {row["name"] for row in rows if int(row["label"]) == kept} == {"The 🏆 cup"}
    assert all(row["name"] for row in rows)  # the others have their words
