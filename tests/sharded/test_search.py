"""A search that reads some cells at a time finds what it finds where all points are in memory."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from diffpeaks._base.constants import NO_POINT
from diffpeaks.neighbors.cells.rules import Rule
from diffpeaks.sharded.budget import Budget
from diffpeaks.sharded.executors import SerialExecutor
from diffpeaks.sharded.gathering import gathered
from diffpeaks.sharded.search import StoredJoin
from diffpeaks.sharded.sources import open_source
from diffpeaks.sharded.store import Store

N_NEIGHBORS = 50
RULES = {
    "nearest cells": Rule(N_NEIGHBORS, 4),
    "too few cells": Rule(N_NEIGHBORS, 1),
    "cells within reach": Rule(N_NEIGHBORS, 2, 0.5, 0.9, 64),
    "the best of the cells within reach": Rule(N_NEIGHBORS, 2, 0.5, 5.0, 7),
}


def join_of(metric, dtype, folder, room):
    X = normalize(make_blobs(3000, 9, centers=12, cluster_std=6.0, random_state=0)[0])
    with SerialExecutor() as executor:
        found = gathered(
            open_source(X.astype(dtype)), metric, Store(folder, executor), Budget(1 << 16, room), False, 1
        )
    return StoredJoin(found.points, N_NEIGHBORS)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("metric", "dtype"),
    [
        ("euclidean", np.float32),
        ("sqeuclidean", np.float64),
        ("cosine", np.float32),
        ("inner_product", np.float64),
    ],
)
def test_memory_changes_nothing(name, metric, dtype, tmp_path):
    rule, whole = RULES[name], join_of(metric, dtype, tmp_path, 1 << 30)
    queries = whole.queries(np.arange(500, 1500))
    expected, n_loaded = whole.found(queries, rule), []
    for room in (1, 30_000):
        part = StoredJoin(whole._points._replace(room=room), N_NEIGHBORS)
        part._loaded = lambda cells, join=part: n_loaded.append(len(cells)) or StoredJoin._loaded(join, cells)
        found = part.found(queries, rule)
        assert_array_equal(found.indices, expected.indices)
        assert_array_equal(found.distances, expected.distances)
    assert min(n_loaded) == 1 < max(n_loaded) < len(whole.cells.sizes)
    is_missing = np.any(expected.indices == NO_POINT)
    assert is_missing == (name == "too few cells")


@pytest.mark.parametrize("room", [1, 30_000, 1 << 30])
@pytest.mark.parametrize("name", RULES)
def test_rules_that_are_tried_together_find_what_each_finds(name, room, tmp_path):
    join = join_of("euclidean", np.float32, tmp_path, room)
    rules = [RULES[name].relaxed(share) for share in (0.0, 0.5, 2.0)]
    queries = join.queries(np.arange(100, 2900, 7))
    together = join.found_by_each(queries, rules)
    for rule, found in zip(rules, together, strict=True):
        alone = join.found(queries, rule)
        assert_array_equal(found.indices, alone.indices)
        assert_array_equal(found.distances, alone.distances)
    assert np.any(together[0].distances != together[-1].distances)


def test_the_nearest_of_all_are_those_of_loops(tmp_path):
    join = join_of("euclidean", np.float64, tmp_path, 30_000)
    queries = join.queries(np.arange(0, 3000, 50))
    points = join._points.table.between(0, 3000)
    found = join.nearest(queries)
    for row, query in zip(found.indices.reshape(-1, N_NEIGHBORS), queries.rows, strict=True):
        assert_array_equal(row, np.argsort(np.sum((points - query) ** 2, axis=1))[:N_NEIGHBORS])
