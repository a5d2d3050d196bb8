"""Models whose predictions are tested: every density, every cut."""

import numpy as np
from clouds import general_position
from sklearn.base import clone

from diffpeaks import KernelDiffusion, LocalContrast, NaiveDensity, SharedNeighborDensity

X = general_position(0, 90)
NEW = general_position(1, 70) + 0.3
DENSITIES = [
    None,
    KernelDiffusion(n_neighbors=3),
    KernelDiffusion(n_neighbors=3, steps=np.inf),
    KernelDiffusion(n_neighbors=2, radius=1.5, steps=2, teleport=0.1),
    KernelDiffusion(radius=1.5, kernel="uniform"),
    NaiveDensity(radius=1.0),
    LocalContrast(radius=1.5, n_neighbors=3),
    SharedNeighborDensity(n_neighbors=3, min_shared=2),
]
CUTS = [{}, {"n_clusters": 2}, {"max_link": 1.5}, {"min_prominence": 0.1}, {"n_clusters": 1, "max_link": 0.5}]


def fits(density, cut, X):
    """Whether the density can be had of so few samples."""
    n_neighbors = getattr(density, "n_neighbors", "auto")
    return len(X) >= max(cut.get("n_clusters", 1), 1 if n_neighbors == "auto" else n_neighbors)


def fitted(model, X):
    """The fitted model, or None where a rule refuses these samples."""
    try:
        return clone(model).fit(X)
    except ValueError as error:
        if "may be peaks" not in str(error):
            raise
        return None


def assert_is_the_fit(model, X, labels=None):
    np.testing.assert_array_equal(model.predict(X), model.labels_ if labels is None else labels)
