"""Clusterers at their defaults on labelled sets: scores, clusters, noise, seconds.

usage: run.py [--sets GROUP|NAME ...] [--systems NAME ...] [--threads T] [--timeout S] [--output FILE] ...

A line of JSON for each system and set is appended to the output as it is measured, and what is in it is not
measured again; a fit that took too long or failed has a line that says so, and deleting that line has it
tried again. `table.py` makes the tables.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from sets import GROUPS, load, set_names
from systems import SYSTEMS, check_installed
from worker import Worker

from diffpeaks_paper.records import Records, machine

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
EXPERIMENT = "peers"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=list(GROUPS), metavar="GROUP|NAME", help="default: all")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS), metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=120, help="seconds of one fit")
    parser.add_argument("--repeats", type=int, default=2, help="fits; the first is not the one reported")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument(
        "--output", default=str(Path(__file__).parents[1] / "results" / f"{EXPERIMENT}.jsonl")
    )
    return parser.parse_args()


def jobs(sets, systems, n_threads):
    """What each line starts with."""
    return [
        {"experiment": EXPERIMENT, "set": name, "system": system, "threads": n_threads}
        for system in systems
        for name in sets
    ]


def save_sets(names, given, folder):
    """A file for each set, so that none is read or generated twice; returns what lines say about them."""
    described = {}
    for name in names:
        X, y, _ = load(name, given.data)
        np.savez(folder / f"{name}.npz", X=X, y=y)
        n_samples, n_features = X.shape
        described[name] = {
            "n_samples": n_samples,
            "n_features": n_features,
            "n_classes": len(np.unique(y)),
        }
    return described


def told(result):
    if "timed_out" in result:
        return f"no labels within {result['timed_out']} s"
    return result.get("error") or f"{result['bcubed']:.1f} / {result['ami']:.1f}, {result['seconds']} s"


def measure(missing, given, folder, records):
    described = save_sets(dict.fromkeys(job["set"] for job in missing), given, folder)
    for system in dict.fromkeys(job["system"] for job in missing):
        worker = Worker(system, given.threads, given.timeout, given.repeats)
        versions = SYSTEMS[system].versions()
        for job in (job for job in missing if job["system"] == system):
            result = worker.measured(folder / f"{job['set']}.npz")
            where = {"versions": versions, "machine": machine()}
            records.append({**job, **described[job["set"]], **result, **where})
            print(f"{job['set']} {system}: {told(result)}", file=sys.stderr, flush=True)
        worker.close()


def main():
    given = arguments()
    check_installed(given.systems)
    records = Records(given.output)
    missing = records.missing(jobs(set_names(given.sets), given.systems, given.threads))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(given.threads)))
        # what a first call compiles is not to depend on what was run on this machine before
        os.environ["NUMBA_CACHE_DIR"] = str(folder / "compiled")
        measure(missing, given, folder, records)


if __name__ == "__main__":
    main()
