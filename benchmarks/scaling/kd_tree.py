"""The neighbour graph of our kd-tree, against scipy's cKDTree and pykdtree: build and query, all included.

usage: kd_tree.py [--samples N] [--features D ...] [--dtypes T ...] [--threads T ...] [--repeats R]
                  [--sides S ...]

One JSON line a case: seconds of each side (the best of the repeats, which take turns) and how many times
faster ours is. cKDTree is timed as users call it and at its best: sliding midpoints, and queries in the order
of the tree, whose rows are left in that order. pykdtree takes its threads from OpenMP when it is loaded, so
that every number of threads is measured in a process of its own. Without it, leave it out of --sides.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np
from machine import machine
from scipy.spatial import cKDTree

from diffpeaks import neighbor_graph

N_NEIGHBORS = 16


def ours(X, n_threads):
    neighbor_graph(X, N_NEIGHBORS, search="tree", n_jobs=n_threads)


def scipy_plain(X, n_threads):
    cKDTree(X).query(X, N_NEIGHBORS, workers=n_threads)


def scipy_best(X, n_threads):
    tree = cKDTree(X, balanced_tree=False)
    tree.query(X[tree.indices], N_NEIGHBORS, workers=n_threads)


def pykdtree(X, n_threads):
    from pykdtree.kdtree import KDTree

    KDTree(X).query(X, N_NEIGHBORS)


SIDES = {side.__name__: side for side in (ours, scipy_plain, scipy_best, pykdtree)}


def measure(n_samples, n_features, dtype, n_threads, repeats, sides):
    X = np.random.default_rng(0).normal(size=(n_samples, n_features)).astype(dtype)
    seconds = {name: [] for name in sides}
    for _ in range(repeats):
        for name in sides:
            start = time.perf_counter()
            SIDES[name](X, n_threads)
            seconds[name].append(time.perf_counter() - start)
    best = {name: min(times) for name, times in seconds.items()}
    case = {"n_samples": n_samples, "n_features": n_features, "dtype": dtype, "n_neighbors": N_NEIGHBORS}
    times = {f"{name}_seconds": round(value, 3) for name, value in best.items()}
    faster = {f"faster_than_{name}": round(best[name] / best["ours"], 2) for name in best if name != "ours"}
    return {**case, **times, **faster, **machine(n_threads)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count()}))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    given = parser.parse_args()
    for n_threads in given.threads:
        if os.environ.get("OMP_NUM_THREADS") != str(n_threads):
            environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
            command = [sys.executable, *sys.argv, "--threads", str(n_threads)]
            subprocess.run(command, check=True, env=environment)
            continue
        for n_features in given.features:
            for dtype in given.dtypes:
                case = (given.samples, n_features, dtype, n_threads)
                print(json.dumps(measure(*case, given.repeats, given.sides)), flush=True)


if __name__ == "__main__":
    main()
