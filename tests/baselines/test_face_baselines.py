"""Rank-order clustering and propagation against cases worked by hand, and loops over their definitions."""

import numpy as np
import pytest
import reference
import reference_baselines
from clouds import clouds_and_k, general_position, same_partition
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.baselines import ARO, CDP


def graph_of(rows, distances=None):
    """A graph with these rows; distances are ranks unless given."""
    if distances is None:
        distances = [list(range(len(row))) for row in rows]
    lengths = [len(row) for row in rows]
    return NeighborGraph(
        np.cumsum([0, *lengths]), np.concatenate(rows), np.concatenate(distances) * 1.0, radius=0.0
    )


# Lists of four. The lists of 0, 1 and 2 hold 0, 1, 2 and a fourth; 3 and 4 list each other, each last.
HAND = [[0, 1, 2, 3], [1, 0, 2, 4], [2, 1, 0, 4], [3, 0, 1, 4], [4, 2, 1, 3]]


def test_rank_order_distances_by_hand():
    fitted = ARO(n_neighbors=4, metric="precomputed").fit(graph_of(HAND))
    pairs = zip(np.repeat(range(5), 4), fitted.graph_.indices, strict=True)
    found = dict(zip(pairs, fitted.rank_distances_, strict=True))
    expected = {
        (0, 1): 0 / 1,  # each other's nearest: nothing lies between
        (0, 2): 0 / 2,  # 0 .. 2 is 0, 1, 2 and 2 .. 0 is 2, 1, 0: both lists hold these; ranks 2 and 2
        (1, 2): 0 / 1,  # 1, 0, 2 in the list of 2; 2, 1 in the list of 1; ranks 2 and 1
        (0, 3): 1 / 1,  # 0, 1, 2, 3: 2 is missing from the list of 3; 3, 0: nothing; ranks 3 and 1
        (2, 4): 1 / 1,  # 2, 1, 0, 4: 0 is missing; 4, 2: nothing; ranks 3 and 1
        (1, 4): 1 / 2,  # 1, 0, 2, 4: 0 is missing; 4, 2, 1: nothing; ranks 3 and 2
        (3, 4): 2 / 3,  # 3, 0, 1, 4: 0 is missing; 4, 2, 1, 3: 2 is missing; ranks 3 and 3
    }
    for pair, distance in expected.items():
        assert found.pop(pair) == distance
    # 3 lists 1, but 1 does not list 3; and every pair is given once, in the first of its rows
    assert set(found.values()) == {np.inf}


@pytest.mark.parametrize(
    ("max_distance", "labels"),
    [(0, [0, 0, 0, 1, 2]), (0.5, [0, 0, 0, 1, 0]), (0.66, [0, 0, 0, 1, 0]), (0.67, [0, 0, 0, 0, 0])],
)
def test_rank_order_clusters_by_hand(max_distance, labels):
    model = ARO(4, max_distance, metric="precomputed").fit(graph_of(HAND))
    assert model.labels_.tolist() == labels
    assert model.n_clusters_ == len(set(labels))
    assert ARO(4, 9.0, metric="precomputed").fit(graph_of(HAND)).recut(max_distance).tolist() == labels


@given(case=clouds_and_k(), max_distance=st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.5, 100.0]))
def test_rank_order_equals_the_reference(case, max_distance):
    X, k = case
    rows = reference.nearest(reference.euclidean_distances(X), k)
    model = ARO(k, max_distance).fit(X)
    assert same_partition(model.labels_, reference_baselines.aro(rows, max_distance))
    distances = iter(model.rank_distances_)
    for a, row in enumerate(rows):
        for b in row:
            expected = reference_baselines.rank_distance(rows, a, b) if a < b else None
            assert next(distances) == (np.inf if expected is None else expected)


def cosine_distances(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.maximum(1 - unit @ unit.T, 0)


# A path 0 - 1 - 2 - 3 - 4 - 5 with the distances 1/4, 1/8, 1/2, 1/4, 1/16 between neighbours. The ends list
# another sample, at a cosine of -1/2, and a list is three long.
PATH = graph_of(
    [[0, 1, 2], [1, 2, 0], [2, 1, 3], [3, 4, 2], [4, 5, 3], [5, 4, 3]],
    [[0, 0.25, 1.5], [0, 0.125, 0.25], [0, 0.125, 0.5], [0, 0.25, 0.5], [0, 0.0625, 0.25], [0, 0.0625, 1.5]],
)


@pytest.mark.parametrize(
    ("min_similarity", "max_size", "labels"),
    [
        (0.25, 6, [0, 0, 0, 0, 0, 0]),  # every cosine is 1/2 or more
        (0.5, 6, [0, 0, 0, 1, 1, 1]),  # 1/2 is not above 1/2
        (0.25, 3, [0, 0, 0, 1, 1, 1]),  # six are too many; from 1/4 to 5/8, which cuts 2 - 3
        (0.25, 2, [0, 1, 1, 2, 3, 3]),  # three are too many; from 5/8 to 13/16, which cuts 0 - 1 and 3 - 4
        # from 13/16 to 29/32, which cuts 1 - 2 (7/8), to 61/64, which cuts 4 - 5 (15/16)
        (0.25, 1, [0, 1, 2, 3, 4, 5]),
        (0.75, 2, [0, 1, 1, 2, 3, 3]),  # 3/4 is not above 3/4
    ],
)
def test_propagation_by_hand(min_similarity, max_size, labels):
    """Each step halves the way to a cosine of 1."""
    model = CDP(3, min_similarity, max_size, step=0.5, metric="precomputed")
    assert model.fit(PATH).labels_.tolist() == labels
    assert len(model.oversized_) == 0


@given(
    case=clouds_and_k(2),
    min_similarity=st.sampled_from([0.0, 0.5, 0.9]),
    max_size=st.integers(1, 12),
    step=st.sampled_from([0.05, 0.37, 0.8]),
)
def test_propagation_equals_the_reference(case, min_similarity, max_size, step):
    X, k = case
    D = cosine_distances(X - X.min() + np.linspace(1, 2, X.size).reshape(X.shape))
    model = CDP(k, min_similarity, max_size, step, metric="precomputed").fit(D)
    rows = reference.nearest(D, k)
    assert same_partition(model.labels_, reference_baselines.cdp(rows, D, min_similarity, max_size, step))
    sizes = np.bincount(model.labels_)
    np.testing.assert_array_equal(np.flatnonzero(sizes > max_size), model.oversized_)


def test_propagation_ends_where_samples_coincide():
    X = np.concatenate((np.tile([[1.0, 2.0]], (30, 1)), [[2.0, -1.0]]))
    for dtype in (np.float64, np.float32):
        model = CDP(30, max_size=10).fit(X.astype(dtype))
        assert model.labels_.tolist() == [0] * 30 + [1]
        assert model.oversized_.tolist() == [0]


def test_propagation_leaves_what_differs_by_rounding():
    """1 - cosine of copies of one vector, of different length, is a few roundings."""
    random = np.random.default_rng(0)
    X = (random.normal(size=64) * random.uniform(0.1, 9, (40, 1))).astype(np.float32)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = np.abs(1 - unit @ unit.T)
    np.fill_diagonal(D, 0)
    assert 0 < D.max() < 1e-6
    assert CDP(40, max_size=10, metric="precomputed").fit(D).oversized_.tolist() == [0]


def test_propagation_on_points_equals_that_on_a_graph_of_cosines():
    X = general_position(3, 150, 4) + np.array([2, 0, 0, 0])
    on_points = CDP(10, 0.9, 20).fit(X)
    on_graph = CDP(10, 0.9, 20, metric="precomputed").fit(neighbor_graph(X, 12, metric="cosine"))
    np.testing.assert_array_equal(on_points.labels_, on_graph.labels_)
    assert np.bincount(on_points.labels_).max() <= 20
