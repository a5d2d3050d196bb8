"""Sets on which searches on a device are compared with those of the host."""

import numpy as np


def clumps(n_samples, n_features, seed=0):
    random = np.random.default_rng(seed)
    centers = 3 * random.normal(size=(8, n_features))
    return centers[random.integers(0, 8, n_samples)] + random.normal(size=(n_samples, n_features))


SETS = {
    "many features": lambda: clumps(1500, 40),
    "whole lanes": lambda: clumps(1200, 64),
    "few features": lambda: clumps(1500, 3),
    "one feature": lambda: clumps(1200, 1),
    "ties": lambda: clumps(900, 12).round(0),
    "ties in the plane": lambda: clumps(900, 2).round(0),
    "duplicates": lambda: np.tile(clumps(100, 20), (12, 1)),
    "all the same": lambda: np.ones((60, 20)),
    "far from the origin": lambda: clumps(800, 20) + 1e5,
    "small": lambda: 1e-9 * clumps(800, 20),
    "one far out": lambda: np.vstack([clumps(1100, 20), np.full((1, 20), 1e7)]),
    "sorted": lambda: np.sort(clumps(1500, 20), axis=0),
}


def points_of(name, metric, dtype):
    """A set, whose rows have a direction if the metric needs one."""
    X = SETS[name]().astype(dtype)
    if metric == "cosine":
        X[~X.any(axis=1)] = 1
    return X


def assert_same_graph(graph, expected):
    np.testing.assert_array_equal(graph.indptr, expected.indptr)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_array_equal(graph.distances, expected.distances)
    assert graph.distances.dtype == expected.distances.dtype
