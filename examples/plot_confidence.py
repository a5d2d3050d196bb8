"""
How sure a label is, and which samples are outliers
===================================================

Labels alone say nothing about the samples between two clusters, nor about those far from all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from diffpeaks import DensityPeaks

random = np.random.default_rng(0)
blobs, _ = make_blobs([400, 400, 200], centers=[[0, 0], [4, 0], [2, 3.5]], random_state=0)
X = np.concatenate([blobs, random.uniform(-6, 10, (20, 2))])
model = DensityPeaks(n_clusters=3).fit(X)

# %%
# ``probabilities_`` is the share of the label's cluster among those that one step of the random walk
# reaches: 1 deep inside, about a half where two clusters meet. ``outlier_scores_`` compares the density of
# a sample with that of its neighbours.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, values, name in (
    (axes[0], model.probabilities_, "probability of the label"),
    (axes[1], model.outlier_scores_, "outlier score"),
):
    order = np.argsort(-values if ax is axes[0] else values)  # what stands out on top
    drawn = ax.scatter(*X[order].T, c=values[order], s=12, cmap="viridis", vmin=0, vmax=1)
    figure.colorbar(drawn, ax=ax, label=name)
    ax.set(xlabel="first feature", ylabel="second feature", aspect="equal")
plt.show()

# %%
# Each sample has a reason for its label: the path of denser and denser samples that leads to the peak.

doubtful = int(np.argmin(model.probabilities_))
print(model.explain(doubtful))
print(model.memberships(top=3)[[doubtful]].toarray().round(2))
