"""The README's picture: handwritten digits, nothing tuned, beside HDBSCAN. The map is t-SNE.

usage: digits.py [OUT.png]
"""

import sys

import matplotlib
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from diffpeaks import NOISE, DensityPeaks
from diffpeaks.maps import color_indices
from diffpeaks.metrics import bcubed_scores
from diffpeaks.plotting import DecisionGraphDisplay, DensityDisplay


def main(path="digits.png"):
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    X, y = load_digits(return_X_y=True)
    plane = TSNE(random_state=0).fit_transform(X)
    model = DensityPeaks().fit(X)
    peer = HDBSCAN(copy=True).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
    colors = color_indices(plane, model.labels_)
    DecisionGraphDisplay.from_estimator(model, color_indices=colors, ax=axes[0])
    for ax, name, labels, peaks, colors_of_clusters in (
        (axes[1], "diffpeaks", model.labels_, model.peak_indices_, colors),
        (axes[2], "HDBSCAN", peer.labels_, np.empty(0, int), None),
    ):
        DensityDisplay(plane, model.density_, labels, peaks, color_indices=colors_of_clusters).plot(ax)
        ax.set_axis_off()
        score, noise = 100 * bcubed_scores(y, labels).f, np.mean(labels == NOISE)
        ax.set_title(f"{name}: {labels.max() + 1} clusters, {noise:.0%} noise, BCubed F {score:.1f}")
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
