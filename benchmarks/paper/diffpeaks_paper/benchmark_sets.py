"""Tables 1 and 4: six densities on 13 sets, every setting of a grid and every cut, from one graph a set."""

from functools import lru_cache

import numpy as np

from diffpeaks import ConvergenceError, neighbor_graph
from diffpeaks.cuts.linking import core_labels
from diffpeaks.datasets import UCI_NAMES, load_uci
from diffpeaks.forest.peaks import density_order, peak_forest
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks.results.sweeps import core_sweep, link_sweep, peak_sweep, prominence_sweep
from diffpeaks_paper.definitions import (
    BORDER_QUANTILES,
    DENSITIES,
    GRIDS,
    NORMALIZATIONS,
    settings,
)

EXPERIMENT = "benchmark sets"


def jobs(names=UCI_NAMES):
    """One for each set, normalisation, grid and density."""
    return [
        {"experiment": EXPERIMENT, "set": name, "normalization": scaling, "grid": grid, "density": density}
        for name in names
        for scaling in NORMALIZATIONS
        for grid in GRIDS
        for density in DENSITIES
    ]


def run(job, folder=None):
    """The best of all settings by each rule and score, and how many settings there were."""
    graph, y = _graph(job["set"], job["normalization"], folder)
    best, failed = {}, []
    candidates = settings(job["density"], GRIDS[job["grid"]], graph)
    for density in candidates:
        try:
            density.fit(graph)
        except ConvergenceError:
            failed.append(_named(density))
            continue
        for rule, score, cut in _cuts(density, graph, y):
            known = best.get(f"{rule}/{score}")
            if known is None or cut["f"] > known["f"]:
                best[f"{rule}/{score}"] = {**cut, **_named(density)}
    return {
        "n_samples": graph.n_samples,
        "n_settings": len(candidates),
        "without_limit": failed,
        "one_cluster": _one_cluster(y),
        "best": best,
    }


@lru_cache(maxsize=1)
def _graph(name, normalization, folder):
    """All samples as neighbours of each, and the classes; samples with missing values are left out."""
    X, y, _ = load_uci(name, folder)
    whole = ~np.isnan(X).any(axis=1)
    X, y = normalized(X[whole], normalization), y[whole]
    return neighbor_graph(X, len(X), search="exact"), y


def normalized(X, how):
    """Each feature on one scale; a constant one stays as it is."""
    if how == "none":
        return X
    if how == "z-score":
        shift, scale = X.mean(axis=0), X.std(axis=0)
    else:
        shift, scale = X.min(axis=0), np.ptp(X, axis=0)
    return (X - shift) / np.where(scale > 0, scale, 1)


def _cuts(density, graph, y):
    """(rule, score, best cut) for each rule and score."""
    values, order = density.density_, density_order(density.density_, density.tie_break)
    k = density.n_neighbors_
    near = graph.within(density.radius_) if k is None else graph.nearest(k)
    forest = peak_forest(near, values, order=order)
    links = link_sweep(forest, y)
    sweeps = {
        "max_link": links,
        "n_clusters": peak_sweep(peak_forest(graph, values, order=order), values, y),
        "min_prominence": prominence_sweep(forest, y),
        "min_density": core_sweep(forest, values, y),
    }
    for score in ("pairwise", "bcubed"):
        yield "hills", score, _cut(links, score, -1)
        for rule, sweep in sweeps.items():
            yield rule, score, _cut(sweep, score, int(np.argmax(getattr(sweep, score).f)))
    for threshold in np.unique(np.quantile(values, BORDER_QUANTILES)):
        labels = core_labels(near, values >= threshold, order, near)
        for score, scores in (("pairwise", pairwise_scores), ("bcubed", bcubed_scores)):
            found = scores(y, labels)
            n_clusters = int(labels.max()) + 1
            yield "min_density, border", score, _line(found.f, threshold, n_clusters)


def _cut(sweep, score, position):
    f = getattr(sweep, score).f
    return _line(f[position], sweep.thresholds[position], sweep.n_clusters[position])


def _line(f, threshold, n_clusters):
    """Thresholds beyond all values are written as null: JSON has no infinity."""
    shown = float(f"{threshold:.6g}") if np.isfinite(threshold) else None
    return {"f": round(100 * float(f), 2), "threshold": shown, "n_clusters": int(n_clusters)}


def _named(density):
    names = ("n_neighbors", "radius", "bandwidth")
    values = {name: getattr(density, name, None) for name in names}
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in values.items()
        if value not in (None, "auto")
    }


def _one_cluster(y):
    labels = np.zeros(len(y), int)
    return {
        "pairwise": round(100 * pairwise_scores(y, labels).f, 2),
        "bcubed": round(100 * bcubed_scores(y, labels).f, 2),
    }
