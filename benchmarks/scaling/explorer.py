"""How fluid the explorer's page is in Chromium: opening, frames while it is moved, and changes of the cut.

usage: explorer.py [--samples N] [--features D] [--model FILE] [--map FILE]

A mixture of 400 Gaussians is fitted and laid out, unless a saved model and coordinates are given. The clock
of "usable" starts when `explore` is called on the fitted model and its map, with the browser running, and
ends when the page has drawn its plots. Frames are the times between two calls of `requestAnimationFrame`
while the map is panned, zoomed and hovered over, while clusters are chosen, and while the line of the
prominence is dragged. A change is timed in the page, from the request until plots and list are drawn, after
the background work is done, which is timed too; so is the worst frame until all that follows a change is
done. One JSON line, with the load of the machine: points are drawn by software, and the server shares its
cores with the browser.
"""

import argparse
import json
import os
import shutil
import time

import numpy as np
from machine import machine
from playwright.sync_api import sync_playwright

import diffpeaks
from diffpeaks.maps import map_coordinates

FLAGS = ["--no-sandbox", "--disable-gpu"]  # as on a machine without a graphics card
WAIT = 300_000  # milliseconds
STEPS = 60  # of a gesture
PAUSE = 16  # milliseconds between two steps, as a mouse has
WATCH = """() => {
  window.frames_seen = [];
  window.tasks_seen = [];
  window.is_watched = true;
  window.observer ??= new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.tasks_seen.push(task.duration);
  });
  window.observer.observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  const look = (now) => {
    window.frames_seen.push(now - last);
    last = now;
    if (window.is_watched) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def mixture(n_samples, n_features, n_groups=400):
    random = np.random.default_rng(0)
    centers, scales = 2.2 * random.normal(size=(n_groups, n_features)), random.uniform(0.4, 1.0, n_groups)
    group = random.choice(n_groups, n_samples, p=random.dirichlet(np.full(n_groups, 2.0)))
    X = centers[group] + random.normal(size=(n_samples, n_features)) * scales[group, None]
    n_noise = n_samples // 50
    X[:n_noise] = 3 * random.normal(size=(n_noise, n_features))
    return X.astype(np.float32)


def changes_of(model):
    """Rules and values: the line of the prominence, that of the links, and numbers of clusters."""
    cut, links = model.cut_, model.forest_.delta
    longest = cut.max_link if np.isfinite(cut.max_link) else float(links[np.isfinite(links)].max())
    yield from (("min_prominence", share * cut.min_prominence) for share in (1.5, 2.0, 0.6, 1.2))
    yield from (("max_link", share * longest) for share in (0.9, 0.6, 0.4, 1.0))
    yield from (("n_clusters", number) for number in (300, 301, 3000))


class Hand:
    """Gestures on a page, and the frames that it drew meanwhile."""

    def __init__(self, page):
        self._page = page

    def frames(self, gesture):
        """Worst and median frame in milliseconds while a gesture is made, and until all is drawn.

        Beside them how many tasks of the page's own took over 50 ms: frames wait for other programs too.
        """
        self._page.evaluate(WATCH)
        gesture()
        self._page.wait_for_timeout(400)
        seen = self._page.evaluate("() => { window.is_watched = false; return window.frames_seen.slice(1); }")
        long_tasks = self._page.evaluate("() => window.tasks_seen.length")
        worst, median = round(max(seen)), round(float(np.median(seen)), 1)
        return {"worst_ms": worst, "median_ms": median, "long_tasks": long_tasks}

    def at(self, plot, x, y):
        box = self._page.locator(plot).bounding_box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def pan(self):
        self._page.mouse.move(*self.at("#map", 0.3, 0.3))
        self._page.mouse.down()
        for step in range(STEPS):
            self._page.mouse.move(*self.at("#map", 0.3 + 0.4 * step / STEPS, 0.3 + 0.2 * step / STEPS))
            self._page.wait_for_timeout(PAUSE)
        self._page.mouse.up()

    def zoom(self):
        self._page.mouse.move(*self.at("#map", 0.5, 0.5))
        for step in range(STEPS):
            self._page.mouse.wheel(0, -100 if step < STEPS // 2 else 100)
            self._page.wait_for_timeout(PAUSE)

    def hover(self):
        for step in range(STEPS):
            self._page.mouse.move(*self.at("#map", 0.2 + 0.6 * step / STEPS, 0.4))
            self._page.wait_for_timeout(PAUSE)

    def choose(self):
        for row in range(4):
            self._page.locator("#clusters .row").nth(row).click()
            self._page.wait_for_timeout(150)
        self._page.keyboard.press("Escape")

    def drag_line(self):
        """That of the prominence, from where it is found to the top."""
        page = self._page
        for y in np.linspace(0.05, 0.9, 200):
            page.mouse.move(*self.at("#prominence", 0.5, y))
            if page.evaluate("document.querySelector('#prominence').style.cursor") == "ns-resize":
                break
        page.mouse.down()
        for step in range(STEPS):
            page.mouse.move(*self.at("#prominence", 0.5, y - (y - 0.1) * step / STEPS))
            page.wait_for_timeout(PAUSE)
        page.mouse.up()


def changed(page, number, rule, value):
    """Milliseconds until a change was drawn, and the worst frame until all that follows it is done."""
    page.evaluate(WATCH)
    page.fill(f"#rule-{rule} .value", str(value))
    page.press(f"#rule-{rule} .value", "Enter")
    page.wait_for_selector(f"html[data-changes='{number}']", state="attached", timeout=WAIT)
    page.wait_for_timeout(600)
    seen = page.evaluate("() => { window.is_watched = false; return window.frames_seen.slice(1); }")
    return round(float(page.evaluate("document.documentElement.dataset.drawn"))), round(max(seen))


def measured(browser, model, coordinates):
    start = time.perf_counter()
    explorer = diffpeaks.explore(model, map=coordinates, open_browser=False)
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(explorer.url)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
    found = {"usable_s": round(time.perf_counter() - start, 2)}
    page.wait_for_selector("html[data-exact='true']", state="attached", timeout=WAIT)
    found["prepared_s"] = round(time.perf_counter() - start, 2)
    page.wait_for_timeout(1500)
    hand = Hand(page)
    gestures = {"pan": hand.pan, "zoom": hand.zoom, "hover": hand.hover, "choose": hand.choose}
    found["frames"] = {name: hand.frames(gesture) for name, gesture in gestures.items()}
    drawn, worst = {}, {}
    for number, (rule, value) in enumerate(changes_of(model), 1):
        after, frame = changed(page, number, rule, value)
        drawn.setdefault(rule, []).append(after)
        worst.setdefault(rule, []).append(frame)
    page.click("#automatic")
    page.wait_for_timeout(1000)
    found["frames"]["drag the cut"] = hand.frames(hand.drag_line)
    explorer.close()
    return found | {"drawn_ms": drawn, "frame_ms": worst}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--model")
    parser.add_argument("--map")
    given = parser.parse_args()
    if given.model is None:
        model = diffpeaks.DensityPeaks().fit(mixture(given.samples, given.features))
    else:
        model = diffpeaks.DensityPeaks.load(given.model)
    coordinates = map_coordinates(model) if given.map is None else np.load(given.map)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        found = measured(browser, model, coordinates)
        browser.close()
    about = {"n_samples": len(model.labels_), "load": [round(load, 1) for load in os.getloadavg()]}
    print(json.dumps({**about, **found, **machine(None)}))


if __name__ == "__main__":
    main()
