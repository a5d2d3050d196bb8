"""A real Chromium for tests of pages, and what one does in it."""

import os
import shutil
from contextlib import contextmanager
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import diffpeaks

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def launched():
    """A browser; where there is none the test is skipped, and says so."""
    driving = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    names = (os.environ.get("DIFFPEAKS_CHROMIUM"), "chromium", "chromium-browser")
    path = next(filter(None, (shutil.which(name) for name in names if name)), None)
    if path is None:
        pytest.skip(
            "no chromium on PATH: the explorer's page is not tested; install Debian's package chromium, or "
            "name one with DIFFPEAKS_CHROMIUM"
        )
    with driving.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


# Lines of the console that are no complaint: refusals, and that of a server that has ended.
ANSWERS = ("409", "422", "net::ERR_")


class Opener:
    """Explores models and opens their pages; what scripts complain about is kept."""

    def __init__(self, browser, model, **options):
        self.browser, self.model, self.options = browser, model, options
        self.explorers, self.complaints = [], []

    def __call__(self, model=None, size=(1366, 768), **options):
        explorer = diffpeaks.explore(model or self.model, open_browser=False, **{**self.options, **options})
        self.explorers.append(explorer)
        return explorer, self.another_tab(explorer, size)

    def another_tab(self, explorer, size=(1366, 768), script=""):
        """A page of an explorer that is there; the script runs before those of the page."""
        page = self.browser.new_page(viewport={"width": size[0], "height": size[1]}, accept_downloads=True)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        page.add_init_script(script)
        page.goto(explorer.url)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page


def open_pages(browser, model, **options):
    """For fixtures: an opener, whose pages are closed when the test is done; complaints fail the test."""
    opener = Opener(browser, model, **options)
    yield opener
    for context in browser.contexts:
        context.close()
    for explorer in opener.explorers:
        explorer.close()
    assert [line for line in opener.complaints if not any(answer in line for answer in ANSWERS)] == []


def row_colours(page):
    """The colour of each cluster of the list that is in view, by its number."""
    found = page.evaluate(
        """() => [...document.querySelectorAll('.row')].map((row) =>
          [Number(row.dataset.cluster), row.querySelector('.dot').style.background])"""
    )
    return dict(found)


def changed(page, act):
    """Do something, and wait until what came of it is drawn."""
    before = int(page.evaluate("document.documentElement.dataset.changes ?? 0"))
    act()
    page.wait_for_selector(f"html[data-changes='{before + 1}']", state="attached")


def at(page, name, x, y):
    box = page.locator(name).bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def set_rule(page, name, value):
    page.fill(f"#rule-{name} .value", str(value))
    changed(page, lambda: page.press(f"#rule-{name} .value", "Enter"))


def drag(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=8)
    page.mouse.up()
    settle(page)


def settle(page):
    """Wait until no change follows another."""
    before = None
    while before != (before := page.evaluate("document.documentElement.dataset.changes ?? 0")):
        page.wait_for_timeout(250)


def ink(page, name):
    """How many pixels of a plot are not of its background."""
    picture = np.asarray(Image.open(BytesIO(page.locator(name).screenshot())).convert("RGB")).astype(int)
    return int(np.count_nonzero(np.abs(picture - picture[2, 2]).max(axis=2) > 40))
