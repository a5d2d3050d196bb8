"""Maps of labelled sets: neighbours that they keep, classes that they part, and seconds.

usage: run.py [--sets NAME ...] [--systems NAME ...] [--threads T] [--data FOLDER] [--output FILE]

Each map is made in a process of its own, from the import of the library on, so that what is compiled at run
time counts; the folder where numba keeps what it has compiled is empty. A second map in the same process
tells what it takes once all is compiled. All systems of a set take turns in one run. A line of JSON for each
system and set is appended to the output; of two lines the later one counts. `table.py` makes the tables.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scoring import scores
from sets import SETS, load
from systems import SYSTEMS

from diffpeaks_paper.records import machine

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_PEERS = ("umap-learn", "openTSNE")
_FOLDER = Path(__file__).parent


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="NAME")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS), metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--output", default=str(_FOLDER.parent / "results" / "maps.jsonl"))
    return parser.parse_args()


def mapped(system, points, folder, n_threads):
    """The map that a new process makes, and the seconds that it tells."""
    places = folder / "map.npy"
    variables = dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
    with tempfile.TemporaryDirectory() as compiled:
        done = subprocess.run(
            [sys.executable, _FOLDER / "systems.py", system, points, places, str(n_threads)],
            env={**os.environ, **variables, "NUMBA_CACHE_DIR": compiled},
            capture_output=True,
            text=True,
            check=True,
        )
    return np.load(places), json.loads(done.stdout.splitlines()[-1])


def measured(name, systems, given, folder):
    X, y = load(name, given.data)
    points = folder / "points.npy"
    np.save(points, X)
    judge = scores(X, y)
    for system in systems:
        places, seconds = mapped(system, points, folder, given.threads)
        yield {
            "experiment": "maps",
            "set": name,
            "system": system,
            "n_samples": X.shape[0],
            "n_features": X.shape[1],
            **judge(places),
            **seconds,
            "threads": given.threads,
            **machine(),
            **{package: version(package) for package in _PEERS},
        }


def main():
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets:
            for line in measured(name, given.systems, given, Path(folder)):
                told = ("set", "system", "recall", "trustworthiness", "accuracy", "first_seconds", "seconds")
                print(*(line[key] for key in told), flush=True)
                with open(given.output, "a") as output:
                    print(json.dumps(line), file=output)


if __name__ == "__main__":
    main()
