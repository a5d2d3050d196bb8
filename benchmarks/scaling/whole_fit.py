"""A whole default fit against its own graph search and against a peer's whole fit, in turn in one process.

usage: whole_fit.py {plane,table,images} [--threads T] [--repeats R] [--data FOLDER]

plane: 1,000,000 x 2, 50 Gaussians, float32; peer fast_hdbscan. table: 100,000 x 8, 40 Gaussians that overlap,
float64; peer hdbscan. images: MNIST, 70,000 x 784 (`images/mnist.npz` of the data folder); peer EVoC. Peers
run at their defaults, compiled before the clock starts. One JSON line: the best seconds of each, their
ratios, the peak of memory of a fit in a process of its own in multiples of the graph, and seconds of `recut`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
from machine import machine
from sklearn.datasets import make_blobs

from diffpeaks import DensityPeaks, neighbor_graph

PEERS = {
    "plane": ("fast-hdbscan", "fast_hdbscan", lambda module, threads: module.HDBSCAN()),
    "table": ("hdbscan", "hdbscan", lambda module, threads: module.HDBSCAN(core_dist_n_jobs=threads)),
    "images": ("evoc", "evoc", lambda module, threads: module.EVoC()),
}
RECUTS = {"min_prominence": 1.0, "max_link": 0.05, "n_clusters": 20, "halo": True}


def points(name, folder):
    if name == "plane":
        how = {"centers": 50, "cluster_std": 0.6, "center_box": (-20, 20)}
        return make_blobs(1_000_000, 2, random_state=0, **how)[0].astype(np.float32)
    if name == "table":
        return make_blobs(100_000, 8, centers=40, cluster_std=3.0, random_state=0)[0]
    with np.load(Path(folder or os.environ["DIFFPEAKS_DATA"]) / "images" / "mnist.npz") as arrays:
        return arrays["X"].reshape(-1, 784).astype(np.float32)


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def process_bytes(field):
    """VmRSS (now) or VmHWM (peak) of this process."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def print_peak(X, n_threads):
    """Of a process that does nothing else: how much a fit adds to the points, in graphs."""
    before = process_bytes("VmRSS")
    graph = DensityPeaks(n_jobs=n_threads).fit(X).graph_
    graph_bytes = graph.indptr.nbytes + graph.indices.nbytes + graph.distances.nbytes
    print(round((process_bytes("VmHWM") - before) / graph_bytes, 2))


def measure(name, X, n_threads, repeats):
    package, module, make = PEERS[name]
    module = import_module(module)
    make(module, n_threads).fit(X[:3000])
    model = DensityPeaks(n_jobs=n_threads).fit(X)
    n_neighbors = model.graph_.n_neighbors
    ours, graph, peer = [], [], []
    for _ in range(repeats):
        ours.append(seconds(lambda: DensityPeaks(n_jobs=n_threads).fit(X))[0])
        graph.append(seconds(lambda: neighbor_graph(X, n_neighbors, n_jobs=n_threads))[0])
        peer.append(seconds(lambda: make(module, n_threads).fit(X))[0])
    return {
        "experiment": "whole_fit",
        "set": name,
        "seconds": round(min(ours), 2),
        "graph_seconds": round(min(graph), 2),
        "ratio_to_graph": round(min(ours) / min(graph), 2),
        "peer": f"{package} {version(package)}",
        "peer_seconds": round(min(peer), 2),
        "times_faster": round(min(peer) / min(ours), 2),
        "recut_seconds": {
            rule: round(seconds(lambda rule=rule, value=value: model.recut(**{rule: value}))[0], 3)
            for rule, value in RECUTS.items()
        },
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", choices=PEERS)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--peak", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    X = points(given.set, given.data)
    if given.peak:
        print_peak(X, given.threads)
        return
    line = measure(given.set, X, given.threads, given.repeats)
    peak = subprocess.run([sys.executable, *sys.argv, "--peak"], capture_output=True, text=True, check=True)
    line["peak_in_graphs"] = float(peak.stdout)
    print(json.dumps({**line, "load": round(os.getloadavg()[0], 1), **machine(given.threads)}))


if __name__ == "__main__":
    main()
