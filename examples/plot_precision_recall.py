"""
Precision against recall of every cut
=====================================

Where the truth is known, one pass scores every clustering that a rule can make. The curve tells how good a
density can be at best, the mark how good the cut was that the fit has chosen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.plotting import PrecisionRecallDisplay

X, y = load_digits(return_X_y=True)
models = {
    "default": DensityPeaks(),
    "naive density, told 10": DensityPeaks("naive", n_clusters=10),
    "DBSCAN": DensityDBSCAN(border=False),
}

# %%
# Each display is drawn on the axes of the one before. BCubed scores are averages over samples; pairwise
# scores count pairs, and are ruled by the large clusters.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, score in zip(axes, ("bcubed", "pairwise"), strict=True):
    for name, model in models.items():
        PrecisionRecallDisplay.from_estimator(model.fit(X), y, score=score, name=name, ax=ax)
plt.show()
