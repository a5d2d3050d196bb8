"""Which search is the fastest for which points, and which one is taken: never one much slower than the best.

usage: choice.py [--samples N ...] [--features D ...] [--neighbors K] [--output FILE]

Gaussian clusters that fill all dimensions, and a curved sheet of four dimensions in as many features.
Trees, exact cells and approximate cells (recall 0.98) find the neighbours of all points, on two threads, one
search after the other in one process. A tree that would take longer than a minute, by one part in fifty of
the queries, is not run and has that expectation. Exact cells are left out beyond 100,000 points.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.cells.approximate import ApproximateCellSearch
from diffpeaks.neighbors.cells.search import CellSearch
from diffpeaks.neighbors.inputs import space_of
from diffpeaks.neighbors.trees import TreeSearch
from diffpeaks_paper.records import Records, processor

_THREADS, _RECALL = 2, 0.98
_MOST_SECONDS, _PART = 60, 50
_MOST_COMPARED = 100_000
_KEYS = ("set", "n", "d", "k")


def clusters(n_samples, n_features, random):
    centers = 2 * random.standard_normal((30, n_features))
    return centers[random.integers(30, size=n_samples)] + random.standard_normal((n_samples, n_features))


def sheet(n_samples, n_features, random):
    latent = random.standard_normal((n_samples, 4)) @ random.standard_normal((4, n_features))
    return np.tanh(latent / 2) + 0.02 * random.standard_normal((n_samples, n_features))


SETS = {"clusters": clusters, "sheet": sheet}


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def time_of(make, X, n_neighbors):
    """Seconds to make a search and to find all neighbours; or what a part of the queries lets expect."""
    built = []
    building = seconds(lambda: built.append(make(space_of(X, "euclidean"))))
    search = built[0]
    if search.name == "tree":
        some = X[np.random.default_rng(1).choice(len(X), len(X) // _PART, replace=False)]
        expected = building + _PART * seconds(lambda: search.nearest(some, n_neighbors))
        if expected > _MOST_SECONDS:
            return expected
    return building + seconds(lambda: search.nearest(search.space.points, n_neighbors))


def measured(name, n_samples, n_features, n_neighbors):
    X = SETS[name](n_samples, n_features, np.random.default_rng(0)).astype(np.float32)
    makes = {
        "tree": lambda space: TreeSearch(space, _THREADS),
        "approximate": lambda space: ApproximateCellSearch(space, _THREADS, _RECALL),
    }
    if n_samples <= _MOST_COMPARED:
        makes["cells"] = lambda space: CellSearch(space, _THREADS)
    times = {search: round(time_of(make, X, n_neighbors), 3) for search, make in makes.items()}
    chosen = {asked: searchable(X, search=asked).search.name for asked in ("auto", "exact", "approximate")}
    allowed = {"exact": ["tree", "cells"], "approximate": list(times)}
    slower = {
        asked: round(times[chosen[asked]] / min(times[s] for s in searches if s in times), 2)
        for asked, searches in allowed.items()
        if chosen[asked] in times
    }
    return {"seconds": times, "chosen": chosen, "times the best": slower}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, nargs="+", default=[2, 4, 8, 12, 16, 24, 32, 64])
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--output", default=str(Path(__file__).parents[1] / "results" / "choice.jsonl"))
    given = parser.parse_args()
    results = Records(given.output, "chosen")
    for n_samples in given.samples:
        for n_features in given.features:
            for name in SETS:
                point = dict(zip(_KEYS, (name, n_samples, n_features, given.neighbors), strict=True))
                if not results.of(**point):
                    line = {
                        **point,
                        **measured(*point.values()),
                        "threads": _THREADS,
                        "processor": processor(),
                    }
                    results.append(line)
                    print(line, flush=True)


if __name__ == "__main__":
    main()
