"""
Neighbours by an approximate search
===================================

On large sets of many features the neighbours take most of the time. ``ApproximateSearch`` finds a stated
share of them, measures the share on the very data, and says it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from diffpeaks import ApproximateSearch, DensityPeaks, neighbor_graph
from diffpeaks.metrics import bcubed_scores

X, y = make_blobs(20_000, 32, centers=20, cluster_std=3.0, center_box=(-5, 5), random_state=0)
X = X.astype(np.float32)

# %%
# The exact graph, and two that are asked for less. ``recall`` was measured on a sample of the points.

graphs = {"exact": neighbor_graph(X, n_neighbors=30, search="exact")}
for recall in (0.9, 0.7):
    graphs[f"recall={recall}"] = neighbor_graph(X, n_neighbors=30, search=ApproximateSearch(recall=recall))
for name, graph in graphs.items():
    print(f"{name}: {graph.recall:.3f} +- {graph.recall_error:.3f}")

# %%
# Near neighbours are missed less often than far ones, and the clusters hardly suffer. Every density and every
# cut can be computed from a graph that was searched once.

exact = graphs["exact"].indices.reshape(len(X), 30)
for name, graph in graphs.items():
    found = graph.indices.reshape(len(X), 30)
    share = np.mean(np.any(exact[:, :, None] == found[:, None, :], axis=2), axis=0)
    labels = DensityPeaks(metric="precomputed").fit_predict(graph)
    plt.plot(np.arange(1, 31), share, label=f"{name}: BCubed F {bcubed_scores(y, labels).f:.3f}")
plt.xlabel("neighbour, the point itself first")
plt.ylabel("share of points that found it")
plt.ylim(0, 1.05)
plt.legend()
plt.show()
