"""The methods of the table on LFW: for each a published setting, a grid around it, and how it is run.

Lengths are those between unit vectors, but for baselines on cosines, which take 1 - cosine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.baselines import (
    ARO,
    BASELINES,
    CDP,
    FCES,
    KNNDBSCAN,
    FaceMap,
    Infomap,
    Leiden,
    SingleLinkage,
)
from diffpeaks_paper.face_baselines import cosine_graph

LENGTHS = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1)
_NO_BOUND = None  # of a cosine distance, in a file of JSON


@dataclass(frozen=True)
class Method:
    """A function of faces and a setting to labels, the setting that its authors publish, and others.

    Where a setting has parts that nobody published for faces, `chosen` says how they were taken.
    """

    labels: Callable
    published: dict
    grid: tuple
    chosen: str = ""
    packages: tuple = ()  # that the line names the versions of
    on_points: bool = False  # seconds are those of a whole fit, and not those after the graph
    compiles: bool = False  # on its first call, which is not counted


def grid_of(**values):
    """Every combination of the values."""
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


def on_lists(kind, faces, **setting):
    """A method on lengths between unit vectors."""
    return kind(**setting, metric="precomputed").fit_predict(faces.graph)


def on_cosines(kind, faces, max_distance=_NO_BOUND, **setting):
    """A method on 1 - cosine."""
    if kind in (Infomap, Leiden):
        setting["max_distance"] = np.inf if max_distance is _NO_BOUND else max_distance
        setting["weights"] = "cosine"
    return kind(**setting, metric="precomputed").fit_predict(cosine_graph(faces.graph))


def _with_share(name, faces, share, **setting):
    """A method that is told the number of clusters: a share of the true one."""
    n_clusters = round(share * len(np.unique(faces.y)))
    return BASELINES[name](n_clusters, **setting).fit_predict(faces.X)


def _hdbscan(faces, min_cluster_size):
    return BASELINES["hdbscan"](min_cluster_size).fit_predict(faces.X)


def _evoc(faces, base_min_cluster_size):
    from evoc import EVoC

    return EVoC(base_min_cluster_size=base_min_cluster_size).fit_predict(faces.X)


def _density_peaks(faces, max_link=None, min_prominence=None):
    """The default, or another cut of the same fit."""
    model = DensityPeaks(random_state=0).fit(faces.X)
    given = {"max_link": max_link, "min_prominence": min_prominence}
    given = {name: value for name, value in given.items() if value is not None}
    return model.recut(**given) if given else model.labels_


def _density_dbscan(faces, min_density="auto"):
    return DensityDBSCAN(min_density=min_density).fit_predict(faces.X)


_SHARES = grid_of(share=(0.8, 0.9, 1.0, 1.1))
_TOLD = "the true number of people is given"

METHODS = {
    "k-means": Method(
        partial(_with_share, "k-means", n_init=1), {"share": 1.0}, _SHARES, _TOLD, on_points=True
    ),
    "k-means, mini-batches": Method(
        partial(_with_share, "mini-batch-k-means"), {"share": 1.0}, _SHARES, _TOLD, on_points=True
    ),
    "HAC, Ward": Method(partial(_with_share, "ward"), {"share": 1.0}, _SHARES, _TOLD, on_points=True),
    "HAC, single linkage": Method(
        partial(on_lists, SingleLinkage, n_neighbors=256),
        {"max_distance": 0.72},
        grid_of(max_distance=LENGTHS),
    ),
    "ARO": Method(
        partial(on_lists, ARO),
        {"n_neighbors": 80, "max_distance": 1.0},
        grid_of(n_neighbors=(20, 80, 200), max_distance=(0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0)),
        "no threshold is published",
    ),
    "CDP": Method(
        partial(on_cosines, CDP),
        {"min_similarity": 0.7},
        grid_of(min_similarity=(0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.66, 0.7)),
    ),
    "kNN-DBSCAN": Method(
        partial(on_lists, KNNDBSCAN, n_neighbors=80),
        {"radius": 0.7071, "min_samples": 1},
        grid_of(radius=LENGTHS, min_samples=(1, 2, 5)),
    ),
    "HDBSCAN": Method(
        _hdbscan,
        {"min_cluster_size": 5},
        grid_of(min_cluster_size=(2, 3, 5)),
        "the library's default",
        ("scikit-learn",),
        on_points=True,
    ),
    "EVoC": Method(
        _evoc,
        {"base_min_cluster_size": 5},
        grid_of(base_min_cluster_size=(2, 3, 5)),
        "the library's default",
        ("evoc", "numba"),
        on_points=True,
        compiles=True,
    ),
    "Leiden": Method(
        partial(on_cosines, Leiden),
        {"n_neighbors": 15, "max_distance": _NO_BOUND, "resolution": 1.0},
        grid_of(n_neighbors=(15, 50), max_distance=(_NO_BOUND, 0.6, 0.5, 0.42), resolution=(1.0, 5.0, 25.0)),
        "the library's default",
        ("leidenalg", "igraph"),
    ),
    "Infomap": Method(
        partial(on_cosines, Infomap),
        {"n_neighbors": 50, "max_distance": 0.42, "directed": True},
        grid_of(
            n_neighbors=(15, 50, 80),
            max_distance=(_NO_BOUND, 0.6, 0.55, 0.5, 0.46, 0.42, 0.3),
            directed=(True, False),
        ),
        packages=("infomap",),
    ),
    "FaceMap": Method(
        partial(on_cosines, FaceMap),
        {"n_neighbors": 256, "window": 20},
        grid_of(n_neighbors=(40, 80, 160, 256), window=(1, 2, 5, 10, 20)),
        packages=("infomap",),
    ),
    "FC-ES": Method(
        partial(on_cosines, FCES),
        {"n_neighbors": 80, "min_shared": 0.22, "bandwidth": 0.5},
        grid_of(
            n_neighbors=(20, 40, 80),
            min_shared=(0.22, 0.3, 0.35, 0.4, 0.45, 0.5),
            bandwidth=(0.1, 0.2, 0.5),
        ),
        packages=("infomap",),
    ),
    "DensityDBSCAN()": Method(
        _density_dbscan,
        {},
        grid_of(min_density=(0.2, 0.4, 0.6, 0.8, 1.0)),
        "the library's default",
        on_points=True,
    ),
    "DensityPeaks()": Method(
        _density_peaks,
        {},
        grid_of(max_link=(0.9, 0.95, 1.0, 1.02, 1.05, 1.1), min_prominence=(0.3, 0.6, 0.85, 1.2)),
        "the library's default",
        on_points=True,
    ),
}
