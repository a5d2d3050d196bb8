"""The table on LFW: every method at its published setting, and at the best of a grid."""

import time
from importlib.metadata import version

import numpy as np

from diffpeaks import NOISE
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks_paper.face_runs import score_line
from diffpeaks_paper.faces import load_faces, neighbors_of
from diffpeaks_paper.lfw_densities import ROWS, published_labels, published_setting, sweeps
from diffpeaks_paper.lfw_methods import METHODS

EXPERIMENT = "real faces"
GRAPH = "neighbour graph"
SCORES = {"pairwise": pairwise_scores, "bcubed": bcubed_scores}


def jobs(set, source, n_samples):
    """One for the graph, for each density with each clusterer, and for each method."""
    start = {"experiment": EXPERIMENT, "set": set, "source": source, "n_samples": n_samples}
    return [{**start, "method": method} for method in (GRAPH, *ROWS, *METHODS)]


def run(job, folder, work):
    faces = load_faces(job["set"], folder, job["source"], job["n_samples"], work)
    method = job["method"]
    if method == GRAPH:
        return _graph(faces)
    _ = faces.graph  # built or read before anything is timed
    return _density(faces, *ROWS[method]) if method in ROWS else _method(faces, METHODS[method])


def _graph(faces):
    """The search alone, though a kept graph serves the methods."""
    started = time.perf_counter()
    graph = neighbors_of(faces.X, faces.name)
    return {
        "search_seconds": round(time.perf_counter() - started, 2),
        "n_neighbors": graph.n_neighbors,
        "recall": graph.recall,
        "n_identities": len(np.unique(faces.y)),
    }


def _density(faces, clusterer, density):
    started = time.perf_counter()
    labels = published_labels(faces, clusterer, density)
    seconds = time.perf_counter() - started
    published = published_setting(clusterer, density)
    best, n_settings = {}, 0
    for setting, rule, sweep in sweeps(faces, clusterer, density):
        n_settings += 1
        for score in SCORES:
            scores = getattr(sweep, score)
            at = int(np.argmax(scores.f))
            threshold = sweep.thresholds[at]
            cut = {rule: float(f"{threshold:.4g}") if np.isfinite(threshold) else None}
            found = [part[at] for part in scores]
            _offer(best, score, score_line(found, {**setting, **cut}, sweep.n_clusters[at]))
    return {"published": _at(faces, published, labels, seconds), "best": best, "n_settings": n_settings}


def _method(faces, method):
    if method.compiles:
        method.labels(faces, **method.published)
    started = time.perf_counter()
    labels = method.labels(faces, **method.published)
    seconds = time.perf_counter() - started
    best = {score: _scored(faces, score, method.published, labels) for score in SCORES}
    others = [setting for setting in method.grid if setting != method.published]
    for setting in others:
        found = method.labels(faces, **setting)
        for score in SCORES:
            _offer(best, score, _scored(faces, score, setting, found))
    return {
        "published": _at(faces, method.published, labels, seconds),
        "best": best,
        "n_settings": 1 + len(others),
        "packages": {name: version(name) for name in method.packages},
    }


def _at(faces, setting, labels, seconds):
    """One labelling by both scores."""
    found = {score: _scored(faces, score, {}, labels) for score in SCORES}
    return {**found, "setting": setting, "seconds": round(seconds, 2)}


def _scored(faces, score, setting, labels):
    n_clusters = len(set(np.unique(labels)) - {NOISE})
    return score_line(SCORES[score](faces.y, labels), setting, n_clusters)


def _offer(best, score, line):
    if score not in best or line["f"] > best[score]["f"]:
        best[score] = line
