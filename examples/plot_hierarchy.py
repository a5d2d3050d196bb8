"""
All scales at once: the cluster tree
====================================

Raising ``min_prominence`` absorbs hills one after the other. What was joined stays joined, so that all
these clusterings are one tree.
"""

# %%
# Four groups, each of four: there is no single right number of clusters.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from diffpeaks import DensityPeaks
from diffpeaks.plotting import DensityDisplay, MergeTreeDisplay

corners = [(x, y) for x in (0, 3, 12, 15) for y in (0, 3, 12, 15)]
X, _ = make_blobs(3200, centers=corners, cluster_std=0.75, random_state=0)
model = DensityPeaks().fit(X)
tree = model.hierarchy()

# %%
# Each bar is a hill. It ends at its prominence, where it turns to the hill that absorbs it; those with an
# arrow are never absorbed. A level line crosses one bar for each cluster; the dashed one is the cut of the
# fit.

MergeTreeDisplay.from_estimator(model, max_link=float("inf"))
plt.show()

# %%
# The scales that persist over the longest ranges of prominence are those at which the data have structure.

scales = tree.scales(2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, scale in zip(axes, scales, strict=True):
    DensityDisplay(X, model.density_, tree.labels_at(scale.min_prominence)).plot(ax)
    ax.set_title(f"{scale.n_clusters} clusters, prominence {scale.low:.2f} to {scale.high:.2f}")
plt.show()
