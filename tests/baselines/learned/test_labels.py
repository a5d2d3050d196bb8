"""From what networks say to labels, by hand and by loops."""

import numpy as np
import reference_baselines
from clouds import rows_of, same_partition

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.baselines.learned.gcn_v import GCNV, linked_labels, true_confidence
from diffpeaks.baselines.learned.gcn_ve import Candidates
from diffpeaks.baselines.learned.lgcn import mean_of_both
from diffpeaks.baselines.learned.ltc import Proposals, without_overlap
from diffpeaks.baselines.propagation import bounded_components
from diffpeaks.datasets import make_faces

# on a line: 0, 1, 2 near each other, 3 and 4 as well, and 2 not far from 3
GRAPH = NeighborGraph.from_arrays(
    [[0, 1, 2], [1, 0, 2], [2, 1, 3], [3, 4, 2], [4, 3, 2]],
    [[0.0, 0.1, 0.2], [0.0, 0.1, 0.15], [0.0, 0.15, 0.3], [0.0, 0.1, 0.3], [0.0, 0.1, 0.4]],
    "cosine",
)


def test_confidence_by_hand():
    found = true_confidence(GRAPH, np.array([0, 0, 1, 1, 1]))
    expected = [1 + 0.9 - 0.8, 1 + 0.9 - 0.85, 1 - 0.85 + 0.7, 1 + 0.9 + 0.7, 1 + 0.9 + 0.6]
    np.testing.assert_allclose(found, np.array(expected) / 3, rtol=1e-6)


def test_links_go_to_the_nearest_of_more_confidence():
    links = GCNV()._links(GRAPH, np.array([0.3, 0.5, 0.4, 0.9, 0.9], np.float32))
    assert links.parent.tolist() == [1, -1, 1, -1, -1]  # 1 lists nobody of more, 3 and 4 have as much
    np.testing.assert_allclose(links.delta[[0, 2]], [0.1, 0.15], rtol=1e-6)
    assert linked_labels(links, 0.5).tolist() == [0, 0, 0, 1, 2]
    assert linked_labels(links, 0.87).tolist() == [0, 0, 1, 2, 3]  # 1 - 0.15 is not above
    assert linked_labels(links, 0.95).tolist() == [0, 1, 2, 3, 4]


def test_a_chosen_candidate_takes_the_place_of_the_nearest(monkeypatch):
    """Sample 2 has 1 and 3 as candidates, and the network prefers 3, the farther one."""
    links = GCNV()._links(GRAPH, np.array([0.3, 0.5, 0.4, 0.9, 0.1], np.float32))
    taken = np.array([[False, True, True]])
    candidates = Candidates(GRAPH, np.array([2]), taken, None, None)
    for likely, parent in (([-3.0, -0.1], 3), ([-0.1, -3.0], 1), ([-1.0, -1.0], 1)):
        said = np.array(likely)
        monkeypatch.setattr("diffpeaks.baselines.learned.gcn_ve.outputs", lambda *_, said=said: said)
        assert candidates.chosen(None, links).parent[2] == parent
    assert links.parent[2] == 1  # nothing is changed in place


def test_means_of_both_directions_equal_loops():
    X, _ = make_faces(80, 6, n_features=8, random_state=0)
    graph = neighbor_graph(X, 7, metric="cosine")
    values = np.random.default_rng(0).random(len(graph.indices)).astype(np.float32)
    pairs = [(i, j) for i, row in enumerate(rows_of(graph)) for j in row]
    value = dict(zip(pairs, values, strict=True))
    expected = [(value[i, j] + value.get((j, i), value[i, j])) / 2 for i, j in pairs]
    np.testing.assert_allclose(mean_of_both(graph, values), expected, rtol=1e-6)


def test_components_of_bounded_size_equal_loops():
    X, _ = make_faces(60, 5, n_features=8, random_state=1)
    graph = neighbor_graph(X, 6, metric="cosine")
    rows = rows_of(graph)
    D = graph.to_scipy().toarray()
    for threshold, max_size, step in ((0.2, 20, 0.3), (0.5, 5, 0.6)):
        found, _ = bounded_components(graph, graph.distances, 1 - threshold, max_size, step)
        assert same_partition(found, reference_baselines.cdp(rows, D, threshold, max_size, step))


def test_ratings_of_proposals_by_hand():
    proposals = Proposals([np.array([0, 1, 2]), np.array([3, 4])], None, None)
    iou, iop = proposals.true_ratings(np.array([7, 7, 8, 8, 8, 7]))
    np.testing.assert_allclose(iou, [2 / 4, 2 / 3])  # 7 has three samples, one of them outside
    np.testing.assert_allclose(iop, [2 / 3, 1])


def test_the_best_proposal_takes_its_samples_first():
    members = [np.array([0, 1, 2]), np.array([2, 3, 4]), np.array([0, 1])]
    labels = without_overlap(members, {}, np.array([0.5, 0.9, 0.1]), 6)
    assert labels.tolist() == [0, 0, 1, 1, 1, 2]
    kept = {1: np.array([False, True, True])}  # cleaned of sample 2, which the next one takes
    assert without_overlap(members, kept, np.array([0.5, 0.9, 0.1]), 6).tolist() == [0, 0, 0, 1, 1, 2]
