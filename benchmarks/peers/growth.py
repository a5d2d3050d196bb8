"""What more samples of the same set bring: nested samples, scores and clusters of the default.

usage: growth.py [--data FOLDER] [--output FILE] [--most N] [--table]

Sets: `large_*` of the data folder's `real/`, MNIST, and 30 Gaussians in 2, 5, 10 and 20 dimensions, each in
one random order of which the first n samples are taken. A line of JSON for each set and size; what is in the
output is not measured again. With `--table` the lines are printed as tables, and nothing is measured.
The second table has what can be found of the Gaussians (`gaussians.py`).
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from families import load_any
from gaussians import N_DRAWN, RISES, SPREAD, ceiling, drawn
from scoring import scores
from sets import load

from diffpeaks import DensityPeaks
from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.records import Records

EXPERIMENT, CEILING = "growth", "growth ceiling"
RESULTS = Path(__file__).parents[1] / "results" / f"{EXPERIMENT}.jsonl"
SIZES = (1_500, 3_000, 6_000, 12_500, 25_000, 50_000, 100_000, 200_000, 300_000)
LARGEST = {"large_birch1": 100_000, "large_worms_2": 105_600, "large_cytometry": 200_000, "mnist": 70_000}


def whole_set(name, folder):
    if name.startswith("gaussians_"):
        X, y, _ = drawn(int(name.split("_")[1]))
        return X, y
    X, y, _ = load(name, folder) if name == "mnist" else load_any(name, folder)
    order = np.random.RandomState(0).permutation(len(X))
    return X[order], y[order]


def jobs(most):
    largest = {**LARGEST, **{f"gaussians_{n_features}": N_DRAWN for n_features in SPREAD}}
    return [
        {"experiment": EXPERIMENT, "set": name, "n_samples": size}
        for name, n_samples in largest.items()
        for size in SIZES
        if size <= min(n_samples, most)
    ]


def measure(job, folder):
    X, y = whole_set(job["set"], folder)
    model = DensityPeaks().fit(X[: job["n_samples"]])
    return scores(y[: job["n_samples"]], model.labels_)


def measure_ceiling(job):
    return ceiling(int(job["set"].split("_")[1]))


def table(lines):
    """A row for each set: BCubed F / AMI (clusters) at each size."""
    cells = {
        (line["set"], line["n_samples"]): f"{line['bcubed']:.0f} / {line['ami']:.0f} ({line['n_clusters']})"
        for line in lines
    }
    names = list(dict.fromkeys(name for name, _ in cells))
    rows = [[name, *(cells.get((name, size), "") for size in SIZES)] for name in names]
    return markdown_table(["set", *(f"{size:,}" for size in SIZES)], rows)


def ceiling_table(lines):
    """A row for each number of dimensions."""
    heads = ["set", "nearest true centre", "modes", *(f"that rise by {least}" for least in RISES)]
    columns = ["modes", *(f"modes_{least}" for least in RISES)]
    rows = [
        [line["set"], f"{line['bcubed']:.0f} / {line['ami']:.0f}", *(str(line[name]) for name in columns)]
        for line in lines
    ]
    return markdown_table(heads, rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--output", default=str(RESULTS))
    parser.add_argument("--most", type=int, default=max(SIZES), help="samples")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    records = Records(given.output)
    if not given.table:
        missing = records.missing(jobs(given.most))
        records.complete(missing, partial(measure, folder=given.data), n_workers=1)
        known = [{"experiment": CEILING, "set": f"gaussians_{n_features}"} for n_features in SPREAD]
        records.complete(records.missing(known), measure_ceiling, n_workers=1)
    print(table(records.of(experiment=EXPERIMENT)), end="\n\n")
    print(ceiling_table(records.of(experiment=CEILING)))


if __name__ == "__main__":
    main()
