"""Hypothesis strategies: small point sets with everything that breaks neighbour code."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def clouds(draw, min_samples=1, max_samples=22):
    """Points on a coarse grid (ties, duplicates) or in general position, with outliers and separate parts."""
    n_samples = draw(st.integers(min_samples, max_samples))
    n_features = draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        X = random.integers(0, draw(st.integers(1, 4)), (n_samples, n_features)).astype(float)
    else:
        X = random.normal(size=(n_samples, n_features))
    if draw(st.booleans()):
        X[random.random(n_samples) < 0.4] += 50.0
    if draw(st.booleans()):
        X[random.integers(n_samples)] = 1000.0
    return X


@st.composite
def clouds_and_k(draw, min_samples=1):
    X = draw(clouds(min_samples))
    return X, draw(st.integers(1, len(X)))


def general_position(seed, n_samples=60, n_features=2):
    """Two separated groups without ties, for laws that hold up to rounding."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, n_features))
    X[: n_samples // 3] += 6.0
    return X


radii = st.sampled_from([0.5, 1.0, 1.5, 2.0, 5.0, 60.0])


def rows_of(graph):
    """The rows of a NeighborGraph as lists."""
    return [row.tolist() for row in np.split(graph.indices, graph.indptr[1:-1])]


def same_partition(labels, others):
    """Whether two labellings put the same samples together."""
    pairs = set(zip(np.asarray(labels).tolist(), np.asarray(others).tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
