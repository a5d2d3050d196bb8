"""The baselines of tables 2 and 3, each over a small grid: pairs of a setting and its labels."""

import numpy as np

from diffpeaks import NeighborGraph
from diffpeaks import baselines as methods
from diffpeaks.baselines import ARO, CDP, FCES, KNNDBSCAN, FaceMap, Infomap, Leiden, SingleLinkage

_NEAREST = 16
_LENGTHS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1)  # between unit vectors; 1.0 is a cosine of 0.5


def cosine_graph(graph):
    """The same neighbours with 1 - cos in the place of the distance between unit vectors."""
    distances = (graph.distances**2 / 2).astype(graph.distances.dtype)
    return NeighborGraph(graph.indptr, graph.indices, distances, graph.n_neighbors)


def _k_means(faces):
    """Given the true number of identities; ten passes, from centres that are drawn among twice as many."""
    n_clusters = len(np.unique(faces.y))
    model = methods.BASELINES["mini-batch-k-means"](n_clusters, max_iter=10, init_size=2 * n_clusters)
    yield {"n_clusters_given": n_clusters}, model.fit_predict(faces.X)


def _single_linkage(faces):
    for length in _LENGTHS:
        model = SingleLinkage(length, faces.graph.n_neighbors, metric="precomputed")
        yield {"max_distance": length}, model.fit_predict(faces.graph)


def _aro(faces):
    model = ARO(faces.graph.n_neighbors, metric="precomputed").fit(faces.graph)
    for distance in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0):
        yield {"max_distance": distance}, model.recut(distance)


def _cdp(faces):
    graph = cosine_graph(faces.graph)
    for similarity in (0.3, 0.4, 0.5, 0.6, 0.66, 0.7):
        model = CDP(min_similarity=similarity, metric="precomputed")
        yield {"min_similarity": similarity}, model.fit_predict(graph)


def _knn_dbscan(faces):
    for length in _LENGTHS:
        for min_samples in (2, 5, 10):
            model = KNNDBSCAN(length, min_samples, faces.graph.n_neighbors, metric="precomputed")
            yield {"radius": length, "min_samples": min_samples}, model.fit_predict(faces.graph)


def _communities(kind, faces):
    """On the nearest 16, all links alike: once with all of them, once with those of a cosine above 0.5."""
    graph = cosine_graph(faces.graph)
    for distance in (np.inf, 0.5):
        model = kind(_NEAREST, distance, weights="uniform", metric="precomputed", random_state=0)
        yield {"max_distance": None if np.isinf(distance) else distance}, model.fit_predict(graph)


def _infomap(faces):
    return _communities(Infomap, faces)


def _leiden(faces):
    return _communities(Leiden, faces)


def _facemap(faces):
    graph = cosine_graph(faces.graph)
    for window in (20, 5):
        model = FaceMap(graph.n_neighbors, window, metric="precomputed")
        yield {"n_neighbors": graph.n_neighbors, "window": window}, model.fit_predict(graph)


def _fces(faces):
    graph = cosine_graph(faces.graph)
    for min_shared in (0.22, 0.35):
        yield {"min_shared": min_shared}, FCES(min_shared=min_shared, metric="precomputed").fit_predict(graph)


BASELINES = {
    "HAC, single linkage": _single_linkage,
    "ARO": _aro,
    "CDP": _cdp,
    "kNN-DBSCAN": _knn_dbscan,
    "Infomap": _infomap,
    "Leiden": _leiden,
    "FaceMap": _facemap,
    "FC-ES": _fces,
    "k-means": _k_means,
}
