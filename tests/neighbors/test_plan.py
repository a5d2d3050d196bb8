"""What a graph costs is predicted, and a limit on memory is kept."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import processes
import pytest

from diffpeaks import neighbor_graph, plan
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.memory.chunked import ChunkedSearch

MEASURED = """
import threading, numpy as np
from diffpeaks import neighbor_graph
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
random = np.random.default_rng(0)
X = random.normal(size=({n}, {d})).astype(np.float32)
if {rank}:
    X = (random.normal(size=({n}, {rank})) @ random.normal(size=({rank}, {d})) + 0.01 * X).astype(np.float32)
if {repeated}:
    X[-1] = X[0]
neighbor_graph(X[:2000], 5, **{arguments})
before, peak, done = resident(), 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.002):
        peak = max(peak, resident())
watcher = threading.Thread(target=watch); watcher.start()
neighbor_graph(X, {k}, memory_limit={limit}, **{arguments})
done.set(); watcher.join()
print(peak - before)
"""
reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")


def peak_bytes(n, d, k, limit=None, rank=0, repeated=False, **arguments):
    code = MEASURED.format(n=n, d=d, k=k, limit=limit, rank=rank, repeated=repeated, arguments=arguments)
    run = processes.run(code)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


@reads_proc
@pytest.mark.parametrize(
    ("n", "d", "k", "search", "more"),
    [
        (300_000, 3, 16, "tree", {}),
        (300_000, 3, 16, "tree", {"metric": "cosine"}),
        (8_000, 600, 20, "cells", {}),
        (8_000, 600, 20, "cells", {"metric": "cosine"}),
        (10_000, 784, 15, "cells", {"repeated": True}),
        (8_000, 300, 800, "cells", {"rank": 8, "n_jobs": 8}),
    ],
)
def test_the_peak_is_predicted(n, d, k, search, more):
    settings = {name: more[name] for name in ("metric", "n_jobs") if name in more}
    predicted = plan(n, d, k, **settings)
    assert predicted.search == search
    assert predicted.graph_bytes == n * (8 * k + 8)
    assert peak_bytes(n, d, k, search=search, **more) <= predicted.peak_bytes


@reads_proc
@pytest.mark.parametrize(
    ("n", "d", "k", "limit", "arguments"),
    [
        (40_000, 20, 60, 20_000_000, {"search": "cells"}),
        (5_000, 500, 5, 8_000_000, {"search": "brute"}),
        (3_000, 50, 5, 20_000_000, {"search": "brute", "metric": "manhattan"}),
        (5_000, 300, 5, 20_000_000, {"search": "brute", "metric": "cosine"}),
    ],
)
def test_a_limit_is_kept(n, d, k, limit, arguments):
    graph = n * (8 * k + 8)
    assert peak_bytes(n, d, k, limit, **arguments) <= graph + limit


def least_limit(X, **arguments):
    """The smallest limit that is not refused."""
    with pytest.raises(ValueError, match="memory_limit=1 is below") as refusal:
        searchable(X, memory_limit=1, **arguments)
    return int(re.search(r"the (\d+) bytes", str(refusal.value)).group(1))


@pytest.mark.parametrize("search", ["cells", "brute"])
def test_a_limit_changes_nothing_but_memory(search):
    X = np.random.default_rng(0).normal(size=(5000, 40)).astype(np.float32)
    X = np.vstack([X, X[:300]])
    free = neighbor_graph(X, 12, search=search)
    least = least_limit(X, search=search, n_neighbors=12)
    assert isinstance(searchable(X, search=search, memory_limit=least).search, ChunkedSearch)
    limited = neighbor_graph(X, 12, search=search, memory_limit=least + (1 << 20))
    np.testing.assert_array_equal(limited.indices, free.indices)
    np.testing.assert_array_equal(limited.distances, free.distances)
    assert limited.search == search


def test_chunks_answer_all_questions():
    random = np.random.default_rng(1)
    X, queries = random.normal(size=(5000, 30)), random.normal(size=(50, 30))
    chunked = searchable(X, search="cells", memory_limit=least_limit(X, search="cells"))
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


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("search", ["tree", "approximate", "cells", "brute"])
def test_a_limit_that_cannot_be_kept_is_refused(search, metric):
    n_features = 3 if search == "tree" else 40
    X = np.random.default_rng(0).normal(size=(20_000, n_features))
    with pytest.raises(ValueError, match=r"memory_limit=1000 is below the \d+ bytes .*raise it") as refusal:
        neighbor_graph(X, 5, metric=metric, search=search, memory_limit=1000)
    if search in ("tree", "approximate"):
        assert re.search(r"in chunks from \d+ bytes on", str(refusal.value))
    settings = {"metric": metric, "search": search, "n_neighbors": 5}
    least = least_limit(X, **settings)
    with pytest.raises(ValueError, match=f"below the {least} bytes"):
        searchable(X, memory_limit=least - 1, **settings)
    searchable(X, memory_limit=least, **settings)


@pytest.mark.parametrize("metric", ["manhattan", "canberra", "nan_euclidean", "precomputed"])
def test_a_limit_changes_nothing_for_any_metric(metric):
    X = np.random.default_rng(0).normal(size=(700, 30))
    if metric == "precomputed":
        X = np.abs(X[:, :1] - X[:, 0])
    for ask in ({"n_neighbors": 90}, {"radius": 0.5}):
        free = neighbor_graph(X, metric=metric, search="brute", **ask)
        limited = neighbor_graph(X, metric=metric, search="brute", memory_limit=3_000_000, **ask)
        np.testing.assert_array_equal(limited.indices, free.indices)
        np.testing.assert_array_equal(limited.distances, free.distances)


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
    with pytest.raises(ValueError, match="metric='canberra' must be one of"):
        plan(10, 3, 2, metric="canberra")


def test_what_a_device_needs_is_more_than_it_was_seen_to_take():
    """The runs on cards in `benchmarks/results/gpu.jsonl` took that much beside the points."""
    results = Path(__file__).parents[2] / "benchmarks" / "results" / "gpu.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    ours = [line for line in lines if line["system"] == "diffpeaks"]
    assert len(ours) >= 2
    for line in ours:
        planned = plan(line["n"], line["d"], line["k"], device="cuda")
        assert planned.search == "gpu"
        taken = line["n"] * line["d"] * 4 + line["bytes beside points"]
        assert taken <= planned.device_bytes <= 3 * taken


def test_the_host_takes_nothing_of_a_device():
    assert plan(1000, 20, 10).device_bytes == plan(1000, 20, 10, device="cpu").device_bytes == 0
