import pickle

import numpy as np
import pytest
from clouds import general_position, rows_of

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.graph import checks
from diffpeaks.neighbors.points import SEARCHES


def test_it_cannot_be_changed():
    graph = neighbor_graph(general_position(0), 5)
    for values in (graph.indptr, graph.indices, graph.distances):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    with pytest.raises(AttributeError):
        graph.indices = None


def test_it_survives_pickling():
    graph = neighbor_graph(general_position(0), 5, 1.0)
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.indices, graph.indices)
    assert (again.n_neighbors, again.radius, again.search) == (5, 1.0, "tree")


def test_scipy_and_back():
    graph = neighbor_graph(general_position(0), radius=0.8)
    matrix = graph.to_scipy()
    assert matrix.nnz == len(graph.indices)  # the points themselves are stored zeros
    matrix.data[:] = 7  # a copy: the graph stays
    assert rows_of(neighbor_graph(graph.to_scipy(), metric="precomputed")) == rows_of(graph)


def test_made_by_hand_it_is_taken_at_its_word():
    graph = NeighborGraph([0, 2, 4, 5], [0, 1, 1, 0, 2], [0.0, 1.0, 0.0, 1.0, 0.0])
    assert (graph.n_samples, graph.n_neighbors, graph.radius) == (3, 1, np.inf)
    assert rows_of(graph.within(0.5)) == [[0], [1], [2]]
    assert "n_samples=3" in repr(graph)


def test_blocks_cover_all_rows_once(monkeypatch):
    graph = neighbor_graph(general_position(0), radius=1.0)
    monkeypatch.setattr("diffpeaks.graph.rows._BLOCK_ENTRIES", 20)
    blocks = list(graph.blocks())
    assert [rows.start for rows, _ in blocks[1:]] == [rows.stop for rows, _ in blocks[:-1]]
    assert (blocks[0][0].start, blocks[-1][0].stop) == (0, graph.n_samples)
    assert (blocks[0][1].start, blocks[-1][1].stop) == (0, len(graph.indices))


def test_up_to_a_distance_takes_what_the_rows_hold():
    X = general_position(0)
    lists, balls = neighbor_graph(X, 5), neighbor_graph(X, radius=0.8)
    expected = [
        [j for j in row if np.linalg.norm(X[i] - X[j]) <= 0.3] for i, row in enumerate(rows_of(lists))
    ]
    assert rows_of(lists.up_to(0.3)) == expected
    assert lists.up_to(0.3).radius == 0  # a list may end before the ball does
    assert balls.up_to(0.3).radius == balls.within(0.3).radius == 0.3
    assert balls.up_to(9.0).radius == 0.8


def read_only_view(values):
    view = values.view()
    view.flags.writeable = False
    return view


def test_it_does_not_share_what_can_be_changed_elsewhere():
    """An array may be read-only while the one that it is a view of is not."""
    known = neighbor_graph(general_position(0), 5)
    for view in (read_only_view, lambda a: read_only_view(read_only_view(a)), lambda a: read_only_view(a)[:]):
        parts = [values.copy() for values in (known.indptr, known.indices, known.distances)]
        graph = NeighborGraph(*(view(values) for values in parts))
        for values in parts:
            values[:] = 2**30
        assert rows_of(graph) == rows_of(known)
        np.testing.assert_array_equal(graph.indptr, known.indptr)
        np.testing.assert_array_equal(graph.distances, known.distances)


def test_it_does_not_share_memory_of_others_that_can_be_changed(tmp_path):
    known = neighbor_graph(general_position(0), 5)
    held = bytearray(known.indices.tobytes())
    by_bytes = np.frombuffer(memoryview(held).toreadonly(), np.int32)
    known.indices.tofile(tmp_path / "indices")
    mapped = {mode: np.memmap(tmp_path / "indices", np.int32, mode) for mode in ("r", "r+", "c")}
    for given, shared in (
        (by_bytes, False),
        (np.frombuffer(bytes(held), np.int32), True),
        (mapped["r"], True),
        (mapped["r"][:], True),
        (read_only_view(mapped["r+"]), False),
        (read_only_view(mapped["c"]), False),
    ):
        graph = NeighborGraph(known.indptr, given, known.distances)
        assert np.shares_memory(graph.indices, given) == shared


def test_what_a_search_found_is_not_copied(monkeypatch):
    """What other metrics give is checked, and found to be read-only already."""
    is_frozen, answers = checks._is_frozen, []
    monkeypatch.setattr(checks, "_is_frozen", lambda array: answers.append(is_frozen(array)) or answers[-1])
    for search in SEARCHES:
        neighbor_graph(general_position(0), 5, search=search)
    assert not answers
    neighbor_graph(general_position(0), 5, metric="canberra")
    assert answers == [True] * 3
