"""
Another cut without another fit
===============================

The search for neighbours is nearly all the work. Graph and density are kept, so that other clusterings of
the same data cost little: ``recut`` returns their labels and leaves the model as it is.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from diffpeaks import DensityPeaks
from diffpeaks.plotting import DensityDisplay

corners = [(x, y) for x in (0, 3, 8, 11) for y in (0, 3)]
X, _ = make_blobs(1600, centers=corners, cluster_std=0.8, random_state=0)
model = DensityPeaks().fit(X)

# %%
# A rule that is given replaces the whole automatic cut; ``replace`` changes one rule of it and leaves the
# others. Noise and small clusters are settled by the same call.

cuts = {
    "as fitted": model.labels_,
    "n_clusters=2": model.recut(n_clusters=2),
    "half as much again": model.recut(
        cut=replace(model.cut_, min_prominence=1.5 * model.cut_.min_prominence)
    ),
    "cores only": model.recut(halo=True),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 5.5), layout="constrained")
for ax, (name, labels) in zip(axes.flat, cuts.items(), strict=True):
    DensityDisplay(X, model.density_, labels).plot(ax)
    ax.set_title(f"{name}: {labels.max() + 1} clusters")
plt.show()
