"""What a layout of many points takes, after their graph.

usage: scale.py [--samples N ...] [--threads T] [--output FILE]

A line of JSON for each size: seconds of the search, and of the map after it. Points are a mixture of 200
Gaussians in eight dimensions.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from diffpeaks import neighbor_graph
from diffpeaks.maps.layout import laid_out
from diffpeaks_paper.records import machine

N_NEIGHBORS = 16


def mixture(n_samples, n_features=8, n_clusters=200):
    random = np.random.default_rng(0)
    middles, widths = 4 * random.normal(size=(n_clusters, n_features)), random.uniform(0.3, 1.5, n_clusters)
    which = random.integers(0, n_clusters, n_samples)
    X = middles[which] + widths[which, None] * random.normal(size=(n_samples, n_features))
    return X.astype(np.float32)


def timed(work, *given):
    start = time.perf_counter()
    return work(*given), round(time.perf_counter() - start, 1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[100_000, 1_000_000], metavar="N")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", default=str(Path(__file__).parents[1] / "results" / "maps.jsonl"))
    given = parser.parse_args()
    for n_samples in given.samples:
        graph, search_seconds = timed(neighbor_graph, mixture(n_samples), N_NEIGHBORS)
        _, map_seconds = timed(laid_out, graph, given.threads)
        line = {
            "experiment": "map scale",
            "n_samples": n_samples,
            "search_seconds": search_seconds,
            "map_seconds": map_seconds,
            "threads": given.threads,
            **machine(),
        }
        print(n_samples, search_seconds, map_seconds, flush=True)
        with open(given.output, "a") as output:
            print(json.dumps(line), file=output)


if __name__ == "__main__":
    main()
