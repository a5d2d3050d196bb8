"""The supervised methods of tables 2 and 3 and of the table on LFW: how each is trained, and on whom.

No one who is trained on is tested on. A run chooses its settings on those who were trained on, never on
the tested.
"""

import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diffpeaks import NOISE, NeighborGraph
from diffpeaks.datasets import load_learn_to_cluster, unit_rows
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks_paper.face_baselines import cosine_graph
from diffpeaks_paper.face_runs import score_line
from diffpeaks_paper.faces import load_faces, neighbors_of
from diffpeaks_paper.lfw_methods import METHODS, grid_of
from diffpeaks_paper.sources import GENERATED

ON_SETS = "supervised faces"
ON_HALVES = "real faces, half of the people"
TRAIN_SEED = 1  # of generated faces of other identities; that of the tested ones is 0
WEIGHTS = "the authors' weights"
TRAIN_FILES = "part0_train"  # the authors' own training set
BESIDE = ("CDP", "Infomap", "DensityPeaks()")  # unsupervised methods on the same half
SCORES = {"pairwise": pairwise_scores, "bcubed": bcubed_scores}


class Part(NamedTuple):
    """Faces of some people."""

    X: np.ndarray
    y: np.ndarray
    graph: NeighborGraph


@dataclass(frozen=True)
class Learned:
    """A class of `diffpeaks.baselines.learned`, its published setting, and others to choose from."""

    kind: str
    published: dict
    grid: tuple
    on_sets: dict = field(default_factory=dict)  # parameters where there are many samples to learn from
    on_halves: dict = field(default_factory=dict)  # and where there are few

    def model(self, params):
        from diffpeaks.baselines import learned  # torch is imported only where it runs

        return getattr(learned, self.kind)(**params)

    def with_weights(self, folder):
        from diffpeaks.baselines import learned

        return getattr(learned, self.kind).from_published(folder)


_SIMILARITIES = grid_of(min_similarity=(0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85))
_THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)
LEARNED = {
    "L-GCN": Learned(
        "LGCN",
        {"step": 0.6},
        grid_of(step=(0.6,)),
        on_sets={"n_epochs": 1},
        on_halves={"n_neighbors": 20, "n_second": 5, "n_links": 5},
    ),
    "LTC": Learned(
        "LTC",
        {"thresholds": _THRESHOLDS[6:]},
        grid_of(thresholds=tuple(_THRESHOLDS[start : start + 4] for start in (0, 2, 4, 6))),
        on_sets={"n_epochs": 5},
    ),
    "GCN-V": Learned("GCNV", {"min_similarity": 0.8}, _SIMILARITIES, on_sets={"n_epochs": 5}),
    "GCN-V+E": Learned(
        "GCNVE", {"min_similarity": 0.8}, _SIMILARITIES, on_sets={"n_epochs": 5, "n_link_epochs": 1}
    ),
}


def trained_on(set, source, folder):
    """What the methods can be trained on for a set of tables 2 and 3: None where there is nothing."""
    if source == GENERATED:
        return GENERATED
    place = Path(folder) / set
    if set != "ms1m":
        return None
    if (place / "pretrained_models").is_dir():
        return WEIGHTS
    return TRAIN_FILES if (place / "features" / f"{TRAIN_FILES}.bin").is_file() else None


def set_jobs(set, source, n_samples, folder):
    """One for each method of tables 2 and 3, where there is something to train it on."""
    teacher = trained_on(set, source, folder)
    start = {"experiment": ON_SETS, "set": set, "source": source, "n_samples": n_samples}
    return [{**start, "method": method, "trained_on": teacher} for method in LEARNED if teacher]


def half_jobs(set, source, n_samples, folder=None):
    """One for each supervised method, and for some others, on half of the people of LFW."""
    start = {"experiment": ON_HALVES, "set": set, "source": source, "n_samples": n_samples}
    return [{**start, "method": method} for method in (*LEARNED, *BESIDE)]


def run_on_set(job, folder, work):
    faces = load_faces(job["set"], folder, job["source"], job["n_samples"], work)
    tested = Part(faces.X, faces.y, cosine_graph(faces.graph))
    method = LEARNED[job["method"]]
    if job["trained_on"] == WEIGHTS:
        model = method.with_weights(Path(folder) / job["set"] / "pretrained_models")
        found = _tested(_Asked(model), tested, method.published, (method.published,), None)
        return {"recall": round(faces.graph.recall, 4), **found, **_ran_on(model)}
    trained = _training_part(job["set"], job["trained_on"], folder, job["n_samples"], work)
    found = _trained_and_tested(method.model(method.on_sets), method, trained, tested)
    return {"recall": round(faces.graph.recall, 4), **found}


def run_on_half(job, folder, work):
    faces = load_faces(job["set"], folder, job["source"], job["n_samples"], work)
    trained, tested = halves(faces)
    name = job["method"]
    if name in BESIDE:
        method = METHODS[name]
        grid = [method.published, *(setting for setting in method.grid if setting != method.published)]
        return _tested(method.labels, tested, method.published, grid, trained)
    method = LEARNED[name]
    trained, tested = (part._replace(graph=cosine_graph(part.graph)) for part in (trained, tested))
    return _trained_and_tested(method.model(method.on_halves), method, trained, tested)


def halves(faces):
    """Faces of one half of the people, drawn at random, and of the other half."""
    people = np.random.default_rng(0).permutation(np.unique(faces.y))
    is_first = np.isin(faces.y, people[: len(people) // 2])
    return tuple(_part(faces.X[chosen], faces.y[chosen], faces.name) for chosen in (is_first, ~is_first))


def _part(X, y, name):
    return Part(X, y, neighbors_of(X, name))


def _training_part(name, teacher, folder, n_samples, work):
    """As many generated faces as are tested, or the whole of a file."""
    if teacher == TRAIN_FILES:
        X, y = load_learn_to_cluster(Path(folder) / name, TRAIN_FILES)[:2]
        part = _part(unit_rows(X), y, name)
    else:
        part = load_faces(name, folder, GENERATED, n_samples, work, random_state=TRAIN_SEED)
    return Part(part.X, part.y, cosine_graph(part.graph))


def _trained_and_tested(model, method, trained, tested):
    started = time.perf_counter()
    model.fit(trained.X, trained.y, trained.graph)
    train_seconds = time.perf_counter() - started
    return {
        "n_trained": len(trained.y),
        "n_identities_trained": len(np.unique(trained.y)),
        "train_seconds": round(train_seconds, 1),
        **_tested(_Asked(model), tested, method.published, method.grid, trained),
        **_ran_on(model),
    }


def _tested(labels_of, tested, published, grid, trained):
    """The published setting, and that of the best F_B on those who were trained on."""
    chosen = published
    if len(grid) > 1:
        chosen = max(grid, key=lambda setting: bcubed_scores(trained.y, labels_of(trained, **setting)).f)
    started = time.perf_counter()
    labels = labels_of(tested, **published)
    found = {
        "cluster_seconds": round(time.perf_counter() - started, 1),
        "n_tested": len(tested.y),
        "n_identities_tested": len(np.unique(tested.y)),
        "published": _scored(tested, published, labels),
    }
    if chosen == published:
        return {**found, "chosen": found["published"]}
    return {**found, "chosen": _scored(tested, chosen, labels_of(tested, **chosen))}


class _Asked:
    """Labels by a model; where only links are cut otherwise, its networks are asked once for all settings."""

    def __init__(self, model):
        self._model, self._last = model, None

    def __call__(self, part, **setting):
        model = self._model
        if part is self._last and hasattr(model, "recut"):
            return model.recut(**setting)
        self._last = part
        return model.set_params(**setting).cluster(part.X, part.graph)


def _ran_on(model):
    """Of the line: a CPU is named by the machine that ran it."""
    device = model.device_.type
    gpu = {"gpu": _gpu_name()} if device == "cuda" else {}
    return {"device": device, **gpu, "packages": {"torch": version("torch")}}


def _gpu_name():
    import torch

    return torch.cuda.get_device_name()


def _scored(part, setting, labels):
    """One labelling by both scores, with its setting."""
    n_clusters = len(set(np.unique(labels)) - {NOISE})
    lines = {score: score_line(found(part.y, labels), {}, n_clusters) for score, found in SCORES.items()}
    return {**lines, "setting": setting}
