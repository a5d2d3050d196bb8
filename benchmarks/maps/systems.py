"""How each system makes a map, and its own process: systems.py SYSTEM POINTS PLACES THREADS.

Prints seconds as JSON: `first_seconds` from before the import, `seconds` of the same once more, and of
diffpeaks `map_seconds`, the part of that after the fit.
"""

import json
import sys
import time
import warnings

import numpy as np


def of_fit(how):
    def make(X, n_threads):
        from diffpeaks import DensityPeaks
        from diffpeaks.maps import map_coordinates

        model = DensityPeaks(n_jobs=n_threads).fit(X)
        fitted = time.perf_counter()
        places = map_coordinates(model, how)
        return places, {"map_seconds": round(time.perf_counter() - fitted, 2)}

    return make


def umap(X, n_threads):
    from umap import UMAP

    return UMAP(n_jobs=n_threads).fit_transform(X), {}


def open_tsne(X, n_threads):
    """Its descent along the walk of our map, on the graph of the same fit, from its own spectral start."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PrecomputedAffinities
    from openTSNE.initialization import spectral

    from diffpeaks import DensityPeaks
    from diffpeaks.maps.layout import walk_both_ways

    model = DensityPeaks(n_jobs=n_threads).fit(X)
    graph = model.density_estimator_.graph_
    affinities = PrecomputedAffinities(walk_both_ways(graph).astype(np.float64) / graph.n_samples)
    start = spectral(affinities.P, random_state=0)
    places = TSNEEmbedding(start, affinities, negative_gradient_method="fft", n_jobs=n_threads)
    places = places.optimize(250, exaggeration=12, momentum=0.8)
    places = np.asarray(places.optimize(500, momentum=0.8))
    return model._landscape.distinct.of_samples(places), {}


SYSTEMS = {"graph": of_fit("graph"), "pca": of_fit("pca"), "umap": umap, "opentsne": open_tsne}


def main(system, points, places, n_threads):
    X = np.load(points)
    warnings.simplefilter("ignore")
    found = {}
    for name in ("first_seconds", "seconds"):
        start = time.perf_counter()
        made, parts = SYSTEMS[system](X, int(n_threads))
        found |= {name: round(time.perf_counter() - start, 2), **parts}
    np.save(places, made)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
