"""How like real faces generated ones are: sizes, distances, hubs and dimension, and how methods score."""

from pathlib import Path

import numpy as np

from diffpeaks import neighbor_graph
from diffpeaks.datasets import make_faces
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks_paper.definitions import DENSITIES, FACE_SETS
from diffpeaks_paper.faces import Faces, load_faces
from diffpeaks_paper.lfw_densities import published_labels
from diffpeaks_paper.lfw_methods import METHODS
from diffpeaks_paper.markdown import markdown_table
from diffpeaks_paper.sources import GENERATED

EXPERIMENT = "likeness"
REAL, ALIKE, PLAIN = "real", "generated, `LFW_LIKENESS`", "generated, by default"
_NEIGHBORS = 31  # the sample itself counted
_HUB_NEIGHBORS = 10
_QUANTILES = (0.01, 0.05, 0.5, 0.95)
_LOST = 0.3  # a cosine below which no image is taken for one of the same person
_PAIRS = 400_000
# at their published settings; those that take minutes are left to the table of all methods
SCORED = (
    *("HAC, single linkage", "ARO", "CDP", "kNN-DBSCAN", "Leiden", "Infomap", "FaceMap", "FC-ES"),
    "DensityPeaks()",
)


def jobs(set, source, n_samples):
    start = {"experiment": EXPERIMENT, "set": set, "source": source, "n_samples": n_samples}
    return [{**start, "faces": faces} for faces in (REAL, ALIKE, PLAIN)]


def run(job, folder, work):
    """The statistics of one set, and the scores of methods on it."""
    faces = _faces(job, folder, work)
    return {"statistics": statistics(faces.X, faces.y), "scores": _scores(faces)}


def _faces(job, folder, work):
    """The real faces, or as many generated ones of as many people."""
    name, n_samples = job["set"], job["n_samples"]
    if job["faces"] == ALIKE:
        return load_faces(name, folder, GENERATED, n_samples, work)
    real = load_faces(name, folder, job["source"], n_samples, work)
    if job["faces"] == REAL:
        return real
    once = float(np.mean(np.bincount(real.y)[real.y] == 1))
    X, y = make_faces(n_samples, len(np.unique(real.y)), real.X.shape[1], once, random_state=0)
    n_neighbors = FACE_SETS[name].n_neighbors
    return Faces(name, PLAIN, X, y, Path(work) / f"{name}-plain-{n_samples}-{n_neighbors}.graph")


def _scores(faces):
    """F_P and F_B of methods at their published settings."""
    labels = {method: METHODS[method].labels(faces, **METHODS[method].published) for method in SCORED}
    labels |= {f"DPC, {density}": published_labels(faces, "DPC", density) for density in DENSITIES}
    return {
        method: [round(100 * scores(faces.y, found).f, 2) for scores in (pairwise_scores, bcubed_scores)]
        for method, found in labels.items()
    }


def statistics(X, y):
    """By name, each a list of numbers."""
    graph = neighbor_graph(X, _NEIGHBORS, search="exact")
    indices, lengths = (values.reshape(len(X), -1) for values in (graph.indices, graph.distances))
    sizes = np.bincount(y)
    size, stranger = sizes[y], y[indices] != y[:, None]
    met = stranger.any(axis=1)
    nearest_stranger = lengths[met, np.argmax(stranger[met], axis=1)]
    several = sizes[sizes > 1]
    found = {
        "people seen once": [int(np.sum(sizes == 1))],
        "images of the others: median, 0.95, 0.99, most": [
            *np.quantile(several, (0.5, 0.95, 0.99)),
            several.max(),
        ],
        "share of images of people with 50 or more": [several[several >= 50].sum() / len(y)],
        "nearest distance, people seen once": _quantiles(lengths[size == 1, 1]),
        "nearest distance, 2 to 9 images": _quantiles(lengths[(size > 1) & (size < 10), 1]),
        "nearest distance, 10 or more": _quantiles(lengths[size >= 10, 1]),
        "nearest distance to someone else": _quantiles(nearest_stranger),
        **_cosines(X, y),
        **_hubs(indices),
        "intrinsic dimension": _dimension(lengths),
        "intrinsic dimension, people seen once": _dimension(lengths[size == 1]),
        "intrinsic dimension, 30 or more": _dimension(lengths[size >= 30]),
    }
    return {name: [float(f"{value:.4g}") for value in values] for name, values in found.items()}


def _quantiles(values):
    return np.quantile(values, _QUANTILES).tolist() if len(values) else []


def _cosines(X, y):
    """Of two images of one person, all pairs or 200 of them a person, and of random pairs of two people."""
    random = np.random.default_rng(0)
    within, n_lost, n_several = [], 0, 0
    order = np.argsort(y, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(y))[:-1]):
        if len(members) < 2:
            continue
        cosines = X[members] @ X[members].T
        pairs = cosines[np.triu_indices(len(members), 1)]
        within.append(pairs if len(pairs) <= 200 else random.choice(pairs, 200))
        np.fill_diagonal(cosines, -1)
        n_lost += int(np.sum(cosines.max(axis=1) < _LOST))
        n_several += len(members)
    first, second = random.integers(0, len(y), (2, _PAIRS))
    apart = y[first] != y[second]
    between = np.sum(X[first[apart]] * X[second[apart]], axis=1)
    return {
        "cosine of one person's images": _quantiles(np.concatenate(within)),
        "share of images of several that are like none of their person (cosines below 0.3)": [
            n_lost / max(n_several, 1)
        ],
        "cosine of two people: deviation, 0.99, 0.999, 0.9999": [
            between.std(),
            *np.quantile(between, (0.99, 0.999, 0.9999)),
        ],
    }


def _hubs(indices):
    """Of how often a sample is among the nearest ten of others."""
    listed = np.bincount(indices[:, 1 : _HUB_NEIGHBORS + 1].ravel(), minlength=len(indices)).astype(float)
    skewness = np.mean((listed - listed.mean()) ** 3) / listed.std() ** 3
    return {
        "lists of ten that hold a sample: skewness, most, share of none": [
            skewness,
            listed.max(),
            np.mean(listed == 0),
        ]
    }


def _dimension(lengths, n_neighbors=20):
    """The estimate of Levina and Bickel, its inverse averaged over samples; nothing without any."""
    ratios = lengths[:, n_neighbors : n_neighbors + 1] / np.maximum(lengths[:, 1:n_neighbors], 1e-9)
    return [1 / np.mean(np.log(ratios))] if len(lengths) else []


def likeness_table(records, set, source, n_samples):
    """A row for each statistic and for each method, a column for each set."""
    wanted = {"experiment": EXPERIMENT, "set": set, "source": source, "n_samples": n_samples}
    lines = {line["faces"]: line for line in records.of(**wanted)}
    rows = [
        [name, *(_shown(line["statistics"][name]) for line in lines.values())]
        for name in lines[REAL]["statistics"]
    ]
    scored = [
        [method, *(" / ".join(f"{score:.1f}" for score in line["scores"][method]) for line in lines.values())]
        for method in lines[REAL]["scores"]
    ]
    scored.append(["**mean difference from the real ones**", "", *_differences(lines)])
    note = (
        f"{n_samples:,} faces each. Four numbers without names are the quantiles 0.01, 0.05, 0.5 and 0.95. "
        "Distances are those between unit vectors, and dimensions from 20 neighbours. By default means that "
        "`make_faces` was given the number of features, of people and of those seen once, and nothing else."
    )
    parts = [
        markdown_table(["", *lines], rows),
        note,
        "F_P / F_B of methods at their published settings, as in the table of all methods:",
        markdown_table(["method", *lines], scored),
    ]
    return "\n\n".join(parts) + "\n"


def _differences(lines):
    """How far the scores of each generated set are from the real ones, on average over methods."""
    real = np.array(list(lines[REAL]["scores"].values()))
    for faces, line in lines.items():
        if faces != REAL:
            apart = np.abs(np.array(list(line["scores"].values())) - real).mean(axis=0)
            yield " / ".join(f"{value:.1f}" for value in apart)


def _shown(values):
    return ", ".join(f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values)
