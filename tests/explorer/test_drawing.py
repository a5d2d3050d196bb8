"""Points are drawn alike by the graphics card and by the processor, in a real Chromium."""

from io import BytesIO

import numpy as np
import pytest
from chromium import changed, ink, open_pages, set_rule
from clouds import general_position
from PIL import Image

import diffpeaks
from diffpeaks import DensityPeaks

X = general_position(4, 300)
MODEL = DensityPeaks().fit(X)
EMULATED_CARD = """
  const given = WebGL2RenderingContext.prototype.getParameter;
  WebGL2RenderingContext.prototype.getParameter = function (name) {
    const found = given.call(this, name);
    return String(found).includes("SwiftShader") ? "a card" : found;
  };
"""
NO_CANVAS = "HTMLCanvasElement.prototype.getContext = () => null;"


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL)


def picture(page, plot):
    page.mouse.move(1, 1)
    page.wait_for_timeout(400)
    return np.asarray(Image.open(BytesIO(page.locator(plot).screenshot())).convert("RGB")).astype(int)


def kind_of(page):
    """Whether the canvas of the map is drawn by WebGL: then it has no other context."""
    return page.evaluate("document.querySelectorAll('#map canvas')[1].getContext('2d') === null")


@pytest.mark.parametrize("size", [(1366, 768), (2560, 1440)])
def test_card_and_processor_draw_alike(opened, size):
    explorer, by_processor = opened(size=size)
    by_card = opened.another_tab(explorer, size, script=EMULATED_CARD)
    assert kind_of(by_card)
    assert not kind_of(by_processor)
    set_rule(by_processor, "n_clusters", 5)
    by_card.evaluate("dispatchEvent(new Event('focus'))")
    by_card.wait_for_selector(".row >> nth=4")
    for page in (by_processor, by_card):
        page.locator(".row").first.click()  # the others are pale
        page.wait_for_selector("#cluster-name")
    for plot in ("#map", "#graph"):
        one, other = picture(by_processor, plot), picture(by_card, plot)
        assert one.shape == other.shape
        assert np.abs(one - other).mean() < 0.6
        assert np.mean(np.abs(one - other).max(axis=2) > 90) < 0.002


def test_points_at_the_edge_and_far_outside_are_no_trouble(opened):
    _, page = opened()
    page.wait_for_timeout(200)
    whole = ink(page, "#map")
    page.focus("#map")
    for key in (*["+"] * 12, *["ArrowLeft"] * 4):
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    page.keyboard.press("0")
    page.focus("#clusters")
    page.wait_for_timeout(200)
    assert abs(ink(page, "#map") - whole) < 0.02 * whole
    changed(page, lambda: page.press("#graph", "ArrowDown"))


def test_without_any_canvas_it_says_so(opened, browser):
    explorer = diffpeaks.explore(MODEL, open_browser=False)
    page = browser.new_page()
    page.add_init_script(NO_CANVAS)
    page.goto(explorer.url)
    page.wait_for_selector("#status.refusal")
    assert "draws no canvas" in page.inner_text("#status")
    explorer.close()
