"""Approximate search: a stated recall, the same graph everywhere, and the rules that it follows."""

import pickle
import re

import numpy as np
import pytest

from diffpeaks import ApproximateSearch, DensityPeaks, NeighborGraph, neighbor_graph
from diffpeaks._native import KERNEL_VARIABLE, Probes, kernels
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.cells import approximate as approximate_search
from diffpeaks.neighbors.cells.join import even_blocks
from diffpeaks.neighbors.cells.projection import Workload
from diffpeaks.neighbors.cells.ruled_join import RuledJoin
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.inputs import space_of


def images(n_samples=15_000, n_features=40, seed=0):
    random = np.random.default_rng(seed)
    latent = (
        random.normal(size=(n_samples, 8))
        + 3 * random.normal(size=(20, 8))[random.integers(0, 20, n_samples)]
    )
    X = np.tanh(latent @ random.normal(size=(8, n_features)))
    return (X + 0.01 * random.normal(size=X.shape)).astype(np.float32)


def faces(n_samples=12_000, n_features=64, seed=0):
    """Groups, and among their members some that lie far out: these have neighbours in very many cells."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(n_samples // 40, n_features))
    spread = random.lognormal(0, 0.6, size=(n_samples, 1))
    X = centers[random.integers(0, len(centers), n_samples)] + spread * random.normal(
        size=(n_samples, n_features)
    )
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


SETS = {
    "few features": (images, 15),
    "a shortlist by few directions": (lambda: images(9_000, 320), 15),
    "in double": (lambda: images(9_000, 320).astype(np.float64), 15),
    "many cells": (faces, 20),
}


@pytest.fixture(scope="module", params=SETS)
def anywhere(request):
    make, n_neighbors = SETS[request.param]
    X = make()
    return X, n_neighbors, neighbor_graph(X, n_neighbors, search=ApproximateSearch(recall=0.9))


@pytest.fixture(scope="module")
def approximate():
    X = images()
    return X, neighbor_graph(X, 15, search=ApproximateSearch(recall=0.9))


def recall(X, graph, n_neighbors):
    exact = neighbor_graph(X, n_neighbors, search="exact").indices.reshape(-1, n_neighbors)[:, 1:]
    rows = graph.indices.reshape(-1, n_neighbors)
    return np.mean([np.isin(true, row).mean() for true, row in zip(exact, rows, strict=True)])


@pytest.mark.parametrize("kernel", kernels())
def test_the_approximate_graph_is_the_same_everywhere(monkeypatch, anywhere, kernel):
    """With one thread and with two on each kernel, and on each set, by turns."""
    X, n_neighbors, graph = anywhere
    assert graph.search.startswith("approximate: ")
    monkeypatch.setenv(KERNEL_VARIABLE, kernel)
    n_jobs = 1 + (kernels().index(kernel) + len(X) // 3000) % 2
    again = neighbor_graph(X, n_neighbors, search=ApproximateSearch(recall=0.9), n_jobs=n_jobs)
    np.testing.assert_array_equal(again.indices, graph.indices)
    np.testing.assert_array_equal(again.distances, graph.distances)
    assert (again.recall, again.recall_error) == (graph.recall, graph.recall_error)


def test_the_recall_is_reached_and_reported(anywhere):
    X, n_neighbors, graph = anywhere
    assert 0.9 <= graph.recall < 1
    assert 0 < graph.recall_error < 0.05
    assert abs(recall(X, graph, n_neighbors) - graph.recall) <= 2 * graph.recall_error


def bent(n_samples, seed):
    """Few dimensions bent into many: directions that are fitted to a sample suit the sample best."""
    random = np.random.default_rng(seed)
    X = np.tanh(random.normal(size=(n_samples, 10)) @ random.normal(size=(10, 320)) / 3)
    return (X + 0.02 * random.normal(size=X.shape)).astype(np.float32)


def hard_twins(n_samples, seed):
    """Locations that are hard to search hold three points each, easy ones hold one."""
    random = np.random.default_rng(seed)
    hard = np.repeat(random.normal(size=(n_samples // 5, 120)), 3, axis=0)
    easy = 100 + random.normal(size=(3 * n_samples // 5, 3)) @ random.normal(size=(3, 120))
    return np.vstack([hard, easy]).astype(np.float32)


@pytest.mark.parametrize(("make", "target"), [(bent, 0.5), (hard_twins, 0.9)])
@pytest.mark.parametrize("seed", range(3))
def test_the_reported_recall_is_that_of_all_points(make, target, seed):
    X, k = make(15_000, seed), 15
    graph = neighbor_graph(X, k, search=ApproximateSearch(recall=target))
    reach = neighbor_graph(X, k, search="exact").reach[:, None]
    true = np.mean(np.sum(graph.distances.reshape(-1, k) <= reach, axis=1) - 1) / (k - 1)
    assert graph.recall < 1
    assert true >= target
    assert abs(true - graph.recall) <= 2 * graph.recall_error


def test_distances_are_those_of_an_exact_search(anywhere):
    X, n_neighbors, graph = anywhere
    exact = neighbor_graph(X, n_neighbors, search="exact")
    for row in range(0, len(X), 97):
        part = slice(graph.indptr[row], graph.indptr[row + 1])
        known = dict(zip(exact.indices[part].tolist(), exact.distances[part].tolist(), strict=True))
        for index, distance in zip(graph.indices[part].tolist(), graph.distances[part].tolist(), strict=True):
            assert known.get(index, distance) == distance


@pytest.mark.parametrize("name", SETS)
def test_the_recall_of_moved_points_is_their_own(name):
    """It is measured anew, whatever the search of the points hands on."""
    make, n_neighbors = SETS[name]
    X = make()
    points = searchable(X, search=ApproximateSearch(recall=0.9))
    before = points.graph(n_neighbors)
    mean = X[before.indices.reshape(len(X), n_neighbors)].mean(axis=1, dtype=np.float64)
    moved = (0.4 * X + 0.6 * mean).astype(X.dtype)
    graph = points.moved(moved).graph(n_neighbors)
    assert (graph.search, graph.recall) != (before.search, before.recall)
    assert graph.recall >= 0.9
    assert abs(recall(moved, graph, n_neighbors) - graph.recall) <= 2 * graph.recall_error


def test_a_higher_recall_finds_more(approximate):
    X, graph = approximate
    better = neighbor_graph(X, 15, search=ApproximateSearch(recall=0.99))
    assert better.recall >= 0.99
    assert recall(X, better, 15) > recall(X, graph, 15)


def directions():
    """Unit vectors in groups that differ along all directions, in the last ones little less than before."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12_000, 320)) + random.normal(size=(400, 320)).repeat(30, axis=0)
    X *= np.arange(1, 321) ** -0.4
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def test_where_few_directions_tell_too_little_more_are_taken(monkeypatch):
    X = directions()
    monkeypatch.setattr(approximate_search, "_COMPARED", 10**7)  # so that few directions are tried first
    search = ApproximateSearch(recall=0.95)
    assert searchable(X, search=search).search._cells(15).coordinates.n_features == 32
    graph = neighbor_graph(X, 15, search=search)
    assert re.fullmatch("approximate: (lists of .* by (64|96) of 320 directions|all .*)", graph.search)
    assert recall(X, graph, 15) >= 0.95


def test_what_was_asked_before_does_not_change_the_answer():
    points = searchable(directions(), search=ApproximateSearch(recall=0.9))
    first, long, again = (points.graph(n_neighbors) for n_neighbors in (15, 400, 15))
    assert first.search == again.search != long.search
    np.testing.assert_array_equal(first.indices, again.indices)


def test_a_small_set_is_searched_exactly():
    X = images(500)
    graph = neighbor_graph(X, 10, search="approximate")
    assert (graph.search, graph.recall) == ("cells", 1.0)
    np.testing.assert_array_equal(graph.indices, neighbor_graph(X, 10, search="exact").indices)


def test_a_hopeless_set_is_searched_in_the_cells_of_an_exact_search():
    X = np.random.default_rng(0).normal(size=(9_000, 320)).astype(np.float32)
    given_up, exact = (searchable(X, search=search) for search in (ApproximateSearch(0.999), "exact"))
    graph = given_up.graph(10)
    assert (graph.search, graph.recall) == ("cells", 1.0)
    np.testing.assert_array_equal(graph.indices, exact.graph(10).indices)
    ours, its = given_up.search._cells(10), exact.search._cells(10)
    assert ours.coordinates.n_features == its.coordinates.n_features
    np.testing.assert_array_equal(ours.sizes, its.sizes)


def test_balls_are_reported_as_exact():
    graph = neighbor_graph(directions(), 5, radius=0.1, search="approximate")
    assert (graph.search, graph.recall) == ("cells", 1.0)


@pytest.mark.parametrize("value", [1e12, 1e20, 1e30])
def test_a_point_very_far_out_is_searched_exactly(value):
    X = images(9_000, 320)
    X[7] = value
    graph = neighbor_graph(X, 15, search=ApproximateSearch(recall=0.9))
    assert graph.search == "cells"


def test_heavy_duplicates_under_approximate_search():
    X = images()
    X = np.vstack([X, X[:3000], X[:1000]])
    graph = neighbor_graph(X, 8, search=ApproximateSearch(recall=0.9))
    assert np.all(graph.indices[graph.indptr[:-1]] == np.arange(len(X)))
    twins = graph.distances.reshape(-1, 8)[:1000, 1:3]
    assert np.all(twins == 0)


def test_low_dimension_needs_no_approximation():
    graph = neighbor_graph(np.random.default_rng(0).normal(size=(300, 2)), 5, search="approximate")
    assert (graph.search, graph.recall) == ("tree", 1.0)


def test_estimators_take_an_approximate_search(approximate):
    X, graph = approximate
    model = DensityPeaks(n_neighbors=15, search=ApproximateSearch(recall=0.9), smooth=False).fit(X)
    assert model.graph_.search == graph.search
    assert model.graph_.recall == graph.recall
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_the_recall_survives_a_file_and_a_cut(approximate, tmp_path):
    _, graph = approximate
    graph.save(tmp_path / "graph")
    assert NeighborGraph.load(tmp_path / "graph").recall == graph.recall
    assert graph.nearest(5).recall == graph.recall


# ---- what a rule compares


def cells_of(X, cell_size, n_neighbors, n_threads=2):
    workload = Workload(4000, n_neighbors, shortlisted=True)
    return CellSearch(space_of(X, "euclidean"), n_threads)._partitioned(round(len(X) / cell_size), workload)


def squared(rows, others):
    rows, others = rows.astype(np.float64), others.astype(np.float64)
    return np.sum(rows**2, axis=1)[:, None] + np.sum(others**2, axis=1) - 2 * rows @ others.T


def nearest(X, row, candidates, n_neighbors):
    distances = np.sqrt(np.sum((X[candidates].astype(np.float64) - X[row]) ** 2, axis=1)).astype(np.float32)
    return candidates[np.lexsort((candidates, distances))[:n_neighbors]]


@pytest.mark.parametrize("n_listed", [10, 17, 60])
def test_a_shortlist_holds_those_with_the_nearest_coordinates(n_listed):
    X = images(3000, 320)
    join = cells_of(X, 100, 10)
    assert join.shortlists
    queries = join.queries(join.space.points)
    rows = join.nearest_listed(queries, even_blocks(queries.cell_of), 10, n_listed, Probes())
    found = rows.indices.reshape(-1, 10)
    coordinates = join.coordinates.table
    for row in range(0, len(X), 37):
        near = np.sum((coordinates.astype(np.float64) - coordinates[row]) ** 2, axis=1).astype(np.float32)
        listed = np.lexsort((np.arange(len(X)), near))[:n_listed]
        np.testing.assert_array_equal(found[row], nearest(X, row, listed, 10))


@pytest.mark.parametrize(
    "rule",
    [
        Rule(10, n_probes=1),
        Rule(10, n_probes=5),
        Rule(10, n_probes=3, spread_weight=0.5, reach=0.9, n_reached=50),
        Rule(10, n_probes=2, spread_weight=0.75, reach=1.1, n_reached=12),
        Rule(10, n_probes=1, spread_weight=0.0, reach=2.0, n_reached=30),
    ],
)
def test_a_rule_visits_the_cells_that_it_says(rule):
    X = faces(4000)
    join = cells_of(X, 80, 10)
    cell_of, centroids = join.cells.cell_of, join.cells.centroids
    assert not join.shortlists
    assert len(centroids) <= rule.n_beside(len(centroids))  # all cells are ranked
    found = RuledJoin(join, 10).found(join.queries(join.space.points), rule).indices.reshape(-1, 10)
    squares, spread = squared(X, centroids), join.packed.spread() / join.coordinates.scale**2
    n_equal, n_rows = 0, 0
    for row in range(0, len(X), 7):
        order = np.argsort(squares[row])
        order = np.append(cell_of[row], order[order != cell_of[row]])
        visited = order[: rule.n_probes]
        first = nearest(X, row, np.flatnonzero(np.isin(cell_of, visited)), 10)
        limit = np.sum((X[first[-1]].astype(np.float64) - X[row]) ** 2) if len(first) == 10 else np.inf
        score = squares[row] + rule.spread_weight * spread
        best = np.argsort(score)[: rule.n_reached]
        reached = best[score[best] <= rule.reach * limit] if rule.reach > 0 else []
        visited = np.union1d(visited, reached)
        expected = nearest(X, row, np.flatnonzero(np.isin(cell_of, visited)), 10)
        n_equal += np.array_equal(found[row][: len(expected)], expected)
        n_rows += 1
    assert n_equal >= 0.99 * n_rows  # a cell may lie on the border


@pytest.mark.parametrize("n_features", [64, 320])
def test_cells_within_reach_are_the_same_everywhere(monkeypatch, n_features):
    X = faces(4000, 28) @ np.random.default_rng(0).normal(size=(28, n_features)).astype(np.float32)
    rule = Rule(16, n_probes=2, spread_weight=0.5, reach=1.0, n_reached=40)
    rows = []
    for place, kernel in enumerate([*kernels(), kernels()[0]]):
        monkeypatch.setenv(KERNEL_VARIABLE, kernel)
        threads = 2 if place == 0 else 1 + (place + (n_features == 64)) % 2
        join = cells_of(X, 40, 10, threads)
        assert join.shortlists == (n_features == 320)
        rows.append(RuledJoin(join, 10).found(join.queries(join.space.points), rule))
    for other in rows[1:]:
        np.testing.assert_array_equal(rows[0].indices, other.indices)
        np.testing.assert_array_equal(rows[0].distances, other.distances)


# ---- refused


@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5, np.nan])
def test_a_recall_outside_its_range_is_refused(value):
    with pytest.raises(ValueError, match=r"recall=.* must lie above 0 and below 1"):
        ApproximateSearch(recall=value)


@pytest.mark.parametrize("value", ["0.9", None, True])
def test_a_recall_that_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="recall must be a number"):
        ApproximateSearch(recall=value)
