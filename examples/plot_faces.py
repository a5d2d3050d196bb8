"""
Many small clusters and singletons
==================================

Embeddings of faces: long-tailed sizes, and hundreds of people of whom there is one picture only. Such data
have no valleys between hills, but a distance beyond which two pictures show different people: ``max_link``.
"""

# %%
# The embeddings are generated, so that nothing is downloaded. Three in ten pictures are the only ones of
# their person.

import matplotlib.pyplot as plt
import numpy as np

from diffpeaks import DensityPeaks
from diffpeaks.datasets import make_faces
from diffpeaks.metrics import bcubed_scores
from diffpeaks.plotting import PrecisionRecallDisplay

X, y = make_faces(3000, n_features=128, singleton_share=0.3, random_state=0)
print(f"{len(X)} pictures of {len(np.unique(y))} people")

# %%
# Where the length is known, from other faces of the same network, it is given. Cosine distances go from 0
# to 2.

model = DensityPeaks(metric="cosine", max_link=0.5).fit(X)
print(f"{model.n_clusters_} clusters, BCubed F {bcubed_scores(y, model.labels_).f:.3f}")

# %%
# How the score hangs on it: one pass over the links scores every length against the truth.

sweep = model.sweep(y, "max_link")
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].plot(sweep.thresholds, sweep.bcubed.precision, label="precision")
axes[0].plot(sweep.thresholds, sweep.bcubed.recall, label="recall")
axes[0].axvline(model.cut_.max_link, color="0.6", linestyle="--")
axes[0].set(xlabel="max_link (cosine distance)", ylabel="BCubed score", xlim=(0.2, 0.9))
axes[0].legend()
PrecisionRecallDisplay.from_estimator(model, y, "max_link", name="max_link", ax=axes[1])
plt.show()

# %%
# Pictures that stay alone can be told from groups by ``min_cluster_size``: they become noise.

labels = model.recut(max_link=0.5, min_cluster_size=2)
print(f"{labels.max() + 1} groups, {np.mean(labels == -1):.0%} of the pictures alone")
