"""
Prominence diagram
==================

Each hill of the density as a point: how dense its peak is, and how dense the saddle over which a denser
hill is reached. The height above the diagonal is the prominence. Topologists know it as a persistence
diagram.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from diffpeaks import DensityPeaks
from diffpeaks.plotting import ProminenceDisplay

# %%
# Hills in the grey band are no higher than chance, and a little more, would make them; they are absorbed.
# Hills above it are clusters. Left of the dashed line are those without a saddle: they meet no denser hill.

X, _ = load_digits(return_X_y=True)
noise = np.random.default_rng(0).normal(size=(1797, 2))
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, name, points in ((axes[0], "digits", X), (axes[1], "one Gaussian", noise)):
    # no link is too long here: each hill meets a denser one, unless the graph falls apart
    model = DensityPeaks().fit(points)
    model = DensityPeaks(min_prominence=model.cut_.min_prominence).fit(points)
    ProminenceDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"{name}: {ax.get_title()}")
plt.show()
