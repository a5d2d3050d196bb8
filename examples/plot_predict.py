"""
Saving a model, and labels of new samples
=========================================

A fitted model is one file without code in it. It labels new samples as the fit would have: by their nearest
denser neighbour, and as noise where that is as far as ``max_link``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from diffpeaks import DensityPeaks
from diffpeaks.plotting import cluster_colors

X, _ = make_moons(500, noise=0.06, random_state=0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "moons.model"
DensityPeaks(max_link=0.3, min_prominence=1.0).fit(X).save(path)
model = DensityPeaks.load(path)
print(f"{path.name}: {path.stat().st_size // 1024} KiB, {model.n_clusters_} clusters")

# %%
# The samples of the fit have their labels of the fit, exactly.

assert np.array_equal(model.predict(X), model.labels_)

# %%
# Each point of the plane as a new sample: two regions, and noise (grey) far from both.

x, y = np.linspace(-2, 3, 250), np.linspace(-1.5, 2, 175)
grid = np.column_stack([values.ravel() for values in np.meshgrid(x, y)])
labels = model.predict(grid)
folder.cleanup()

colors = cluster_colors(labels).reshape(len(y), len(x), 3)
plt.imshow(colors, extent=(x[0], x[-1], y[0], y[-1]), origin="lower", alpha=0.5)
plt.scatter(*X.T, c=cluster_colors(model.labels_), s=8)
plt.xlabel("first feature")
plt.ylabel("second feature")
plt.show()
