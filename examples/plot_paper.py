"""
Figures for a paper
===================

All displays draw on your own axes, in the same colours, and fit a column of 3.3 inches. ``paper_style``
sets the sizes.
"""

import io

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from diffpeaks import DensityPeaks
from diffpeaks.plotting import DecisionGraphDisplay, DensityDisplay, paper_style

X, _ = make_blobs(100_000, centers=12, cluster_std=0.5, random_state=1)
model = DensityPeaks().fit(X)

# %%
# Many samples are drawn as pixels, while text and axes stay vectors: the file stays small.

with paper_style(width=3.3, height=4.6):
    figure, axes = plt.subplots(2, 1, layout="constrained")
    DecisionGraphDisplay.from_estimator(model, ax=axes[0])
    DensityDisplay.from_estimator(model, X, color="cluster", ax=axes[1])
    file = io.BytesIO()
    figure.savefig(file, format="pdf")
    print(f"{len(X):,} samples, {len(file.getvalue()) // 1024} KiB")
plt.show()
