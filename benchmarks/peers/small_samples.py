"""What the default finds in few samples: random draws from the sets of `families.py`, by family.

usage: small_samples.py [--data FOLDER] [--systems NAME ...] [--output FILE] [--workers N] [--table]

From each set with half as many samples again, 250, 600 and 1,500 samples are drawn twice. A line of JSON for
each system and draw is appended to the output; what is there is not measured again. With `--table` the lines
are printed as a table, and nothing is measured.
"""

import argparse
import os
from functools import partial
from pathlib import Path

import numpy as np
from families import OURS, SMALL, VARIANTS, families, load_any, variant
from scoring import scores
from systems import SYSTEMS

from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.records import Records

EXPERIMENT = "small_samples"
RESULTS = Path(__file__).parents[1] / "results" / f"{EXPERIMENT}.jsonl"
SIZES, N_DRAWS, LEAST_RATIO = (250, 600, 1_500), 2, 1.5
COMPARED = (OURS, "no closer look", "Leiden", "scikit-learn HDBSCAN")


def jobs(systems, folder):
    found = []
    for family, names in families(folder).items():
        for name in names:
            n_samples = len(load_any(name, folder)[0])
            found += [
                {
                    "experiment": EXPERIMENT,
                    "system": system,
                    "family": family,
                    "set": name,
                    "drawn": size,
                    "draw": draw,
                }
                for system in systems
                for size in SIZES
                if n_samples >= LEAST_RATIO * size
                for draw in range(N_DRAWS)
            ]
    return found


def measure(job, folder):
    X, y, _ = load_any(job["set"], folder)
    rows = np.random.default_rng(job["draw"]).permutation(len(X))[: job["drawn"]]
    return scores(y[rows], variant(job["system"])(X[rows]))


def table(lines):
    """A row for each size: the mean of families of each system, BCubed F / AMI."""
    rows = [[f"{size:,}", *(_mean_of_families(lines, system, size) for system in COMPARED)] for size in SIZES]
    return markdown_table(["samples", *COMPARED], rows)


def _mean_of_families(lines, system, size):
    of_family = {}
    for line in lines:
        if (line["system"], line["drawn"]) == (system, size) and line["family"] not in SMALL:
            of_family.setdefault(line["family"], []).append((line["bcubed"], line["ami"]))
    means = np.mean([np.mean(found, axis=0) for found in of_family.values()], axis=0)
    return "{:.1f} / {:.1f}".format(*means)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--systems", nargs="+", choices=(*VARIANTS, *SYSTEMS), default=COMPARED, metavar="NAME"
    )
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--output", default=str(RESULTS))
    parser.add_argument("--workers", type=int)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))
    records = Records(given.output)
    if not given.table:
        missing = records.missing(jobs(given.systems, given.data))
        records.complete(missing, partial(measure, folder=given.data), given.workers)
    print(table(records.of(experiment=EXPERIMENT)))


if __name__ == "__main__":
    main()
