"""Points for which a device has no room: chunk by chunk the same graph as where all points lie there."""

import pickle

import numpy as np
import pytest
import torch
from device_sets import SETS, assert_same_graph, clumps, points_of

from diffpeaks import DensityPeaks, neighbor_graph
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.gpu import devices, streamed
from diffpeaks.neighbors.gpu import points as points_module
from diffpeaks.neighbors.gpu import space as space_module
from diffpeaks.neighbors.gpu.streamed import StreamedSearch, made_ahead

LIMIT, CHUNK = 1 << 26, 400


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of so many points, and some hundred queries at a time, without a workspace that is as small."""
    monkeypatch.setattr(space_module, "has_room", lambda *given: False)
    monkeypatch.setattr(streamed, "fewest_bytes", lambda n_points, *shape: n_points * LIMIT // 4 // CHUNK)
    monkeypatch.setattr(streamed, "_COPIES", 400)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("name", SETS)
def test_the_graph_is_that_of_an_exact_search(name, metric, dtype):
    X = points_of(name, metric, dtype)
    graph = neighbor_graph(X, 12, metric=metric, device="cuda", memory_limit=LIMIT)
    assert_same_graph(graph, neighbor_graph(X, 12, metric=metric, search="exact"))
    assert (graph.search, graph.recall) == ("gpu: cpu, in chunks", 1.0)


@pytest.mark.parametrize("name", ["many features", "few features", "ties", "duplicates"])
def test_balls_are_those_of_an_exact_search(name):
    X = SETS[name]().astype(np.float32)
    radius = float(np.median(neighbor_graph(X, 8).reach)) or 1.0
    for n_neighbors in (None, 5):
        graph = neighbor_graph(X, n_neighbors, radius, device="cuda", memory_limit=LIMIT)
        assert_same_graph(graph, neighbor_graph(X, n_neighbors, radius, search="exact"))


def test_rows_that_are_longer_than_a_chunk():
    X = clumps(1500, 40)
    graph = neighbor_graph(X, CHUNK + 50, device="cuda", memory_limit=LIMIT)
    assert_same_graph(graph, neighbor_graph(X, CHUNK + 50, search="exact"))


def test_new_samples_are_searched_likewise():
    X, queries = clumps(1500, 40), clumps(300, 40, seed=1)
    on_host, there = searchable(X, search="exact"), searchable(X, device="cuda", memory_limit=LIMIT)
    assert isinstance(there.search, StreamedSearch)
    reach = np.linspace(0, 12, len(X))
    for found, expected in (
        (there.nearest_to(queries, 9), on_host.nearest_to(queries, 9)),
        (there.within_of(queries, 9.0), on_host.within_of(queries, 9.0)),
        (there.reaching(queries, reach), on_host.reaching(queries, reach)),
    ):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_full_card_holds_chunks_in_fits(monkeypatch, tmp_path):
    X, new = clumps(1500, 20), clumps(50, 20, seed=1)
    host = DensityPeaks(search="exact", smooth=True).fit(X)
    monkeypatch.setattr(streamed, "free_bytes", lambda device: LIMIT)
    model = DensityPeaks(device="cuda", smooth=True).fit(X)
    assert model.graph_.search == "gpu: cpu, in chunks"
    np.testing.assert_array_equal(model.labels_, host.labels_)
    np.testing.assert_array_equal(model.density_, host.density_)
    monkeypatch.setattr(space_module, "opened", lambda name: pytest.fail("there is no device"))
    copy = pickle.loads(pickle.dumps(model))
    assert isinstance(copy._landscape.points.search, CellSearch)
    np.testing.assert_array_equal(copy.predict(new), host.predict(new))


@pytest.mark.parametrize(("room", "search"), [(1_200_000, "gpu: cpu, in chunks"), (2_500_000, "gpu: cpu")])
def test_the_limit_decides(monkeypatch, room, search):
    """Of 1,900,000 bytes, about, that points, their tables and one comparison take, or of the free memory."""
    monkeypatch.undo()
    for module in (space_module, points_module):
        monkeypatch.setattr(module, "opened", lambda name: torch.device("cpu"))
    X = clumps(3000, 3).astype(np.float32)
    expected = neighbor_graph(X, 5, search="exact")
    graph = neighbor_graph(X, 5, device="cuda", memory_limit=room)
    assert_same_graph(graph, expected)
    assert graph.search == search
    monkeypatch.setattr(devices, "free_bytes", lambda device: room * 4 // 3)
    assert searchable(X, device="cuda").search.name == search


def test_a_tensor_on_the_host_is_sent_in_chunks_too():
    X = clumps(1500, 40)
    graph = neighbor_graph(torch.from_numpy(X), 7, device="cuda", memory_limit=LIMIT)
    assert graph.search == "gpu: cpu, in chunks"
    assert_same_graph(graph, neighbor_graph(X, 7, search="exact"))


def test_nan_is_refused_before_anything_is_sent():
    X = clumps(1500, 40)
    X[700, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity in rows \[700\]"):
        neighbor_graph(X, 7, device="cuda", memory_limit=LIMIT)


def test_the_next_is_made_while_one_is_used():
    begun = []

    def make(item):
        begun.append(item)
        return -item

    items = made_ahead(make, range(4))
    assert next(items) == (0, 0)
    assert set(begun) <= {0, 1}
    assert list(items) == [(1, -1), (2, -2), (3, -3)]
    assert list(made_ahead(make, [])) == []


def test_what_cannot_be_made_is_told():
    def make(item):
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        list(made_ahead(make, range(3)))
