import numpy as np
import pytest
import reference
from clouds import clouds_and_k, general_position
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import neighbor_graph
from diffpeaks.density.kernels import (
    KERNELS,
    bandwidth_of,
    kernel_weights,
    local_bandwidth,
    self_tuning_bandwidth,
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
    np.testing.assert_allclose(dense(graph, kernel_weights(graph, kernel, h)), expected, atol=1e-15)


@kernels
@given(case=clouds_and_k())
def test_local_bandwidth_of_the_asymmetric_kernel(kernel, case):
    X, k = case
    D = reference.euclidean_distances(X)
    rows = reference.nearest(D, k)
    graph = neighbor_graph(X, k)
    expected = reference.weight_matrix(D, rows, kernel, reference.local_bandwidth(D, rows))
    np.testing.assert_allclose(
        dense(graph, kernel_weights(graph, kernel, local_bandwidth(graph))), expected, atol=1e-12
    )


@kernels
@given(case=clouds_and_k())
def test_self_tuning_bandwidth_of_the_symmetric_kernel(kernel, case):
    X, k = case
    D = reference.euclidean_distances(X)
    both = neighbor_graph(X, k, radius=2.0)
    ball = both.within(2.0)
    weights = kernel_weights(ball, kernel, self_tuning_bandwidth(both, k))
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
    weights = kernel_weights(graph, lambda distances: 1 / (1 + distances))
    np.testing.assert_array_equal(weights, 1 / (1 + graph.distances))


def test_blocks_do_not_show(monkeypatch):
    graph = neighbor_graph(general_position(0), 5)
    whole = kernel_weights(graph, "gaussian", local_bandwidth(graph))
    monkeypatch.setattr("diffpeaks.graph.rows._BLOCK_ENTRIES", 7)
    np.testing.assert_array_equal(kernel_weights(graph, "gaussian", local_bandwidth(graph)), whole)
