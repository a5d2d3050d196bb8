import numpy as np
import pytest
import reference
from clouds import clouds_and_k, general_position
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import neighbor_graph
from diffpeaks.density.walk import (
    KERNELS,
    bandwidth_of,
    local_bandwidth,
    self_tuning_bandwidth,
    walk_on,
    weight_blocks,
)

kernels = pytest.mark.parametrize("kernel", list(KERNELS))


def dense(graph, weights):
    W = np.zeros((graph.n_samples, graph.n_samples))
    W[np.repeat(np.arange(graph.n_samples), graph.degrees), graph.indices] = weights
    return W


@kernels
@given(case=clouds_and_k(), h=st.sampled_from([0.1, 0.5, 3.0]))
def test_a_number_is_the_bandwidth(kernel, case, h):
    X, k = case
    D = reference.euclidean_distances(X)
    graph = neighbor_graph(X, k)
    expected = reference.weight_matrix(D, reference.nearest(D, k), kernel, h)
    np.testing.assert_allclose(dense(graph, walk_on(graph, kernel, h).weights), expected, atol=1e-15)


@kernels
@given(case=clouds_and_k())
def test_local_bandwidth_of_the_asymmetric_kernel(kernel, case):
    X, k = case
    D = reference.euclidean_distances(X)
    rows = reference.nearest(D, k)
    graph = neighbor_graph(X, k)
    expected = reference.weight_matrix(D, rows, kernel, reference.local_bandwidth(D, rows))
    np.testing.assert_allclose(
        dense(graph, walk_on(graph, kernel, local_bandwidth(graph)).weights), expected, atol=1e-12
    )


@kernels
@given(case=clouds_and_k())
def test_self_tuning_bandwidth_of_the_symmetric_kernel(kernel, case):
    X, k = case
    D = reference.euclidean_distances(X)
    both = neighbor_graph(X, k, radius=2.0)
    ball = both.within(2.0)
    weights = walk_on(ball, kernel, self_tuning_bandwidth(both, k)).weights
    h = reference.local_bandwidth_symmetric(D, k)
    expected = reference.weight_matrix(D, reference.within(D, 2.0), kernel, h)
    np.testing.assert_allclose(dense(ball, weights), expected, atol=1e-12)
    np.testing.assert_array_equal(dense(ball, weights), dense(ball, weights).T)


@given(case=clouds_and_k())
def test_median_bandwidth(case):
    X, k = case
    D = reference.euclidean_distances(X)
    expected = reference.median_bandwidth(D, reference.nearest(D, k))
    assert bandwidth_of(neighbor_graph(X, k), "median").origin ** 2 == pytest.approx(expected)


def test_a_callable_gets_distances():
    graph = neighbor_graph(general_position(0), 5)
    weights = walk_on(graph, lambda distances: 1 / (1 + distances)).weights
    np.testing.assert_array_equal(weights, 1 / (1 + graph.distances))


def test_blocks_do_not_show(monkeypatch):
    graph = neighbor_graph(general_position(0), 5)
    whole = walk_on(graph, "gaussian", local_bandwidth(graph)).weights
    monkeypatch.setattr("diffpeaks.graph.rows._BLOCK_ENTRIES", 7)
    blocks = [weights for *_, weights in weight_blocks(graph, "gaussian", local_bandwidth(graph))]
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
