"""A real Chromium for tests of pages, and what one does in it."""

import os
import shutil
from contextlib import contextmanager
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

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
    page.wait_for_timeout(150)


def ink(page, name):
    """How many pixels of a plot are not of its background."""
    picture = np.asarray(Image.open(BytesIO(page.locator(name).screenshot())).convert("RGB")).astype(int)
    return int(np.count_nonzero(np.abs(picture - picture[2, 2]).max(axis=2) > 40))
