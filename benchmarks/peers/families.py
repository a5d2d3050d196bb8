"""The default, its variants and other clusterers on real sets by family: scores and seconds.

usage: families.py [--data FOLDER] [--systems NAME ...] [--output FILE] [--workers N]

The data folder (or DIFFPEAKS_DATA) holds `real/`, with a MANIFEST.csv of names and families, beside the sets
of `sets.py`. A system of the peers runs at its defaults. A variant is the default with other constants
(`recipes.Recipe`) or parameters: one mechanism off, or one constant changed. A line of JSON for each system
and set is appended to the output; what is there is not measured again. `families_report.py` makes the tables.
"""

import argparse
import csv
import os
import time
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np
from scoring import scores
from sets import GROUPS, load
from systems import SYSTEMS

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.datasets import LabeledData
from diffpeaks.datasets.uci import data_folder
from diffpeaks.recipes import DEFAULT
from diffpeaks_paper.records import Records

EXPERIMENT = "families"
RESULTS = Path(__file__).parents[1] / "results" / f"{EXPERIMENT}.jsonl"
PEERS = ("Leiden", "Infomap", "scikit-learn HDBSCAN", "EVoC")
OURS, DBSCAN = "default", "DensityDBSCAN"
SAME_FAMILY = {"plane": "shapes2d"}
SMALL = ("uci", "shapes")  # groups that are no family: they were in view for longer than the others

# One mechanism off. Links along whole rows and lengths without a bound are what other densities have.
ABLATION = {
    "no smoothing": {"smooth": False},
    "no flow": {"flow_weight": 0.0},
    "uniform start": {"start_power": 0.0},
    "links along whole rows": {"nearest_share": 1.0, "mutual_share": 1.0},
    "lone samples stay alone": {"join_lone": False},
    "no length rule": {"isolated": "outliers"},
    "no closer look": {"dominant": 1.0},
    "sizes do not count": {"size_weight": 0.0},
}
ABLATION["all of these off"] = {name: value for change in ABLATION.values() for name, value in change.items()}
# The values that each constant is changed to.
CHANGES = {
    "neighbors": (2.5, 3.5),
    "dominant": (0.7, 0.8),
    "closer_share": (0.4, 0.6),
    "steps": (2, 4),
    "start_power": (1.0, 3.0),
    "nearest_share": (0.1, 0.16),
    "mutual_share": (0.25, 0.35),
    "fewest": (2, 5),
    "plane_share": (0.6, 1.0),
    "link_share": (0.65, 0.75),
    "few": (0.005, 0.02),
    "valley": (1.5, 3.0),
    "rise": (0.7, 0.8, 0.9, 1.0),
    "flow_weight": (0.5, 1.5),
    "usual_flow": (0.05, 0.1),
    "size_weight": (0.1, 0.2),
    "usual_size": (4.0, 9.0),
    "flat_dimension": (2.0, 3.0),
    "kept_power": (0.25, 0.75),
}
VARIANTS = {
    OURS: {},
    **ABLATION,
    **{f"{name}={value}": {name: value} for name, values in CHANGES.items() for value in values},
}


def families(folder=None):
    """The names of the sets of each family, and of the small groups."""
    with (data_folder(folder) / "real" / "MANIFEST.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["family"] != "large"]
    found = {}
    for row in rows:
        found.setdefault(SAME_FAMILY.get(row["family"], row["family"]), []).append(row["name"])
    return {**found, **{group: list(GROUPS[group]) for group in SMALL}}


def load_any(name, folder=None):
    path = data_folder(folder) / "real" / f"{name}.npz"
    if not path.exists():
        return load(name, folder)
    with np.load(path) as arrays:
        return LabeledData(arrays["X"].astype(np.float32), arrays["y"].astype(np.int64), name)


def variant(name):
    """A function from points to labels."""
    if name == DBSCAN:
        return lambda X: DensityDBSCAN(n_jobs=1).fit_predict(X)
    if name in SYSTEMS:
        return lambda X: SYSTEMS[name].labels(X, None, 1)
    changes = VARIANTS[name]
    constants = {field.name for field in fields(DEFAULT)}
    recipe = replace(DEFAULT, **{key: value for key, value in changes.items() if key in constants})
    params = {key: value for key, value in changes.items() if key not in constants}
    return lambda X: DensityPeaks(recipe=recipe, n_jobs=1, **params).fit_predict(X)


def measure(job, folder):
    X, y, _ = load_any(job["set"], folder)
    labels_of = variant(job["system"])
    started = time.perf_counter()
    try:
        labels = labels_of(X)
    except (ValueError, IndexError, RuntimeError, TypeError) as error:  # of a peer that cannot do the set
        if job["system"] not in SYSTEMS:
            raise
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    fit_seconds = round(time.perf_counter() - started, 4)
    return {"n_samples": len(X), "fit_seconds": fit_seconds, **scores(y, labels)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = (*VARIANTS, DBSCAN, *PEERS)
    parser.add_argument("--systems", nargs="+", choices=known, default=known, metavar="NAME")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--output", default=str(RESULTS))
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))
    jobs = [
        {"experiment": EXPERIMENT, "system": system, "family": family, "set": name}
        for system in given.systems
        for family, names in families(given.data).items()
        for name in names
    ]
    records = Records(given.output)
    records.complete(records.missing(jobs), partial(measure, folder=given.data), given.workers)


if __name__ == "__main__":
    main()
