"""
Landscape of a density
======================

What the clusters rest on: the density of the random walk, at the samples and between them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.manifold import Isomap

from diffpeaks import DensityPeaks
from diffpeaks.datasets import make_three_gaussians
from diffpeaks.plotting import DensityDisplay

# %%
# In the plane, samples are coloured by density or by cluster, and contours show the density between them;
# from one contour to the next it doubles. Stars are peaks.

X, _ = make_three_gaussians(random_state=0)
model = DensityPeaks().fit(X)
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
DensityDisplay.from_estimator(model, X, ax=axes[0])
DensityDisplay.from_estimator(model, X, contours=True, ax=axes[1])
DensityDisplay.from_estimator(model, X, color="cluster", ax=axes[2])
plt.show()

# %%
# Samples of more features are drawn at given places, here those of Isomap, or of t-SNE or UMAP; without
# them, at their first two principal components. The map is for the eye only: density and clusters were
# found in all 64 features.

digits, _ = load_digits(return_X_y=True)
places = Isomap(n_neighbors=10).fit_transform(digits)
display = DensityDisplay.from_estimator(DensityPeaks().fit(digits), digits, positions=places, color="cluster")
display.ax_.set_axis_off()
plt.show()
