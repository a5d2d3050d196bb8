"""
Decision graph
==============

Density against the distance to the nearest denser sample. A peak has both: it is dense, and far from
anything denser.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from diffpeaks import DensityPeaks
from diffpeaks.plotting import DecisionGraphDisplay

X, _ = load_digits(return_X_y=True)

# %%
# The peaks that the automatic cut has chosen, in the colours of their clusters, and those that a number of
# clusters takes: the largest products of density and distance. Both axes are logarithmic, so that equal
# products lie on falling diagonals. The densest sample of all has no denser one; it is drawn just above the
# largest distance.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True, sharey=True)
for ax, model in zip(axes, (DensityPeaks(), DensityPeaks(n_clusters=20)), strict=True):
    DecisionGraphDisplay.from_estimator(model.fit(X), ax=ax)
plt.show()
