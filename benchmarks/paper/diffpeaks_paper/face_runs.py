"""Tables 2 and 3 and figures 2 and 3: densities and baselines on one neighbour graph of faces."""

import numpy as np

from diffpeaks import (
    NOISE,
    ConvergenceError,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    NeighborGraph,
)
from diffpeaks.forest.peaks import density_order, peak_forest
from diffpeaks.metrics import bcubed_scores, pairwise_scores
from diffpeaks.recipes import DEFAULT, FACES
from diffpeaks.results.sweeps import link_sweep
from diffpeaks_paper.definitions import (
    DENSITIES,
    FACE_BANDWIDTH,
    FACE_NEIGHBORS,
    FACE_RADIUS,
    SENSITIVITY,
)
from diffpeaks_paper.face_baselines import BASELINES
from diffpeaks_paper.faces import ball_graph, load_faces

METHODS = "faces"
OURS = {"DensityPeaks()": DEFAULT, "DensityPeaks(recipe=FACES)": FACES}
SENSITIVITIES = "sensitivity"
_CURVE_POINTS = 200


def method_jobs(set, source, n_samples):
    """One for each density, for the library's default and its recipe for faces, and for each baseline."""
    methods = [*DENSITIES, *OURS, *BASELINES]
    start = {"experiment": METHODS, "set": set, "source": source, "n_samples": n_samples}
    return [{**start, "method": method} for method in methods]


def sensitivity_jobs(set, source, n_samples):
    """One for each value of each parameter that varies."""
    start = {"experiment": SENSITIVITIES, "set": set, "source": source, "n_samples": n_samples}
    return [
        {**start, "method": density, "parameter": parameter, "value": value}
        for parameter, (densities, values) in SENSITIVITY.items()
        for density in densities
        for value in values
    ]


def run(job, folder, work):
    faces = load_faces(job["set"], folder, job["source"], job["n_samples"], work)
    method = job["method"]
    start = {"recall": round(faces.graph.recall, 4)}
    if method in DENSITIES:
        varied = {job["parameter"]: job["value"]} if "parameter" in job else {}
        try:
            sweep = _density_sweep(faces, method, **varied)
        except ConvergenceError as error:
            return {**start, "without_limit": str(error)}
        curve = {} if varied else {"curve": _curve(sweep)}
        return {**start, **_best_of_sweep(sweep), **curve}
    if method in OURS:
        model = DensityPeaks(random_state=0, recipe=OURS[method]).fit(faces.X)
        chosen = {name: float(f"{getattr(model.cut_, name):.4g}") for name in ("max_link", "min_prominence")}
        return {**start, **_scored(faces.y, [(chosen, model.labels_)])}
    return {**start, **_scored(faces.y, BASELINES[method](faces))}


def density_of(
    graph, name, radius=FACE_RADIUS, n_neighbors=FACE_NEIGHBORS, bandwidth=FACE_BANDWIDTH, balls=None
):
    """A density by its name, fitted on lists of neighbours; balls are cut from the same lists."""
    if name in ("naive", "lc"):
        # the lists as they are: beyond them the protocol knows nothing
        lists = NeighborGraph(graph.indptr, graph.indices, graph.distances, graph.n_neighbors, radius)
        estimator = NaiveDensity(radius) if name == "naive" else LocalContrast(radius, n_neighbors)
        return estimator.set_params(metric="precomputed").fit(lists)
    steps = float("inf") if name.startswith("kd") else 1
    estimator = KernelDiffusion(bandwidth=bandwidth, steps=steps, metric="precomputed")
    if name.endswith("-asym"):
        return estimator.set_params(n_neighbors=n_neighbors).fit(graph)
    return estimator.set_params(radius=radius).fit(ball_graph(graph, radius) if balls is None else balls)


def _density_sweep(faces, name, **varied):
    """Every `max_link`: samples are linked to the nearest denser one in their list of neighbours."""
    density = density_of(faces.graph, name, **varied)
    graph = faces.graph.nearest(varied.get("n_neighbors", FACE_NEIGHBORS))
    forest = peak_forest(graph, density.density_, order=density_order(density.density_, density.tie_break))
    return link_sweep(forest, faces.y)


def _best_of_sweep(sweep):
    best = {}
    for score in ("pairwise", "bcubed"):
        scores = getattr(sweep, score)
        at = int(np.argmax(scores.f))
        threshold = sweep.thresholds[at]
        setting = {"max_link": float(f"{threshold:.4g}")} if np.isfinite(threshold) else {}
        best[score] = score_line([part[at] for part in scores], setting, sweep.n_clusters[at])
    return best


def _curve(sweep):
    """Precision and recall along the sweep, thinned evenly in recall."""
    curve = {}
    for score in ("pairwise", "bcubed"):
        precision, recall, _ = getattr(sweep, score)
        wanted = np.linspace(recall[0], recall[-1], _CURVE_POINTS)
        at = np.unique(np.searchsorted(recall, wanted).clip(max=len(recall) - 1))
        curve[score] = {
            "precision": np.round(100 * precision[at], 2).tolist(),
            "recall": np.round(100 * recall[at], 2).tolist(),
        }
    return curve


def _scored(y, settings):
    """The best of some labellings, by each score."""
    best = {}
    for setting, labels in settings:
        n_clusters = len(set(np.unique(labels)) - {NOISE})
        for score, scores in (("pairwise", pairwise_scores), ("bcubed", bcubed_scores)):
            line = score_line(scores(y, labels), setting, n_clusters)
            if score not in best or line["f"] > best[score]["f"]:
                best[score] = line
    return best


def score_line(scores, setting, n_clusters):
    precision, recall, f = (round(100 * float(part), 2) for part in scores)
    return {"precision": precision, "recall": recall, "f": f, "n_clusters": int(n_clusters), **setting}
