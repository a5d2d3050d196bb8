"""Each system as a function from points to labels: its defaults, and nothing else.

The number of threads is given where there is a parameter for it and is in the environment besides. A seed is
given only where it changes nothing but the draw. Only the packages of the system asked for are imported.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

BASE_PACKAGES = ("diffpeaks", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class System:
    labels: Callable  # (X, n_classes, n_threads) -> labels; -1 is noise
    packages: tuple = ()  # beyond the base

    def versions(self):
        return {name: version(name) for name in (*BASE_PACKAGES, *self.packages)}


def diffpeaks(X, n_classes, n_threads):
    from diffpeaks import DensityPeaks

    return DensityPeaks(n_jobs=n_threads).fit_predict(X)


def hdbscan(X, n_classes, n_threads):
    from hdbscan import HDBSCAN

    return HDBSCAN(core_dist_n_jobs=n_threads).fit_predict(X)


def sklearn_hdbscan(X, n_classes, n_threads):
    from sklearn.cluster import HDBSCAN

    # copy is about the memory of X only, and its default is about to change
    return HDBSCAN(n_jobs=n_threads, copy=True).fit_predict(X)


def fast_hdbscan(X, n_classes, n_threads):
    from fast_hdbscan import HDBSCAN

    return HDBSCAN().fit_predict(X)


def evoc(X, n_classes, n_threads):
    from evoc import EVoC

    return EVoC().fit_predict(X)  # a seed would choose other, slower code


def optics(X, n_classes, n_threads):
    from sklearn.cluster import OPTICS

    return OPTICS().fit_predict(X)  # it queries point by point: handing them to two jobs costs it far more


def leiden(X, n_classes, n_threads):
    from diffpeaks.baselines import Leiden

    return Leiden(n_jobs=n_threads).fit_predict(X)


def infomap(X, n_classes, n_threads):
    from diffpeaks.baselines import Infomap

    return Infomap(n_jobs=n_threads).fit_predict(X)


def infomap_levels(X, n_classes, n_threads):
    """The package's own default on the same links: as many levels as pay, of which the top one is taken."""
    import infomap
    import numpy as np
    import scipy.sparse as sp

    from diffpeaks import neighbor_graph
    from diffpeaks.graph import csr

    graph = neighbor_graph(X, 15, n_jobs=n_threads)
    links = csr(graph, np.ones(len(graph.indices)))
    pairs = sp.triu(links.maximum(links.T), k=1, format="csr")
    network = infomap.Network.from_scipy_sparse_matrix(pairs, directed=False)
    modules = infomap.run(network).modules()
    return np.array([modules[sample] for sample in range(graph.n_samples)])


def dadapy(X, n_classes, n_threads):
    from dadapy import Data

    data = Data(X, n_jobs=n_threads)
    data.compute_distances()
    return data.compute_clustering_ADP()


def k_means(X, n_classes, n_threads):
    from sklearn.cluster import KMeans

    return KMeans(n_classes, random_state=0).fit_predict(X)


SYSTEMS = {
    "diffpeaks": System(diffpeaks),
    "hdbscan": System(hdbscan, ("hdbscan",)),
    "scikit-learn HDBSCAN": System(sklearn_hdbscan),
    "fast_hdbscan": System(fast_hdbscan, ("fast-hdbscan", "numba", "pynndescent")),
    "EVoC": System(evoc, ("evoc", "numba")),
    "OPTICS": System(optics),
    "Leiden": System(leiden, ("igraph", "leidenalg")),
    "Infomap": System(infomap, ("infomap",)),
    "Infomap, levels": System(infomap_levels, ("infomap",)),
    "DADApy ADP": System(dadapy, ("dadapy",)),
    "k-means, true k": System(k_means),
}


def check_installed(names):
    """Refuse before the work: a package that is not there is no result of its system."""
    missing = []
    for package in sorted({package for name in names for package in SYSTEMS[name].packages}):
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(package)
    if missing:
        raise SystemExit(f"{', '.join(missing)} not installed; pip install 'diffpeaks[clusterers]'")
