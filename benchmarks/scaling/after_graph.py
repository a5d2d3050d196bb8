"""Everything after the graph, against scipy's kd-tree query of the same points with the same threads.

usage: after_graph.py [--samples N ...] [--threads T] [--repeats R]

One JSON line a size: seconds of the query and of `DensityPeaks(metric="precomputed").fit(graph)` (the best
of the repeats, which take turns), their ratio, and the peak of memory in multiples of the graph. The query
is timed as the points come and, faster, visited in the order of the tree.
Memory is measured in a process of its own
that loads the graph from a file, so that the search does not count: it is the peak of the whole process
less what it held before it loaded the graph.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from machine import machine
from scipy.spatial import cKDTree

from diffpeaks import DensityPeaks, NeighborGraph, neighbor_graph

N_NEIGHBORS = 16


def mixture(n_samples):
    """Gaussians of several widths on a uniform background, in the plane."""
    random = np.random.default_rng(0)
    centers, widths = random.random((40, 2)), random.uniform(0.005, 0.03, 40)
    which = random.integers(0, 40, n_samples)
    X = centers[which] + widths[which, None] * random.normal(size=(n_samples, 2))
    background = random.random(n_samples) < 0.2
    X[background] = random.random((int(background.sum()), 2))
    return X


def fit(graph, n_threads):
    """Density, forest, automatic cut and labels, as a user gets them: seconds and number of clusters."""
    start = time.perf_counter()
    model = DensityPeaks(metric="precomputed", n_jobs=n_threads).fit(graph)
    return time.perf_counter() - start, model.n_clusters_


def process_bytes(field):
    """VmRSS (now) or VmHWM (peak) of this process; getrusage would count the parent's before exec too."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def peak_in_graphs(path, n_threads):
    """Runs in its own process: the peak of memory of the stages on a saved graph, in graphs."""
    before = process_bytes("VmRSS")
    with np.load(path) as saved:
        graph = NeighborGraph(saved["indptr"], saved["indices"], saved["distances"])
    fit(graph, n_threads)
    graph_bytes = graph.indptr.nbytes + graph.indices.nbytes + graph.distances.nbytes
    peak = process_bytes("VmHWM") - before
    print(json.dumps({"graph_bytes": graph_bytes, "peak_in_graphs": round(peak / graph_bytes, 2)}))


def memory(graph, n_threads):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.npz")
        np.savez(path, indptr=graph.indptr, indices=graph.indices, distances=graph.distances)
        command = [sys.executable, __file__, "--memory", path, "--threads", str(n_threads)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(n_samples, n_threads, repeats):
    X = mixture(n_samples)
    graph = neighbor_graph(X, N_NEIGHBORS, n_jobs=n_threads)
    tree = cKDTree(X)
    in_tree_order = X[tree.indices]
    query, ordered, ours = [], [], []
    for _ in range(repeats):
        for times, points in ((query, X), (ordered, in_tree_order)):
            start = time.perf_counter()
            tree.query(points, N_NEIGHBORS, workers=n_threads)
            times.append(time.perf_counter() - start)
        seconds, n_clusters = fit(graph, n_threads)
        ours.append(seconds)
    return {
        "n_samples": n_samples,
        "n_neighbors": N_NEIGHBORS,
        "query_seconds": round(min(query), 3),
        "after_graph_seconds": round(min(ours), 3),
        "ratio": round(min(ours) / min(query), 3),
        "ordered_query_seconds": round(min(ordered), 3),
        "ratio_to_ordered_query": round(min(ours) / min(ordered), 3),
        "n_clusters": n_clusters,
        **memory(graph, n_threads),
        **machine(n_threads),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        peak_in_graphs(given.memory, given.threads)
        return
    for n_samples in given.samples:
        print(json.dumps(measure(n_samples, given.threads, given.repeats)), flush=True)


if __name__ == "__main__":
    main()
