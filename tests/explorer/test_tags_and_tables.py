"""Tags on the map, colours of neighbours and sorted tables in a real Chromium."""

import json

import numpy as np
import pytest
from chromium import changed, open_pages, row_colours, set_rule
from clouds import general_position

from diffpeaks import DensityPeaks
from diffpeaks._base.palette import css_color
from diffpeaks.captions import Captions
from diffpeaks.maps import color_indices, separated_tags

X = general_position(4, 300)
X[200:260, 0] += 3 * np.ptp(X[:, 0])
MODEL = DensityPeaks().fit(X)
YEARS = np.where(np.arange(300) % 7 == 0, np.nan, 1900 + np.arange(300) * 7 % 101)
CAPTIONS = Captions(
    300,
    text=np.array(
        [f"{'zebra' if 200 <= row < 260 else 'apple'} {row % 40:02}" for row in range(300)], object
    ),
    metadata={"year": YEARS, "density": np.array([f"d{row % 5}" for row in range(300)], object)},
)


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL, captions=CAPTIONS)


def column(page, place):
    return page.locator(f"#selection tbody tr td:nth-child({place})").all_inner_texts()


@pytest.mark.parametrize(("n_tags", "spread"), [(1, 1.0), (40, 60.0), (40, 1.0), (25, 1e4)])
def test_tags_lie_where_python_puts_them(opened, n_tags, spread):
    _, page = opened()
    random = np.random.default_rng(n_tags)
    anchors, sizes = spread * random.normal(size=(n_tags, 2)), random.uniform(8, 40, (n_tags, 2))
    found = page.evaluate(
        "async ([anchors, sizes]) => (await import('./tags.js')).separatedTags(anchors, sizes)",
        [anchors.tolist(), sizes.tolist()],
    )
    np.testing.assert_allclose(found, separated_tags(anchors, sizes), atol=1e-6)


def test_tags_that_would_go_far_are_left_out(opened):
    _, page = opened()
    found = page.evaluate(
        """async () => {
          const sizes = [[20, 10], [20, 10], [20, 10]];
          return (await import('./tags.js')).separatedTags([[0, 0], [0, 0], [0, 9]], sizes, 8);
        }"""
    )
    assert found[:2] == [[0, 0], None]
    assert found[2] is not None  # what was left out is in nobody's way


def test_a_tag_is_a_way_to_its_cluster_and_may_be_its_name(opened):
    explorer, page = opened()
    page.wait_for_timeout(300)
    page.mouse.move(1, 1)
    with_numbers = page.locator("#map").screenshot()
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    with_names = page.locator("#map").screenshot()
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    assert page.input_value("#tags") == "none"
    assert len({with_numbers, with_names, page.locator("#map").screenshot()}) == 3
    page.keyboard.press("n")
    far = int(np.bincount(explorer.labels_[200:260]).argmax())
    peak = MODEL.peak_indices_[far]
    box = page.locator("#map").bounding_box()
    low, high = X.min(axis=0), X.max(axis=0)
    room = np.array([box["width"] - 16, box["height"] - 16])
    zoom = np.min(room / (1.08 * (high - low)))
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    page.mouse.click(*(middle + (X[peak] - (low + high) / 2) * [zoom, -zoom]))
    page.wait_for_selector(f"#details :text('Cluster {far}')")


def test_colours_are_those_of_the_report_and_new_clusters_differ_from_their_neighbours(opened):
    explorer, page = opened(model=DensityPeaks(n_clusters=12).fit(X))
    labels = explorer.labels_
    chosen = color_indices(X.astype(np.float32), labels)
    first = row_colours(page)
    rgb = {number: css_color(number, chosen) for number in first}
    assert {number: as_hex(colour) for number, colour in first.items()} == rgb
    set_rule(page, "n_clusters", 17)
    page.set_viewport_size({"width": 1366, "height": 1800})  # so that all rows are in view
    page.wait_for_selector(".row >> nth=16")
    after = row_colours(page)
    assert {number: after[number] for number in first if number in after} == {
        number: first[number] for number in first if number in after
    }
    assert len(set(after.values())) == 17
    page.focus("#map")
    changed(page, lambda: page.keyboard.press("Control+z"))
    assert row_colours(page) == first


def as_hex(colour):
    return "#" + "".join(f"{int(part):02x}" for part in colour[4:-1].split(","))


def test_colours_come_back_with_a_session(opened, tmp_path):
    explorer, page = opened(model=DensityPeaks(n_clusters=12).fit(X))
    set_rule(page, "n_clusters", 8)
    colours = row_colours(page)
    explorer.save_session(tmp_path / "session.json")
    saved = json.loads((tmp_path / "session.json").read_text())
    assert all(0 <= cluster["color"] < 21 for cluster in saved["clusters"])
    _, other = opened(model=DensityPeaks(n_clusters=12).fit(X), session=tmp_path / "session.json")
    assert row_colours(other) == colours


def test_clusters_are_sorted_by_each_column_both_ways(opened):
    explorer, page = opened()
    set_rule(page, "n_clusters", 6)
    page.wait_for_selector(".row .name:has-text('apple')")
    sizes = np.bincount(explorer.labels_[explorer.labels_ >= 0])
    sizes = sizes[sizes > 0].tolist()

    def shown(part):
        return page.locator(f".row .{part}").all_inner_texts()

    assert shown("size") == [str(size) for size in sorted(sizes, reverse=True)]
    page.click("#clusters-head [data-column='size']")
    assert shown("size") == [str(size) for size in sorted(sizes)]
    page.click("#clusters-head [data-column='label']")
    numbers = [int(number) for number in shown("label")]
    assert numbers == sorted(numbers)
    page.keyboard.press("Enter")  # the focus stayed on the button
    assert [int(number) for number in shown("label")] == numbers[::-1]
    page.click("#clusters-head [data-column='name']")
    assert shown("name") == sorted(shown("name"))


def test_a_selection_is_sorted_by_each_column_over_all_pages(opened):
    explorer, page = opened()
    page.keyboard.press("v")
    page.wait_for_selector("html[data-selected='300']", state="attached")
    page.wait_for_selector("#selection tbody tr")
    rank = MODEL.forest_.rank
    assert column(page, 1) == [str(row) for row in np.argsort(rank)[:50]]
    for key, expected in (
        ("sample", np.arange(300)),
        ("cluster", np.lexsort((rank, explorer.labels_))),
        ("text", np.lexsort((rank, CAPTIONS.text.astype(str)))),
        ("column:year", np.lexsort((rank, YEARS))),  # NaN last
        ("column:density", np.lexsort((rank, CAPTIONS.metadata["density"].astype(str)))),
    ):
        page.click(f"#selection .sorter[data-column='{key}']")
        page.wait_for_selector(f"#selection .sorter[data-column='{key}'][aria-pressed='true']")
        assert column(page, 1) == [str(row) for row in expected[:50]]
    page.keyboard.press("Enter")
    page.wait_for_selector("#selection th[aria-sort='descending'] [data-column='column:density']")
    assert set(column(page, 5)) == {"d4"}
    page.click("#selection .sorter[data-column='column:year']")
    page.wait_for_selector("#selection th[aria-sort='ascending'] [data-column='column:year']")
    page.click("#selection .sorter[data-column='column:year']")
    page.wait_for_selector("#selection th[aria-sort='descending'] [data-column='column:year']")
    assert column(page, 4)[0] == str(int(np.nanmax(YEARS)))
    page.focus("#selection")
    for _ in range(5):
        page.keyboard.press("PageDown")
        page.wait_for_timeout(150)
    assert set(column(page, 4)[-5:]) == {""}  # what is missing is last, also here
