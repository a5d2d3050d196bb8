"""How much an answer depends on the knobs and on the draw of the samples: diffpeaks beside HDBSCAN.

usage: sensitivity.py [--sets NAME ...] [--data FOLDER] [--output FILE]

Around what the default chose, one knob at a time is changed by factors from 0.8 to 1.25, and the default is
fitted to draws of 80% of the samples. A line of JSON for each system, set and knob has the agreement of
every answer with that of the default (BCubed F and AMI between the two), and its scores against the truth.
What is in the output is not measured again. `sensitivity_report.py` makes the figure and the table.
"""

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scoring import noise_alone, scores
from sets import SHAPES, load
from sklearn.cluster import HDBSCAN

from diffpeaks import DensityPeaks
from diffpeaks.datasets import UCI_NAMES
from diffpeaks.recipes import DEFAULT
from diffpeaks_paper.records import Records

EXPERIMENT = "sensitivity"
FACTORS = 1.25 ** (np.arange(-6, 7) / 6)  # steps of 4%
SUBSAMPLES = "80% of the samples"
SHARE, N_DRAWS = 0.8, 6
# what anyone has; then every third from the data folder, whatever the scores
SETS = ("digits", "moons", "unequal_densities", "faces_30_5k", *UCI_NAMES[::3], *SHAPES[::3])
RESULTS = Path(__file__).parents[1] / "results" / f"{EXPERIMENT}.jsonl"


def by_factors(chosen):
    return chosen * FACTORS


def whole_by_factors(chosen):
    return [round(value) for value in by_factors(chosen)]


def next_whole(chosen):
    """For a number so small that no other one is within the factors, or hardly any."""
    return [chosen - 1, chosen, chosen + 1]


class DiffPeaks:
    """The default on some samples, and what becomes of it when one knob is set."""

    values = {
        "n_neighbors": whole_by_factors,
        "steps": next_whole,
        "link_share": by_factors,
        "min_prominence": by_factors,
    }

    def __init__(self, X):
        self._X = X
        self._model = DensityPeaks(n_jobs=1).fit(X)
        self.labels = self._model.labels_

    def chosen(self, knob):
        if knob == "n_neighbors":
            return self._model.density_estimator_.n_neighbors_
        return self._model.cut_.min_prominence if knob == "min_prominence" else getattr(DEFAULT, knob)

    def labels_with(self, knob, value):
        if knob == "n_neighbors":
            return DensityPeaks(n_neighbors=value, n_jobs=1).fit_predict(self._X)
        if knob == "min_prominence":
            return self._model.recut(cut=replace(self._model.cut_, min_prominence=value))
        return DensityPeaks(recipe=replace(DEFAULT, **{knob: value}), n_jobs=1).fit_predict(self._X)


class Hdbscan:
    """The same for scikit-learn's HDBSCAN, whose `min_samples` follow `min_cluster_size` unless set."""

    values = {"min_cluster_size": next_whole, "min_samples": next_whole}

    def __init__(self, X):
        self._X = X
        self.labels = self._labels()

    def chosen(self, knob):
        return HDBSCAN().min_cluster_size

    def labels_with(self, knob, value):
        return self._labels(**{knob: value})

    def _labels(self, **knobs):
        # in many dimensions a tree takes it ten times as long to find the same neighbours
        algorithm = "brute" if self._X.shape[1] > 100 else "auto"
        return HDBSCAN(n_jobs=1, copy=True, algorithm=algorithm, **knobs).fit_predict(self._X)


SYSTEMS = {"diffpeaks": DiffPeaks, "HDBSCAN": Hdbscan}


def changes(system):
    return (*SYSTEMS[system].values, SUBSAMPLES)


def jobs(sets):
    """What each line starts with."""
    return [
        {"experiment": EXPERIMENT, "system": system, "set": name, "changed": changed}
        for name in sets
        for system in SYSTEMS
        for changed in changes(system)
    ]


def compared(y, reference, labels):
    """Scores of an answer against the truth, and its agreement with another answer."""
    found, agreement = scores(y, labels), scores(noise_alone(reference), labels)
    kept = {name: found[name] for name in ("bcubed", "ami", "n_clusters", "noise")}
    return {"agreement": agreement["bcubed"], "agreement_ami": agreement["ami"], **kept}


def draws(n_samples):
    """Row numbers of each draw, the same for all systems."""
    size = round(SHARE * n_samples)
    return [np.random.default_rng(seed).permutation(n_samples)[:size] for seed in range(N_DRAWS)]


def answers(at_default, changed, X, y):
    """(value of what was changed, how the answer compares) for each change."""
    if changed == SUBSAMPLES:
        for seed, rows in enumerate(draws(len(X))):
            labels = type(at_default)(X[rows]).labels
            yield seed, compared(y[rows], at_default.labels[rows], labels)
        return
    for value in at_default.values[changed](at_default.chosen(changed)):
        yield value, compared(y, at_default.labels, at_default.labels_with(changed, value))


def measure(job, folder):
    X, y, _ = load(job["set"], folder)
    at_default = SYSTEMS[job["system"]](X)
    values, found = zip(*answers(at_default, job["changed"], X, y), strict=True)
    at_the_default = scores(y, at_default.labels)
    return {
        "n_samples": len(X),
        "default": {name: at_the_default[name] for name in ("bcubed", "ami", "n_clusters", "noise")},
        "values": [float(f"{value:.5g}") for value in values],
        **{name: [answer[name] for answer in found] for name in found[0]},
    }


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME", help=f"default: {' '.join(SETS)}")
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--output", default=str(RESULTS))
    return parser.parse_args()


def main():
    given = arguments()
    records = Records(given.output)
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))  # of each process
    records.complete(records.missing(jobs(given.sets)), partial(measure, folder=given.data))


if __name__ == "__main__":
    main()
