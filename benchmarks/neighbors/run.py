"""Neighbour graphs by diffpeaks and by other libraries, each at its fastest setting for a recall.

usage: run.py [SET ...] [--samples N] [--threads T ...] [--targets R ...] [--output FILE] ...

A SET is mnist, fashion_mnist, either with _unit behind it, face, text, mixture2, mixture8, mixture16 or a
.npy file. A target of 1 compares the exact searches.
JSON lines are appended to the output as they are measured, and what is in it is not measured again: "tried"
lines (a build and its efforts, with recall and estimated seconds), "timed" lines (build and query of all
points together) and "missed" lines (the setting that came nearest to a recall that none reached, not timed).
A rerun tries on what was missed. The table at the end has the ratios.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from data import load
from recall import true_reach
from systems import SYSTEMS, systems_for
from table import MARK, markdown

from diffpeaks._native import cpu_kernel
from diffpeaks_paper.records import Records, processor

_HERE = Path(__file__).parent
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def work(job):
    """The lines of a worker, as it prints them."""
    variables = dict.fromkeys(_THREAD_VARIABLES, str(job["threads"]))
    command = [sys.executable, str(_HERE / "worker.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    ) as process:
        json.dump(job, process.stdin)
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        print(f"{job['system']} failed with exit status {process.returncode}", file=sys.stderr)


def measure(points, folder, system, n_threads, targets, given, results):
    """Append what is missing of one system on one set."""
    identity = {
        "set": points.name,
        "n": len(points.X),
        "d": points.X.shape[1],
        "k": points.n_neighbors,
        "system": system,
        "threads": n_threads,
        "kernel": cpu_kernel() if SYSTEMS[system].has_kernels else None,
    }
    done = {line["target"] for line in results.of(kind="timed", **identity)}
    missing = [target for target in targets if target not in done]
    if not missing:
        return
    job = {
        "system": system,
        "data": str(folder / "points.npy"),
        "truth": str(folder / "truth.npz"),
        "n_neighbors": points.n_neighbors,
        "threads": n_threads,
        "targets": missing,
        "tried": results.of(kind="tried", **identity),
        "repeats": given.repeats,
        "repeat_seconds": given.repeat_seconds,
        "tuning_seconds": given.tuning_seconds,
    }
    for line in work(job):
        results.append({**identity, **line, "processor": processor(), "cores": os.cpu_count()})
        if line["kind"] != "tried":
            print(f"{points.name} {system}: recall {line['recall']}, {line['seconds']} s", file=sys.stderr)


def measure_set(name, given, results):
    points = load(name, given.samples, given.neighbors, given.data)
    targets_of = {system: [] for system in given.systems or SYSTEMS}
    for target in given.targets:
        for system in systems_for(points.X.shape[1], target):
            if system in targets_of:
                targets_of[system].append(target)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        np.save(folder / "points.npy", points.X)
        true_reach(points.X, points.n_neighbors, given.sample_size).save(folder / "truth.npz")
        for n_threads in given.threads:
            for system, targets in targets_of.items():
                measure(points, folder, system, n_threads, targets, given, results)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=["mnist", "text", "face"], metavar="SET")
    parser.add_argument(
        "--samples", type=int, help="points; default: all images, 100,000, 1,000,000 in low d"
    )
    parser.add_argument("--neighbors", type=int, help="the point itself counted; each set has a default")
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--targets", type=float, nargs="+", default=[0.95, 0.98])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--repeat-seconds", type=float, default=60, help="no repeat begins after so many")
    parser.add_argument("--tuning-seconds", type=float, default=300, help="for each system and target")
    parser.add_argument("--sample-size", type=int, default=1000, help="queries that recall is measured on")
    parser.add_argument("--data", default=os.environ.get("DIFFPEAKS_DATA"), help="folder of data sets")
    parser.add_argument("--output", default=str(_HERE.parent / "results" / "neighbors.jsonl"))
    return parser.parse_args()


def main():
    given = arguments()
    results = Records(given.output, MARK)
    for name in given.sets:
        measure_set(name, given, results)
    print(markdown(results.lines))


if __name__ == "__main__":
    main()
