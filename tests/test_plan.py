"""What a graph costs is predicted, and a limit on memory is kept."""

import subprocess
import sys

import numpy as np
import pytest

from diffpeaks import neighbor_graph, plan
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.chunked import ChunkedSearch

MEASURED = """
import threading, numpy as np
from diffpeaks import neighbor_graph
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
X = np.random.default_rng(0).normal(size=({n}, {d})).astype(np.float32)
neighbor_graph(X[:2000], 5, search="{search}")
before, peak, done = resident(), 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, resident())
watcher = threading.Thread(target=watch); watcher.start()
neighbor_graph(X, {k}, search="{search}", memory_limit={limit})
done.set(); watcher.join()
print(peak - before)
"""


def peak_bytes(n, d, k, search, limit=None):
    code = MEASURED.format(n=n, d=d, k=k, search=search, limit=limit)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize(("n", "d", "k", "search"), [(300_000, 3, 16, "tree"), (12_000, 600, 20, "cells")])
def test_the_peak_is_predicted(n, d, k, search):
    predicted = plan(n, d, k)
    assert predicted.search == search
    assert predicted.graph_bytes == n * (8 * k + 8)
    assert peak_bytes(n, d, k, search) <= 1.1 * predicted.peak_bytes


@pytest.mark.parametrize("search", ["cells", "brute"])
def test_a_limit_changes_nothing_but_memory(search):
    X = np.random.default_rng(0).normal(size=(5000, 40)).astype(np.float32)
    X = np.vstack([X, X[:300]])
    free = neighbor_graph(X, 12, search=search)
    limited = neighbor_graph(X, 12, search=search, memory_limit=50_500_000 if search == "cells" else 10**6)
    np.testing.assert_array_equal(limited.indices, free.indices)
    np.testing.assert_array_equal(limited.distances, free.distances)
    assert limited.search == search


def test_chunks_answer_all_questions():
    random = np.random.default_rng(1)
    X, queries = random.normal(size=(5000, 30)), random.normal(size=(50, 30))
    chunked = searchable(X, search="cells", memory_limit=50_500_000)
    assert isinstance(chunked.search, ChunkedSearch)
    reach = random.uniform(3, 6, len(X))
    whole = searchable(X, search="cells")
    for ask in (
        lambda points: points.nearest_to(queries, 2000),
        lambda points: points.within_of(queries, 5.5),
        lambda points: points.reaching(queries, reach),
    ):
        for mine, other in zip(ask(chunked), ask(whole), strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("search", ["tree", "approximate", "cells"])
def test_a_limit_that_cannot_be_kept_is_refused(search):
    n_features = 3 if search == "tree" else 40
    X = np.random.default_rng(0).normal(size=(20_000, n_features))
    with pytest.raises(
        ValueError, match=r"memory_limit=1000 is below the \d+ bytes .* in chunks from \d+ bytes on"
    ):
        neighbor_graph(X, 5, search=search, memory_limit=1000)


@pytest.mark.parametrize("value", [0, -5, "many", True, 1e9, 0.5, np.nan])
def test_a_limit_that_is_no_size_is_refused(value):
    with pytest.raises((ValueError, TypeError), match="memory_limit"):
        neighbor_graph(np.eye(30), 3, memory_limit=value)


@pytest.mark.parametrize(
    ("shape", "time"), [((1000, 20, 10), "under a second"), ((10_000_000, 1000, 100), "hours")]
)
def test_classes_of_time(shape, time):
    assert plan(*shape).time == time


def test_bad_plans_are_refused():
    with pytest.raises(ValueError, match=r"n_samples=0 must be an integer of at least 1"):
        plan(0, 3, 1)
    with pytest.raises(ValueError, match=r"n_neighbors=11 must lie in 1 .. n_samples=10"):
        plan(10, 3, 11)
    with pytest.raises(ValueError, match="dtype=int32 must be float32 or float64"):
        plan(10, 3, 2, dtype=np.int32)
