"""The six densities on LFW, with density peaks and with DBSCAN: published settings, and sweeps over grids."""

import numpy as np

from diffpeaks import ConvergenceError
from diffpeaks.cuts.linking import core_labels
from diffpeaks.forest.peaks import density_order, peak_forest, peak_labels
from diffpeaks.results.sweeps import core_sweep, link_sweep
from diffpeaks_paper.definitions import DENSITIES, FACE_BANDWIDTH, FACE_RADIUS
from diffpeaks_paper.face_runs import density_of
from diffpeaks_paper.lfw_methods import grid_of

CLUSTERERS = ("DPC", "DBSCAN")
ROWS = {f"{clusterer}, {density}": (clusterer, density) for clusterer in CLUSTERERS for density in DENSITIES}
MIN_DENSITY = 1  # the library's default for a density that is given
CHOSEN = {
    "DPC": "no bound of links is published: the radius is taken",
    "DBSCAN": "no threshold is published: the library's default is taken",
}
_PUBLISHED = {"radius": FACE_RADIUS, "n_neighbors": 200, "bandwidth": FACE_BANDWIDTH}
_RADII = (0.7, 0.8, 0.9, 1.0, 1.1)
_NEIGHBORS = (10, 20, 40, 80, 200)
_BANDWIDTHS = (0.2, 0.5, 1.0)


def _parameters(density):
    """Those that a density has."""
    if density == "naive":
        return ("radius",)
    if density == "lc":
        return ("radius", "n_neighbors")
    return ("n_neighbors" if density.endswith("-asym") else "radius", "bandwidth")


def published_setting(clusterer, density):
    """That of the paper on MS1M."""
    setting = {name: _PUBLISHED[name] for name in _parameters(density)}
    return {**setting, **({"max_link": FACE_RADIUS} if clusterer == "DPC" else {"min_density": MIN_DENSITY})}


def published_labels(faces, clusterer, density):
    """Labels at the setting of the paper."""
    setting = {name: _PUBLISHED[name] for name in _parameters(density)}
    values, order = _fitted(faces, density, setting)
    if clusterer == "DPC":
        forest = peak_forest(_lists(faces, setting), values, order=order)
        return peak_labels(forest, np.flatnonzero(~(forest.delta < FACE_RADIUS)))
    return core_labels(faces.graph.up_to(FACE_RADIUS), values >= MIN_DENSITY, order)


def sweeps(faces, clusterer, density):
    """(setting, sweep) for every setting of the grid; a limit that does not exist in floats is left out."""
    values_of = {"radius": _RADII, "n_neighbors": _NEIGHBORS, "bandwidth": _BANDWIDTHS}
    for setting in grid_of(**{name: values_of[name] for name in _parameters(density)}):
        try:
            values, order = _fitted(faces, density, setting)
        except ConvergenceError:
            continue
        if clusterer == "DPC":
            forest = peak_forest(_lists(faces, setting), values, order=order)
            yield setting, "max_link", link_sweep(forest, faces.y)
            continue
        for radius in _RADII if "radius" not in setting else (setting["radius"],):
            forest = peak_forest(faces.graph.up_to(radius), values, order=order)
            yield {**setting, "radius": radius}, "min_density", core_sweep(forest, values, faces.y)


def _fitted(faces, density, setting):
    """The density of each sample, and the samples from the densest on."""
    fitted = density_of(faces.graph, density, **setting)
    return fitted.density_, density_order(fitted.density_, fitted.tie_break)


def _lists(faces, setting):
    """Where a denser sample is looked for: among the neighbours of the density, or in whole lists."""
    return faces.graph.nearest(setting.get("n_neighbors", _PUBLISHED["n_neighbors"]))
