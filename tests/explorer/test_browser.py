"""The page in a real Chromium: load, drag, lasso, explain, merge, undo, export, and texts that stay texts."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from chromium import at, changed, drag, ink, open_pages, set_rule
from clouds import general_position, same_partition

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions

X = general_position(4, 300)
X[200:260] += [9.0, -3.0]
MODEL = DensityPeaks().fit(X)
HARMFUL = "<script>document.title='harmed'</script><img src=x onerror=document.title='harmed'>"


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL)


def code_labels(explorer, model):
    names = {"model": model}
    exec(explorer.code, names)
    return names["labels"]


def n_clusters(explorer):
    return len(np.unique(explorer.labels_[explorer.labels_ >= 0]))


def test_it_shows_what_was_fitted(opened):
    _, page = opened(title="Points & <b>more</b>")
    assert page.inner_text("#title") == "Points & <b>more</b>"
    assert page.inner_text("#status") == f"{MODEL.n_clusters_} clusters, no noise"
    assert page.locator(".row").count() == MODEL.n_clusters_
    assert all(ink(page, plot) > 300 for plot in ("#map", "#graph", "#prominence"))


def test_dragging_the_line_of_the_prominence_cuts_and_undo_returns(opened):
    explorer, page = opened()
    page.wait_for_timeout(300)
    line = next(
        y
        for y in np.linspace(0.1, 0.85, 160)
        if page_cursor(page, at(page, "#prominence", 0.5, y)) == "ns-resize"
    )
    drag(page, at(page, "#prominence", 0.5, line), at(page, "#prominence", 0.5, 0.87))
    cut = explorer._session.state.cut
    assert 0 <= cut.min_prominence < MODEL.cut_.min_prominence
    assert same_partition(explorer.labels_, MODEL.recut(cut=cut))
    assert explorer.labels_.max() > MODEL.labels_.max()
    changed(page, lambda: page.keyboard.press("Control+z"))
    np.testing.assert_array_equal(explorer.labels_, MODEL.labels_)
    changed(page, lambda: page.keyboard.press("Control+Shift+Z"))
    assert explorer._session.state.cut == cut
    assert explorer._session.can == {"undo": True, "redo": False}  # a drag is one step


def page_cursor(page, place):
    page.mouse.move(*place)
    return page.evaluate("document.querySelector('#prominence').style.cursor")


def test_numbers_and_sliders_cut(opened):
    explorer, page = opened()
    set_rule(page, "n_clusters", 6)
    assert same_partition(explorer.labels_, MODEL.recut(n_clusters=6))
    changed(page, lambda: page.press("#graph", "ArrowDown"))
    assert same_partition(explorer.labels_, MODEL.recut(n_clusters=7))
    changed(page, lambda: page.click("#rule-n_clusters .clear"))
    set_rule(page, "max_link", 0.8)
    assert same_partition(explorer.labels_, MODEL.recut(cut=explorer._session.state.cut))
    assert explorer._session.state.cut.max_link == 0.8
    changed(page, lambda: page.check("#halo"))
    assert explorer._session.state.policy.halo
    np.testing.assert_array_equal(code_labels(explorer, MODEL), explorer.labels_)


def test_a_refusal_is_said_and_changes_nothing(opened):
    explorer, page = opened()
    page.fill("#rule-n_clusters .value", "100000")
    page.press("#rule-n_clusters .value", "Enter")
    page.wait_for_selector("#status.refusal")
    assert "n_clusters=100000 is more than n_samples=300" in page.inner_text("#status")
    np.testing.assert_array_equal(explorer.labels_, MODEL.labels_)


def test_peaks_are_lassoed(opened):
    explorer, page = opened()
    page.wait_for_timeout(400)  # until the delta of hilltops is known
    page.keyboard.down("Shift")
    page.mouse.move(*at(page, "#graph", 0.15, 0.06))
    page.mouse.down()
    for x, y in ((0.99, 0.06), (0.99, 0.3), (0.15, 0.3)):
        page.mouse.move(*at(page, "#graph", x, y), steps=5)
    changed(page, page.mouse.up)
    page.keyboard.up("Shift")
    peaks = explorer._session.state.cut.peaks
    assert 0 < len(peaks) < 100
    assert same_partition(explorer.labels_, MODEL.recut(peaks=peaks))


def test_a_click_explains_a_sample_and_a_cluster_shows_its_members(opened):
    _, page = opened()
    page.locator(".row").first.click()
    page.wait_for_selector(".samples li")
    peak = MODEL.peak_indices_[int(page.locator(".row .label").first.inner_text())]
    assert page.locator("#details .sample").first.inner_text() == str(peak)
    page.locator(".samples .sample").nth(5).click()
    page.wait_for_selector("text=Path to the peak")
    sample = int(page.locator(".heading").inner_text().split(" ")[0])
    chips = [int(chip) for chip in page.locator(".chips .sample").all_inner_texts()]
    path = MODEL.explain(sample).path
    assert chips == list(path if len(path) <= 14 else (*path[:7], *path[-7:]))
    inked = ink(page, "#map")
    page.keyboard.press("Escape")
    page.wait_for_selector("text=Click a sample")
    assert ink(page, "#map") != inked


def test_clicking_the_map_explains_the_sample_there(opened):
    _, page = opened()
    places = page.locator("#map").bounding_box()
    page.mouse.click(*at(page, "#map", 0.01, 0.99))
    found = False
    for x in np.linspace(0.05, 0.95, 19):
        page.mouse.click(places["x"] + x * places["width"], places["y"] + 0.5 * places["height"])
        page.wait_for_timeout(40)
        found = found or page.locator("text=Neighbours,").count() > 0
    assert found


def test_merge_split_undo_and_export(opened, tmp_path):
    explorer, page = opened()
    set_rule(page, "n_clusters", 5)
    page.locator(".row").nth(0).click()
    page.locator(".row").nth(1).click(modifiers=["Control"])
    changed(page, lambda: page.click("#merge"))
    assert n_clusters(explorer) == 4
    page.locator(".row").nth(0).click()
    changed(page, lambda: page.keyboard.press("s"))
    assert n_clusters(explorer) == 5
    changed(page, lambda: page.click("#undo"))
    assert n_clusters(explorer) == 4
    page.keyboard.press("e")
    page.wait_for_selector("#export-dialog[open]")
    assert page.inner_text("#code") == explorer.code
    np.testing.assert_array_equal(code_labels(explorer, MODEL), explorer.labels_)
    for button, name in (("#save-csv", "labels.csv"), ("#save-npy", "labels.npy")):
        with page.expect_download() as download:
            page.click(button)
        download.value.save_as(tmp_path / name)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), explorer.labels_)
    table = np.loadtxt(tmp_path / "labels.csv", delimiter=",", skiprows=1, dtype=int)
    np.testing.assert_array_equal(table[:, 1], explorer.labels_)


def test_texts_are_harmless(opened):
    captions = Captions(
        len(X),
        np.array([HARMFUL] * len(X)),
        np.array([HARMFUL] * len(X)),
        {HARMFUL: np.array([HARMFUL] * len(X))},
    )
    _, page = opened(title=HARMFUL, captions=captions)
    page.locator(".row").first.click()
    page.wait_for_selector(".samples li")
    page.locator(".samples .sample").nth(2).click()
    page.wait_for_selector("text=Path to the peak")
    assert page.locator("#details .text").inner_text() == HARMFUL
    assert page.inner_text("#title") == HARMFUL
    assert page.title() == "diffpeaks explorer"
    assert page.locator("script").count() == 1
    assert page.locator("#details img").count() == 0


def test_the_list_works_by_keyboard_and_is_virtual(opened):
    explorer, page = opened()
    set_rule(page, "n_clusters", 290)
    assert page.locator(".row").count() < 40
    page.focus("#clusters")
    page.keyboard.press("End")
    page.wait_for_selector("[aria-posinset='290'][aria-selected='true']")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowDown")
    page.wait_for_selector("text=2 clusters chosen")
    changed(page, lambda: page.keyboard.press("m"))
    assert n_clusters(explorer) == 289


def test_everything_is_reached_by_tab_and_named(opened):
    _, page = opened()
    reached = set()
    for _ in range(45):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {
        "map",
        "graph",
        "prominence",
        "clusters",
        "details",
        "export",
        "automatic",
        "halo",
        "slide",
    } <= reached
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, [tabindex]')].filter((one) =>
          !(one.textContent.trim() || one.ariaLabel || one.closest('label'))).map((one) => one.outerHTML)"""
    )
    assert [one for one in unnamed if 'id="details"' not in one and 'id="code"' not in one] == []


def test_dark_and_light(opened):
    _, page = opened()

    def background():
        return int(
            re.search(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor")).group()
        )

    page.emulate_media(color_scheme="dark")
    assert background() < 60
    page.keyboard.press("d")
    assert background() > 200
    page.emulate_media(color_scheme="light")
    page.keyboard.press("d")
    assert background() < 60


@pytest.mark.parametrize("size", [(1366, 768), (2560, 1440), (900, 640), (800, 768)])
def test_nothing_overflows(opened, size):
    many = {f"column {place}": np.array(["some words of it"] * len(X)) for place in range(12)}
    odd = np.array(["😀 " * 60, "مرحبا بالعالم " * 20, "x" * 900] * (len(X) // 3), object)
    _, page = opened(size=size, title="A long title " * 20, captions=Captions(len(X), odd, odd, many))
    page.keyboard.press("v")
    page.locator("#selection tbody tr").first.click()
    page.wait_for_selector("text=Neighbours,")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.panel, .bar, .controls, .rule, .status')].filter((one) =>
          one.scrollWidth > one.clientWidth + 1).map((one) => one.className)"""
    )
    assert wide == []


@pytest.mark.parametrize("size", [(1366, 768), (2560, 1440)])
def test_panels_fill_the_page(opened, size):
    _, page = opened(size=size)
    page.keyboard.press("v")
    page.wait_for_selector("#selection tbody tr")
    boxes = [panel.bounding_box() for panel in page.locator(".panel:visible").all()]
    assert len(boxes) == 6
    covered = sum(box["width"] * box["height"] for box in boxes)
    whole = page.locator("main").bounding_box()
    assert covered > 0.95 * whole["width"] * whole["height"]
    assert whole["height"] > 0.75 * size[1]
    assert page.locator("#map").bounding_box()["width"] > 0.45 * size[0]


def test_a_cut_is_told_in_a_sentence_and_words_are_explained(opened):
    _, page = opened()
    bound = f"{MODEL.cut_.min_prominence:.4g}"
    told = f"Each hill with a prominence of at least {bound}, the default, is a cluster."
    assert page.inner_text("#cut-told") == told
    words = page.evaluate(
        "[...document.querySelectorAll('[data-word]')].map((one) => [one.textContent, one.title])"
    )
    assert len(words) >= 9
    assert all(title for _, title in words)
    assert "The densest sample of a cluster." in page.inner_text("#details")
    assert page.is_hidden("#as-fitted")  # that is the automatic cut: two buttons would be one thing
    set_rule(page, "n_clusters", 4)
    assert page.inner_text("#cut-told") == "The 4 samples with the largest density x delta are the peaks."
    _, given = opened(model=DensityPeaks(n_clusters=3).fit(X))
    assert given.get_attribute("#as-fitted", "aria-pressed") == "true"
    assert given.get_attribute("#automatic", "aria-pressed") == "false"


class SilentFiles(SimpleHTTPRequestHandler):
    def log_message(self, *line):
        pass


def test_a_notebook_of_another_origin_may_frame_it(opened, browser, tmp_path):
    explorer, _ = opened()
    (tmp_path / "notebook.html").write_text(explorer._repr_html_())
    notebooks = ThreadingHTTPServer(("127.0.0.1", 0), partial(SilentFiles, directory=tmp_path))
    Thread(target=notebooks.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.goto(f"http://localhost:{notebooks.server_port}/notebook.html")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    assert frame.locator("#status").inner_text() == f"{MODEL.n_clusters_} clusters, no noise"
    frame.locator("#theme").click()
    notebooks.shutdown()
    notebooks.server_close()


def test_a_page_whose_program_has_ended_says_so(opened):
    explorer, page = opened()
    explorer.close()
    page.evaluate("document.querySelector('#automatic').click()")
    page.wait_for_selector("#status.refusal")
    assert "has ended" in page.inner_text("#status")
