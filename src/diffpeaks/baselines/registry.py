"""Every baseline by name: a callable that makes a ready estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, MiniBatchKMeans

from diffpeaks.baselines.communities import Infomap, Leiden
from diffpeaks.baselines.propagation import CDP
from diffpeaks.baselines.rank_order import ARO
from diffpeaks.baselines.row_breaks import FaceMap
from diffpeaks.baselines.shared_mass import FCES
from diffpeaks.baselines.short_links import KNNDBSCAN, SingleLinkage
from diffpeaks.graph import csr
from diffpeaks.neighbors import neighbor_graph


def k_means(n_clusters: int, **params: Any) -> KMeans:
    """scikit-learn's k-means: the best of ten starts."""
    return KMeans(n_clusters, **{"n_init": 10, "random_state": 0, **params})


def mini_batch_k_means(n_clusters: int, **params: Any) -> MiniBatchKMeans:
    """The same for thousands of clusters, as face clustering does; a batch holds several of each cluster."""
    batch = {"batch_size": max(1024, 4 * n_clusters), "n_init": 1, "random_state": 0}
    return MiniBatchKMeans(n_clusters, **{**batch, **params})


def ward(n_clusters: int, n_neighbors: int | None = None, **params: Any) -> AgglomerativeClustering:
    """Ward's method; with `n_neighbors`, for large sets, only clusters with neighbouring samples merge."""
    near = None if n_neighbors is None else partial(_connectivity, n_neighbors=n_neighbors)
    return AgglomerativeClustering(n_clusters, **{"linkage": "ward", "connectivity": near, **params})


def hdbscan(min_cluster_size: int = 5, **params: Any) -> HDBSCAN:
    """scikit-learn's HDBSCAN."""
    return HDBSCAN(min_cluster_size, **{"copy": True, **params})


BASELINES: dict[str, Callable[..., Any]] = {
    "k-means": k_means,
    "mini-batch-k-means": mini_batch_k_means,
    "ward": ward,
    "single-linkage": SingleLinkage,
    "knn-dbscan": KNNDBSCAN,
    "hdbscan": hdbscan,
    "aro": ARO,
    "cdp": CDP,
    "infomap": Infomap,
    "leiden": Leiden,
    "facemap": FaceMap,
    "fc-es": FCES,
}


def _connectivity(X: Any, n_neighbors: int) -> sp.csr_array:
    graph = neighbor_graph(X, n_neighbors)
    return csr(graph, np.ones(len(graph.indices))).copy()
