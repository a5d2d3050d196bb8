"""Clusterings that are compared by who is together, whatever the clusters are called."""

import numpy as np


def assert_same_clusters(labels, expected):
    """The same samples are together, and the same are noise."""
    labels, expected = np.asarray(labels), np.asarray(expected)
    np.testing.assert_array_equal(labels == -1, expected == -1)
    pairs = set(zip(labels.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(labels.tolist())) == len(set(expected.tolist()))
