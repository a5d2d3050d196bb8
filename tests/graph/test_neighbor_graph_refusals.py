"""A graph that cannot be right is refused, and what it does not hold too."""

import numpy as np
import pytest
from clouds import general_position
from refusals import refuses

from diffpeaks import NeighborGraph, neighbor_graph

X = general_position(0, 60)
GRAPH, BALL = neighbor_graph(X, 5), neighbor_graph(X, radius=1.0)


def triangle(**changes):
    """A good graph of three points, with some parts replaced."""
    parts = {"indptr": [0, 2, 4, 6], "indices": [0, 1, 1, 2, 2, 1], "distances": [0.0, 1, 0, 1, 0, 1]}
    return NeighborGraph(**{**parts, **changes})


HIDDEN = np.ma.array([0, 1, 1, 2, 2, 1], mask=[0, 0, 1, 0, 0, 0])
REFUSED = [
    (lambda: triangle(indices=HIDDEN), "indices is masked in rows [2]|drop"),
    (lambda: triangle(distances=HIDDEN), "distances is masked in rows [2]|drop"),
    (lambda: GRAPH.nearest(6), "n_neighbors=6|5|build the graph with more neighbours"),
    (lambda: GRAPH.nearest(0), "n_neighbors=0|1"),
    (lambda: GRAPH.within(0.1), "radius=0.1|0.0|build the graph"),
    (lambda: BALL.within(1.1), "radius=1.1|1.0|build the graph"),
    (lambda: BALL.within(np.nan), "radius=nan|at least 0"),
    (lambda: triangle(indptr=[0]), "indptr|n_samples >= 1"),
    (lambda: triangle(indptr=[0, 4, 2, 6]), "indptr|ascending"),
    (lambda: triangle(indptr=[0, 2.5, 4, 6]), "indptr|integer"),
    (lambda: triangle(indices=[0, 1]), "indices|(2,)|6"),
    (lambda: triangle(indices=[0, 1.5, 1, 2, 2, 1]), "indices|integer"),
    (lambda: triangle(indices=[0, 2**32 + 1, 1, 2, 2, 1]), "row 0|outside"),
    (lambda: triangle(indices=[0, -1, 1, 2, 2, 1]), "row 0|outside"),
    (lambda: triangle(indices=[1, 0, 1, 2, 2, 1]), "row 0|start with the point itself"),
    (lambda: triangle(indptr=[0, 2, 2, 6]), "row 1|start with the point itself"),
    (lambda: triangle(indices=[0, 0, 1, 2, 2, 1], distances=[0.0, 0, 0, 1, 0, 1]), "row 0|twice"),
    (lambda: triangle(distances=[0, 1, 0.5, 1, 0, 1]), "row 1|other than 0"),
    (lambda: triangle(distances=[0, -1, 0, 1, 0, 1]), "row 0|negative"),
    (lambda: triangle(distances=[0, 1, 0, np.nan, 0, 1]), "row 1|NaN"),
    (lambda: NeighborGraph([0, 3, 4, 5], [0, 2, 1, 1, 2], [0.0, 1, 1, 0, 0]), "row 0|sorted"),
    (lambda: triangle(n_neighbors=3), "n_neighbors=3|2"),
    (lambda: triangle(n_neighbors=0), "n_neighbors|0"),
    (lambda: triangle(n_neighbors="2"), "n_neighbors must be an integer or None, got '2'"),
    (lambda: triangle(n_neighbors=2.0), "n_neighbors must be an integer or None, got 2.0"),
    (lambda: triangle(radius=-1.0), "radius|-1.0"),
    (lambda: triangle(radius="wide"), "radius must be a number, got 'wide'"),
    (lambda: triangle(recall=1.5), "recall=1.5|0 .. 1|None"),
    (lambda: triangle(recall=-0.1), "recall=-0.1|0 .. 1|None"),
    (lambda: triangle(recall=np.nan), "recall=nan|0 .. 1|None"),
    (lambda: triangle(recall="all"), "recall must be a number, got 'all'"),
    (lambda: triangle(recall=0.5, recall_error=-3), "recall_error=-3|0 .. 1"),
    (lambda: triangle(recall=0.5, recall_error=np.nan), "recall_error=nan|0 .. 1"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusal(call, words):
    with refuses(words):
        call()


def test_graph_cannot_be_changed_after_its_checks():
    distances = np.array([0.0, 1, 0, 1, 0, 1])
    graph = triangle(distances=distances)
    distances[1] = -5.0
    assert graph.distances[1] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        graph.distances[1] = 2.0
