"""What a bound on the rise of hills could win if it were chosen for each set: with the labels, and without.

usage: thresholds.py [--data FOLDER] [--workers N]

Each set of `families.py` is cut at several multiples of the default's bound. The table has the mean of
families at each multiple, at the multiple with the best sum of both scores on each set, and at the one that
a model expects to be best there. The model is a regression of the gain over the default on what can be seen
of a clustering without labels (`looks_of`), fitted to the sets of all other families.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from families import SMALL, families, load_any
from families_report import cell
from scipy.stats import entropy
from scoring import scores
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from diffpeaks import DensityPeaks
from diffpeaks_paper.markdown import markdown_table

MULTIPLES = np.array([0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0])
DEFAULT = int(np.flatnonzero(MULTIPLES == 1)[0])


def looks_of(model, labels):
    """What can be seen of a clustering: the number and sizes of clusters, and the neighbours they share."""
    graph, list_length = model.graph_, model.density_estimator_.graph_.n_neighbors
    sizes = np.bincount(labels)
    shares, number = sizes / sizes.sum(), np.log(len(sizes))
    begins, ends = np.repeat(labels, graph.degrees), labels[graph.indices]
    inside = np.mean(begins == ends)
    by_chance = np.bincount(begins) @ np.bincount(ends, minlength=len(sizes)) / len(ends) ** 2
    small = shares[sizes < list_length].sum()
    return [
        number,
        number / np.log(len(labels)),
        shares.max(),
        entropy(shares),
        inside,
        inside - by_chance,
        small,
    ]


def cuts_of(job, folder):
    """Both scores, and the looks, of a set at each multiple of the bound."""
    _, name = job
    X, y, _ = load_any(name, folder)
    model = DensityPeaks(n_jobs=1).fit(X)
    found, looks = [], []
    for multiple in MULTIPLES:
        labels = model.recut(cut=replace(model.cut_, min_prominence=multiple * model.cut_.min_prominence))
        score = scores(y, labels)
        found.append((score["bcubed"], score["ami"]))
        looks.append(looks_of(model, labels))
    return np.array(found), np.array(looks)


def predicted(jobs, found, looks):
    """The multiple that the model expects to be best on each set, fitted to the other families."""
    # of each cut: its looks, how they differ from those of the default, and how far the bound is moved
    moved = np.broadcast_to(np.log(MULTIPLES)[None, :, None], (*looks.shape[:2], 1))
    seen = np.concatenate([looks, looks - looks[:, [DEFAULT]], moved, np.abs(moved)], axis=2)
    gains = (found - found[:, [DEFAULT]]).sum(axis=2)
    family = np.array([family for family, _ in jobs])
    weights = 1 / np.array([np.sum(family == name) for name in family])
    best = np.empty(len(jobs), np.int64)
    for name in np.unique(family):
        others = family != name
        model = make_pipeline(StandardScaler(), Ridge(10.0))
        model.fit(
            np.concatenate(seen[others]),
            gains[others].ravel(),
            ridge__sample_weight=np.repeat(weights[others], len(MULTIPLES)),
        )
        best[~others] = [int(np.argmax(model.predict(cuts))) for cuts in seen[~others]]
    return best


def row(name, jobs, found, chosen):
    """The means of families and of the small sets, at the cut that is chosen for each set."""
    taken = found[np.arange(len(jobs)), chosen]
    by_family = {}
    for (family, _), score in zip(jobs, taken, strict=True):
        by_family.setdefault(family, []).append(score)
    large = [np.mean(found, axis=0) for family, found in by_family.items() if family not in SMALL]
    small = [score for family in SMALL for score in by_family[family]]
    return [name, cell(np.mean(large, axis=0)), cell(np.mean(small, axis=0))]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of data sets; default: DIFFPEAKS_DATA")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    jobs = [(family, name) for family, names in families(given.data).items() for name in names]
    with ProcessPoolExecutor(given.workers) as pool:
        results = list(pool.map(partial(cuts_of, folder=given.data), jobs))
    found, looks = (np.array(part) for part in zip(*results, strict=True))
    rows = [
        *(row(f"x {multiple:g}", jobs, found, number) for number, multiple in enumerate(MULTIPLES)),
        row("best for each set, chosen with its labels", jobs, found, found.sum(axis=2).argmax(axis=1)),
        row("best for each set, as a model expects", jobs, found, predicted(jobs, found, looks)),
    ]
    print(markdown_table(["bound", "mean of families", "27 small sets"], rows))


if __name__ == "__main__":
    main()
