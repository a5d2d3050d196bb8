"""What a clusterer takes as `density`: an estimator, a name of the paper, values, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from diffpeaks._base.validation import some_of
from diffpeaks.density.base import DensityClusterer, GraphDensity, Needs, resolved_n_neighbors
from diffpeaks.density.counting import LocalContrast, NaiveDensity
from diffpeaks.density.kernel_diffusion import KernelDiffusion
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import GivenGraph, PointSet

PAPER_DENSITIES: dict[str, Callable[[], GraphDensity]] = {
    "naive": NaiveDensity,
    "lc": LocalContrast,
    "kd-sym": lambda: KernelDiffusion(radius="auto", bandwidth="median", steps=np.inf),
    "kd-asym": lambda: KernelDiffusion(bandwidth="median", steps=np.inf),
    "fkd-sym": lambda: KernelDiffusion(radius="auto", bandwidth="median"),
    "fkd-asym": lambda: KernelDiffusion(bandwidth="median"),
}


class GivenDensity(GraphDensity):
    """A density that is given as values, or as a function of the graph."""

    known_at_new_samples = False
    knows_weights = False

    def __init__(
        self,
        source: Any = None,
        n_neighbors: int | str = "auto",
        metric: str | Callable[..., float] | None = None,
    ) -> None:
        self.source = source
        self.n_neighbors = n_neighbors
        self.metric = metric

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        return Needs(resolved_n_neighbors(self.n_neighbors, points))

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        values = self.source(graph) if callable(self.source) else self.source
        return check_density(values, graph.n_samples)

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        raise ValueError(
            "a density given as values or as a function of the graph is not known at new samples; use "
            "KernelDiffusion, NaiveDensity or LocalContrast"
        )


def named_density(density: Any, clusterer: DensityClusterer) -> GraphDensity:
    """A new estimator for what a clusterer was given as density."""
    if isinstance(density, GraphDensity):
        return clone(density)
    if isinstance(density, str):
        if density not in PAPER_DENSITIES:
            raise ValueError(f"density={density!r} is unknown; use one of {list(PAPER_DENSITIES)}")
        return PAPER_DENSITIES[density]()
    if isinstance(density, type):
        raise TypeError(f"density is the class {density.__name__}; give an instance, {density.__name__}()")
    if callable(density) or np.ndim(density) == 1:
        return GivenDensity(density, clusterer.n_neighbors, clusterer.metric)
    raise TypeError(
        f"density has shape {np.shape(density)}; it must be an estimator like KernelDiffusion(), a name in "
        f"{list(PAPER_DENSITIES)}, one value for each sample, or a function of the graph"
    )


def check_density(density: Any, n_samples: int) -> NDArray[np.float64]:
    """One finite, non-negative value for each sample."""
    values = np.asarray(density)
    if values.shape != (n_samples,):
        raise ValueError(
            f"density has shape {values.shape}, but there are {n_samples} samples; "
            f"give one value for each sample, shape ({n_samples},)"
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(f"density must be real numbers, got an array of dtype {values.dtype}")
    values = values.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(
            f"density must be finite and not negative; it is {values[bad[0]]} at sample {bad[0]} "
            f"(samples {some_of(bad)}); shift or exponentiate scores that can be negative"
        )
    return values
