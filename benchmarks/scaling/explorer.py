"""How long the explorer's page takes to be usable, and a change of the cut to be drawn, in Chromium.

usage: explorer.py [--samples N] [--features D] [--model FILE]

A mixture of 400 Gaussians is fitted, unless a saved model is given. The clock of "usable" starts when
`explore` is called on the fitted model, with the browser running, and ends when the page has drawn its plots.
A change is timed in the page, from the request until plots and list are drawn, after the background work is
done, which is timed too. One JSON line, with the load of the machine: points are drawn by software, and
the server shares its cores with the browser.
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

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WAIT = 300_000  # milliseconds


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


def measured(browser, model):
    start = time.perf_counter()
    explorer = diffpeaks.explore(model, open_browser=False)
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(explorer.url)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
    found = {"usable_s": round(time.perf_counter() - start, 2)}
    page.wait_for_function(
        "() => document.querySelector('#graph-hint').textContent === 'density and delta'", timeout=WAIT
    )
    found["prepared_s"] = round(time.perf_counter() - start, 2)
    drawn = {}
    for number, (rule, value) in enumerate(changes_of(model), 1):
        page.fill(f"#rule-{rule} .value", str(value))
        page.press(f"#rule-{rule} .value", "Enter")
        page.wait_for_selector(f"html[data-changes='{number}']", state="attached", timeout=WAIT)
        milliseconds = float(page.evaluate("document.documentElement.dataset.drawn"))
        drawn.setdefault(rule, []).append(round(milliseconds))
    explorer.close()
    return found | {"drawn_ms": drawn}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--model")
    given = parser.parse_args()
    if given.model is None:
        model = diffpeaks.DensityPeaks().fit(mixture(given.samples, given.features))
    else:
        model = diffpeaks.DensityPeaks.load(given.model)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        found = measured(browser, model)
        browser.close()
    about = {"n_samples": len(model.labels_), "load": [round(load, 1) for load in os.getloadavg()]}
    print(json.dumps({**about, **found, **machine(None)}))


if __name__ == "__main__":
    main()
