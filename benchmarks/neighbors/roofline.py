"""How fast the exact search multiplies, with each kernel of this processor, beside numpy's matrix product.

usage: roofline.py [--samples N] [--features D ...] [--threads T ...] [--repeats R] [--output FILE]

The points are Gaussian, so that no cell can be left out and the search has all 2 n^2 d operations to do;
its rate counts them over the seconds of the whole `neighbor_graph`. The rate of `X @ X.T` of float32, in
blocks, is what the search would have if finding the smallest cost nothing and bf16 were no faster. Each
kernel and the matrix product run in processes of their own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from diffpeaks import neighbor_graph
from diffpeaks._native import KERNEL_VARIABLE, kernels

_N_NEIGHBORS = 30
_BLOCK = 4096
_MATRIX_PRODUCT = "matrix product"


def multiply(X, n_threads):
    """All products, a block at a time; the threads are those of the environment."""
    product = np.empty((_BLOCK, len(X)), np.float32)
    for start in range(0, len(X), _BLOCK):
        rows = X[start : start + _BLOCK]
        np.matmul(rows, X.T, out=product[: len(rows)])


def search(X, n_threads):
    neighbor_graph(X, _N_NEIGHBORS, search="cells", n_jobs=n_threads)


def measure(name, n_samples, n_features, n_threads, repeats):
    """Runs in its own process, which has the kernel and the threads in its environment."""
    X = np.random.default_rng(0).standard_normal((n_samples, n_features), dtype=np.float32)
    function = multiply if name == _MATRIX_PRODUCT else search
    function(X[:_BLOCK], n_threads)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(X, n_threads)
        seconds.append(time.perf_counter() - start)
    return {
        "name": name,
        "n": n_samples,
        "d": n_features,
        "threads": n_threads,
        "seconds": round(min(seconds), 3),
        "gflops": round(2 * n_samples**2 * n_features / min(seconds) / 1e9, 1),
    }


def in_own_process(name, n_samples, n_features, n_threads, repeats):
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads), "OPENBLAS_NUM_THREADS": str(n_threads)}
    if name != _MATRIX_PRODUCT:
        environment[KERNEL_VARIABLE] = name
    task = json.dumps([name, n_samples, n_features, n_threads, repeats])
    command = [sys.executable, __file__, "--task", task]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--features", type=int, nargs="+", default=[256, 768])
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", default=str(Path(__file__).parents[1] / "results" / "roofline.jsonl"))
    parser.add_argument("--task", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        print(json.dumps(measure(*json.loads(given.task))))
        return
    with open(given.output, "a") as output:
        for n_features in given.features:
            for n_threads in given.threads:
                for name in (_MATRIX_PRODUCT, *kernels()):
                    line = in_own_process(name, given.samples, n_features, n_threads, given.repeats)
                    print(line, end="", file=output, flush=True)
                    print(line, end="", flush=True)


if __name__ == "__main__":
    main()
