"""The main job on data that ships with scikit-learn: `python -m diffpeaks.cli.demonstration [FOLDER]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_digits

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks._base.constants import NOISE
from diffpeaks.density import PAPER_DENSITIES
from diffpeaks.maps import color_indices, map_coordinates
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks.plotting import DecisionGraphDisplay, DensityDisplay, pyplot


def competitors(n_classes: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name and estimator of each row of the table."""
    yield "diffpeaks, no parameters", DensityPeaks
    yield "HDBSCAN (scikit-learn)", lambda: HDBSCAN(copy=True)
    yield "DensityDBSCAN, no parameters", DensityDBSCAN
    yield f"k-means, n_clusters={n_classes}", lambda: KMeans(n_classes, n_init=10, random_state=0)
    for name in PAPER_DENSITIES:
        yield f"{name}, n_clusters={n_classes}", partial(DensityPeaks, name, n_clusters=n_classes)


def table(X: NDArray[Any], y: NDArray[Any]) -> Iterator[str]:
    """Rows of the table, as they are computed."""
    yield f"{'':30} clusters  noise   F_P   F_B  seconds"
    for name, make in competitors(len(np.unique(y))):
        start = time.perf_counter()
        labels = make().fit_predict(X)
        seconds = time.perf_counter() - start
        pairwise, bcubed = 100 * pairwise_scores(y, labels).f, 100 * bcubed_scores(y, labels).f
        noise = f"{100 * np.mean(labels == NOISE):.0f}%"
        yield f"{name:30} {labels.max() + 1:8} {noise:>6} {pairwise:5.1f} {bcubed:5.1f} {seconds:8.2f}"


def picture(model: DensityPeaks, X: NDArray[Any], path: Path) -> None:
    """Decision graph, density and clusters side by side."""
    figure, axes = pyplot().subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    places = map_coordinates(model)
    colors = color_indices(places, model.labels_)
    DecisionGraphDisplay.from_estimator(model, color_indices=colors, ax=axes[0])
    drawn = partial(DensityDisplay.from_estimator, model, X, positions=places)
    drawn(ax=axes[1]).ax_.set_title("density (map: neighbour graph)")
    drawn(color="cluster", color_indices=colors, ax=axes[2]).ax_.set_title("clusters")
    figure.savefig(path, dpi=110)


def main(folder: str = "out") -> None:
    """Cluster the digits, print the table, write labels and picture."""
    pyplot().switch_backend("agg")  # first, so that a missing matplotlib costs no work
    X, y = load_digits(return_X_y=True)
    print(f"Handwritten digits: {X.shape[0]} images of {X.shape[1]} pixels, {len(np.unique(y))} classes.")
    print("F_P and F_B: pairwise and BCubed F-score in percent, noise as singletons.\n")
    for row in table(X, y):
        print(row, flush=True)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    model = DensityPeaks().fit(X)
    np.savetxt(out / "labels.csv", model.labels_, fmt="%d", header="label", comments="")
    picture(model, X, out / "decision_graph.png")
    print(f"\nLabels: {out / 'labels.csv'}. Picture: {out / 'decision_graph.png'}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
