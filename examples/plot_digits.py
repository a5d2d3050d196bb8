"""
Handwritten digits
==================

1,797 images of 8 x 8 pixels, taken as points with 64 features.
"""

# %%
# The pixels go in as they are. Scores against the truth are as face clustering counts them: of the samples
# of a cluster, how many are of one class (precision), and of a class, how many are in one cluster (recall),
# averaged over samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from diffpeaks import DensityPeaks
from diffpeaks.metrics import bcubed_scores

X, y = load_digits(return_X_y=True)
model = DensityPeaks().fit(X)
print(f"{model.n_clusters_} clusters, BCubed F {bcubed_scores(y, model.labels_).f:.3f}")

# %%
# A cluster has a peak, its densest image, and samples that hardly belong to it. Each column is a cluster:
# above its peak, below the three images of which the model is least sure, with the share of the cluster in
# each.


def show(ax, image, title=""):
    ax.imshow(image.reshape(8, 8), cmap="gray_r")
    ax.set_title(title, fontsize=9)
    ax.set(xticks=[], yticks=[])


figure, axes = plt.subplots(4, model.n_clusters_, figsize=(10, 4.6), layout="constrained")
for label, column in enumerate(axes.T):
    show(column[0], X[model.peak_indices_[label]], f"cluster {label}")
    members = np.flatnonzero(model.labels_ == label)
    least_sure = members[np.argsort(model.probabilities_[members])[:3]]
    for ax, sample in zip(column[1:], least_sure, strict=True):
        show(ax, X[sample], f"{model.probabilities_[sample]:.2f}")
plt.show()

# %%
# Which digits each cluster holds: rows are classes, columns clusters.

table = np.zeros((10, model.n_clusters_), int)
np.add.at(table, (y, model.labels_), 1)
print(table)
