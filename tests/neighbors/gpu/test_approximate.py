"""A stated share of the neighbours, found on a device: it is reached, and it is what is told."""

import pickle

import numpy as np
import pytest
import torch
from device_sets import assert_same_graph, clumps
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import ApproximateSearch, DensityPeaks, neighbor_graph, plan
from diffpeaks.datasets import make_faces
from diffpeaks.neighbors import points as choices
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.cells.approximate import ApproximateCellSearch
from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu import approximate, visits
from diffpeaks.neighbors.gpu.approximate import ApproximateGpuSearch
from diffpeaks.neighbors.gpu.cells import MOST_MEMBERS, Cells
from diffpeaks.neighbors.gpu.ladder import DevicePoints
from diffpeaks.neighbors.gpu.visits import VisitRule

K = 12
EVERY_CELL = VisitRule(1e6, 0.0)
SETS = {
    "faces": lambda: make_faces(4000, 80, random_state=0)[0].astype(np.float32),
    "ten features": lambda: np.random.default_rng(0).normal(size=(4000, 10)),
    "twins": lambda: np.repeat(clumps(3400, 16), np.arange(3400) % 3 + 1, axis=0).astype(np.float32),
}


@pytest.fixture(autouse=True)
def small_sets_are_worth_it(monkeypatch):
    monkeypatch.setattr(approximate, "_WORTH_CALIBRATING", 0.0)
    monkeypatch.setattr(approximate, "_SAMPLE", 200)
    monkeypatch.setattr(visits, "_FEWEST_FIRST", 3)
    monkeypatch.setattr(visits, "_TIMES_WANTED", 0)
    for cost in ("_RANKED", "_VISITED_PLAINLY"):
        monkeypatch.setattr(approximate, cost, 0.01)


def found_share(graph, exact):
    """Of the neighbours of all points, the point itself not counted; ties count as found."""
    return np.mean(np.sum(graph.distances.reshape(-1, K) <= exact.reach[:, None], axis=1) - 1) / (K - 1)


def pairs_of(graph):
    owners = np.repeat(np.arange(graph.n_samples), np.diff(graph.indptr))
    return zip(owners.tolist(), graph.indices.tolist(), strict=True)


@pytest.mark.parametrize("name", SETS)
def test_the_recall_is_reached_and_reported(name):
    X = SETS[name]()
    exact = neighbor_graph(X, K, search="exact")
    graph = neighbor_graph(X, K, search=ApproximateSearch(0.9), device="cuda")
    assert graph.search.startswith("approximate: ")
    assert graph.search.endswith(" cells, gpu: cpu")
    share = found_share(graph, exact)
    assert 0.9 <= share < 1
    assert graph.recall - graph.recall_error >= 0.9
    assert abs(share - graph.recall) <= 2 * graph.recall_error
    known = dict(zip(pairs_of(exact), exact.distances, strict=True))
    assert all(known.get(pair, d) == d for pair, d in zip(pairs_of(graph), graph.distances, strict=True))
    np.testing.assert_array_equal(graph.indices[graph.indptr[:-1]], np.arange(len(X)))
    assert_same_graph(neighbor_graph(X, K, search=ApproximateSearch(0.9), device="cuda"), graph)


def test_balls_and_new_samples_are_exact():
    X, queries = clumps(4000, 16), clumps(100, 16, seed=1)
    there = searchable(X, search="approximate", device="cuda")
    assert isinstance(there.search, ApproximateGpuSearch)
    on_host = searchable(X, search="exact")
    for found, expected in (
        (there.nearest_to(queries, 9), on_host.nearest_to(queries, 9)),
        (there.within_of(queries, 4.0), on_host.within_of(queries, 4.0)),
    ):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert neighbor_graph(X, radius=3.0, search="approximate", device="cuda").recall == 1


@pytest.mark.parametrize(
    ("costs", "n_features", "n_neighbors"),
    [
        ({"_WORTH_CALIBRATING": 1e18}, 16, K),
        ({"_VISITED_PLAINLY": 1e9}, 16, K),  # where all cells must be visited, or visits cost too much
        ({}, 3, K),
        ({}, 16, 1000),
    ],
)
def test_where_exact_is_cheaper_it_is_exact_and_says_so(monkeypatch, costs, n_features, n_neighbors):
    for name, cost in costs.items():
        monkeypatch.setattr(approximate, name, cost)
    X = clumps(4000, n_features)
    graph = neighbor_graph(X, n_neighbors, search="approximate", device="cuda")
    assert (graph.search, graph.recall, graph.recall_error) == ("gpu: cpu", 1.0, 0.0)
    assert_same_graph(graph, neighbor_graph(X, n_neighbors, search="exact"))


def test_auto_is_approximate_beyond_what_is_affordable(monkeypatch):
    X = clumps(4000, 16)
    assert neighbor_graph(X, K, device="cuda").recall == 1
    monkeypatch.setattr(choices, "AFFORDABLE_ON_GPU", 1.0)
    assert neighbor_graph(X, K, device="cuda").recall < 1
    assert neighbor_graph(X, K, search="exact", device="cuda").recall == 1
    limited = neighbor_graph(X, K, device="cuda", memory_limit=1 << 24)  # within a limit it stays exact
    assert limited.recall == 1
    assert plan(10_000_000, 256, 30, device="cuda").search == "approximate"
    assert plan(1_000_000, 256, 30, device="cuda").search == "gpu"


def test_fits_and_their_files(monkeypatch):
    X, new = SETS["faces"](), SETS["faces"]()[::100]
    model = DensityPeaks(search=ApproximateSearch(0.95), device="cuda", smooth=True).fit(X)
    assert 0.95 <= model.graph_.recall < 1
    copy = pickle.loads(pickle.dumps(model))
    assert isinstance(copy._landscape.points.search, ApproximateCellSearch)
    np.testing.assert_array_equal(copy.predict(new), model.predict(new))


@given(
    n_points=st.integers(1, 700),
    n_features=st.integers(1, 20),
    n_places=st.integers(1, 700),
    seed=st.integers(0, 2**32 - 1),
)
def test_each_point_is_in_one_cell(n_points, n_features, n_places, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_places, n_features))[random.integers(0, n_places, n_points)]
    points = DevicePoints(torch.from_numpy(X), Measure(2.0), torch.device("cpu"))
    cells = Cells.of(points.compared_columns())
    assert cells.is_member.sum(dim=1).tolist() == cells.counts.tolist()
    assert 1 <= int(cells.counts.min()) <= int(cells.counts.max()) <= MOST_MEMBERS
    assert sorted(cells.members[cells.is_member].tolist()) == list(range(n_points))
    owners = torch.arange(len(cells.counts))[:, None].expand(-1, MOST_MEMBERS)
    assert (cells.cell_of[cells.members[cells.is_member]] == owners[cells.is_member]).all()
    rows = points.compared_columns().rows.double()
    for cell, mean in enumerate(cells.means.rows[: len(cells.counts)].double()):
        members = rows[cells.members[cell][cells.is_member[cell]]]
        torch.testing.assert_close(mean, members.mean(dim=0), atol=1e-5, rtol=1e-5)


def cell_visits(n_first):
    points = DevicePoints(torch.from_numpy(clumps(900, 16)), Measure(2.0), torch.device("cpu"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visits, "_FEWEST_FIRST", n_first)
        return points, visits.CellVisits(points, K)


@pytest.mark.parametrize("n_first", [1, 4, 10_000])
def test_visits_to_all_cells_find_all_neighbors(n_first):
    points, there = cell_visits(n_first)
    n_done = []
    found, exact = there.all_found(EVERY_CELL, n_done.append), points.found(None, K)
    assert sum(n_done) == 900
    assert (found.indices == exact.indices).all()
    assert (found.distances == exact.distances).all()


def test_a_point_visits_cells_by_their_value():
    points, there = cell_visits(3)
    cells, which, rule = there.cells, torch.arange(0, 900, 7), VisitRule(1.5, 2.0)
    rows, bias = (values[:900].double() for values in points.compared_columns())
    values = rows[which] @ rows.T + bias
    means = torch.stack([rows[cells.cell_of == cell].mean(dim=0) for cell in range(len(cells.counts))])
    mean_bias = torch.stack([bias[cells.cell_of == cell].mean() for cell in range(len(means))])
    ranked = rows[which] @ means.T + mean_bias + 2.0 * cells.deviations
    is_first = ranked >= ranked.topk(3).values[:, -1:]
    last = values.where(is_first[:, cells.cell_of], -torch.inf).topk(K).values[:, -1:]
    is_visited = is_first | (ranked >= last - 1.5)
    assert 0 < is_visited.sum() - is_first.sum() < is_visited.numel() / 2
    nearest = values.where(is_visited[:, cells.cell_of], -torch.inf).topk(K).indices.sort(dim=1).values
    is_same = (there.found(which, rule).indices.sort(dim=1).values == nearest).all(dim=1)
    assert is_same[last[:, 0].isfinite()].double().mean() > 0.97  # sums are rounded
    assert abs(there.n_visited(which, rule) - float(is_visited.sum(dim=1).double().mean())) < 0.1


def test_rows_that_visits_leave_short_are_searched_exactly():
    points, there = cell_visits(1)
    found = there.all_found(VisitRule(-1e6, 0.0), lambda n: None)
    is_exact = found.indices.eq(points.found(None, K).indices).all(dim=1)
    is_short = there.cells.counts[there.cells.cell_of] < K
    assert is_short.any()
    assert is_exact[is_short].all()
    assert not is_exact.all()
    assert found.distances.isfinite().all()
