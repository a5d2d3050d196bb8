"""Small exact indices with the manners of faiss and hnswlib."""

import numpy as np
from sklearn.metrics import pairwise_distances


class FaissLike:
    """Exact, with faiss's conventions: squared distances first, padding with -1."""

    def __init__(self, points, metric="sqeuclidean", found=None):
        self.points, self.metric, self.found = np.asarray(points, np.float32), metric, found
        self.ntotal, self.d = self.points.shape

    def search(self, queries, k):
        assert queries.dtype == np.float32
        assert queries.flags.c_contiguous
        distances = pairwise_distances(queries, self.points, metric=self.metric)
        labels = np.argsort(distances, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(distances, labels, axis=1)
        if self.found is not None:
            labels[:, self.found :], distances[:, self.found :] = -1, np.finfo(np.float32).max
        return distances, labels.astype(np.int64)


class HnswLike:
    """Exact, with hnswlib's conventions: labels first, an error where a query finds too few."""

    def __init__(self, points, poor=(), labels=None):
        self.inner, self.poor = FaissLike(points), np.asarray(points, np.float32)[list(poor)]
        self.labels = np.arange(len(points)) if labels is None else labels
        self.element_count, self.dim = self.inner.points.shape

    def knn_query(self, data, k=1):
        if any((data == row).all(axis=1).any() for row in self.poor):
            raise RuntimeError("Cannot return the results in a contiguous 2D array")
        distances, found = self.inner.search(data, k)
        return self.labels[found].astype(np.uint64), distances
