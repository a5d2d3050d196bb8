"""
Clusters without a parameter
============================

Two moons, and blobs whose densities differ by a factor of forty. Nothing is given: no number of
clusters, no radius.
"""

# %%
# ``DensityPeaks`` is a clusterer of scikit-learn: ``fit``, ``labels_``, ``predict``. Labels are in the
# order of peak density, and ``-1`` would be noise.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_moons

from diffpeaks import DensityPeaks
from diffpeaks.plotting import DensityDisplay

moons, _ = make_moons(500, noise=0.06, random_state=0)
sizes, spreads = [1000, 300, 60], [0.25, 0.9, 0.35]
centers = [[0.0, 0.0], [3.2, 0.0], [0.0, 3.2]]
blobs, _ = make_blobs(sizes, centers=centers, cluster_std=spreads, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, X in zip(axes, (moons, blobs), strict=True):
    model = DensityPeaks().fit(X)
    DensityDisplay.from_estimator(model, X, color="cluster", ax=ax)
plt.show()

# %%
# What was chosen can be read from the fitted model: how many neighbours, the longest link, and how far a
# hill must rise above its saddle, in log density, to be a cluster.

print(model.density_estimator_.n_neighbors_, "neighbours")
print(model.cut_)
