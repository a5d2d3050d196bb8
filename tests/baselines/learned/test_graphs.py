"""Means over neighbours and graph convolutions, by hand."""

import numpy as np
import torch
from clouds import rows_of

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.baselines.learned.graphs import (
    GraphConvolution,
    GraphNetwork,
    Links,
    Nodes,
    cosine_links,
    nearest_links,
    neighbor_means,
)

CPU = torch.device("cpu")
# 0 and 1 list each other, 2 lists 1, and 3 is alone with a cosine below 0
GRAPH = NeighborGraph.from_arrays(
    [[0, 1], [1, 0], [2, 1], [3, 0]], [[0.0, 0.5], [0.0, 0.5], [0.0, 0.75], [0.0, 1.5]], "cosine"
)
COSINES = [[1, 0.5, 0, 0], [0.5, 1, 0.25, 0], [0, 0.25, 1, 0], [0, 0, 0, 1]]


def test_links_go_both_ways_and_none_is_negative():
    assert cosine_links(GRAPH).toarray().tolist() == COSINES
    ones = nearest_links(GRAPH, 1).toarray()
    assert ones.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]


def test_means_are_weighted():
    X = np.array([[4.0], [8.0], [0.0], [3.0]], np.float32)
    means = neighbor_means(cosine_links(GRAPH), X)
    expected = [(4 + 4) / 1.5, (2 + 8) / 1.75, 2 / 1.25, 3]
    np.testing.assert_allclose(means.ravel(), expected, rtol=1e-6)


def test_means_stay_within_their_small_graph():
    """One graph of the samples 1 and 2, one of 0, 1 and 3; in the latter 3 is linked to itself alone."""
    graph, sample = torch.tensor([1, 0, 1, 0, 1, 1]), torch.tensor([3, 2, 0, 1, 1, 0])
    nodes = Nodes.of_pairs(graph, sample, 4)
    assert nodes.sample.tolist() == [1, 2, 0, 1, 3]
    assert nodes.graph.tolist() == [0, 0, 1, 1, 1]
    assert nodes.places(torch.tensor([1]), torch.tensor([3])).tolist() == [4]
    means = nodes.means(Links.of_matrix(cosine_links(GRAPH), CPU))
    x = torch.tensor([[8.0], [0.0], [4.0], [8.0], [3.0]])
    expected = [8 / 1.25, 2 / 1.25, (4 + 4) / 1.5, (2 + 8) / 1.5, 3]
    np.testing.assert_allclose(means(x).ravel(), expected, rtol=1e-6)


def test_a_node_without_neighbours_has_mean_zero():
    nodes = Nodes(torch.tensor([0, 0]), torch.tensor([2, 3]), 4)
    means = nodes.means(Links.of_matrix(nearest_links(GRAPH, 1), CPU))
    assert means(torch.ones(2, 3)).tolist() == [[0.0] * 3] * 2


def test_small_graphs_equal_loops():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    graph = neighbor_graph(X, 8, metric="cosine")
    weights, x = cosine_links(graph).toarray(), random.normal(size=(60, 3)).astype(np.float32)
    members = [np.sort(random.permutation(60)[:size]) for size in (3, 17, 1, 40)]
    of = np.repeat(np.arange(4), [len(part) for part in members])
    nodes = Nodes(torch.from_numpy(of), torch.from_numpy(np.concatenate(members)), 60)
    found = nodes.means(Links.of_matrix(cosine_links(graph), CPU))(torch.from_numpy(x)[nodes.sample])
    expected = [
        sum(weights[i, j] * x[j] for j in part) / sum(weights[i, j] for j in part)
        for part in members
        for i in part
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert len(rows_of(graph)) == 60


def test_the_gradient_of_means_is_that_of_the_matrix():
    nodes = Nodes.of_pairs(torch.tensor([0, 0, 1, 1, 1]), torch.tensor([1, 2, 0, 1, 3]), 4)
    means = nodes.means(Links.of_matrix(cosine_links(GRAPH), CPU))
    exact = type(means)(means.matrices.double(), means.slots)
    assert torch.autograd.gradcheck(exact, torch.rand(5, 2, dtype=torch.double, requires_grad=True))


def test_a_convolution_by_hand():
    layer = GraphConvolution(1, 2)
    layer.weight.data = torch.tensor([[1.0, -1.0], [2.0, 3.0]])  # a row for x, and one for the mean
    layer.bias.data = torch.tensor([0.5, 0.0])
    found = layer(torch.tensor([[1.0], [4.0]]), torch.tensor([[2.0], [1.0]]))
    assert found.tolist() == [[5.5, 5.0], [6.5, 0.0]]
    alone = GraphConvolution(1, 1, own=False)
    alone.weight.data = torch.tensor([[-2.0]])
    assert alone(torch.tensor([[9.0], [9.0]]), torch.tensor([[2.0], [-1.0]])).tolist() == [[0.0], [2.0]]


def test_the_place_of_a_small_graph_among_others_changes_nothing():
    torch.manual_seed(0)
    network = GraphNetwork((3, 4, 4), 2).eval()
    x, links = torch.rand(4, 3), Links.of_matrix(cosine_links(GRAPH), CPU)

    def asked(graph, sample):
        nodes = Nodes(torch.tensor(graph), torch.tensor(sample), 4)
        return network(x[nodes.sample], nodes.means(links), torch.arange(len(sample)))

    alone, beside = asked([0, 0], [1, 2]), asked([0, 0, 0, 0, 1, 1], [0, 1, 2, 3, 1, 2])
    torch.testing.assert_close(alone, beside[4:])
    assert not torch.allclose(alone, beside[1:3])
