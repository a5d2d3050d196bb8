"""The density of the paper: mass of a random walk after some steps, or in the limit."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.sklearn_parts import Interval, Options, StrOptions
from diffpeaks.density.base import (
    N_NEIGHBORS,
    OWN_SEARCH_CONSTRAINTS,
    GraphDensity,
    Needs,
    resolved_n_neighbors,
    resolved_radius,
)
from diffpeaks.density.counting import RADIUS
from diffpeaks.density.limit import limit, reversible_limit
from diffpeaks.density.walk import (
    KERNELS,
    Bandwidth,
    Kernel,
    Walk,
    diffuse,
    row_weights,
    self_tuning_bandwidth,
    walk_on,
    walked_density,
)
from diffpeaks.graph import NeighborGraph
from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors import GivenGraph, PointSet


class KernelDiffusion(GraphDensity):
    """Density of a random walk after some steps; its mean is one.

    One step is the paper's FKD, `steps=float("inf")` its KD. With a `radius` the kernel is symmetric and
    limited to a ball. Without one it is asymmetric and limited to the nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Neighbours of the asymmetric kernel, the sample itself included; "auto" is 2 log2(n). With a
        radius they only set the scale of `bandwidth="local"` and of `radius="auto"`.
    radius : float, "auto" or None
        Ball of the symmetric kernel; "auto" is the median distance to the `n_neighbors`-th neighbour.
    bandwidth : float, "median" or "local"
        The h of exp(-d^2 / h). "median" is the median squared distance between neighbours. "local"
        gives each sample its own: the squared distance to its last neighbour, or with a radius the
        product of both samples' distances to their `n_neighbors`-th, which keeps it symmetric.
    kernel : {"gaussian", "uniform", "epanechnikov", "laplace"} or callable
        With h the bandwidth exp(-d^2 / h), 1, max(0, 1 - d^2 / h), exp(-d / sqrt(h)): "uniform" has none. A
        callable takes an array of distances and returns weights; it ignores `bandwidth`.
    steps : int or float("inf")
        Steps of the walk; infinity is its exact limit. A `ConvergenceError` is raised if the limit cannot be
        computed accurately.
    teleport : float in [0, 1)
        Share of the mass that jumps to a uniform sample in each step; above zero the walk is ergodic.
    start_power : float
        The mass at the start is the distance to the last neighbour to the power of minus this; 0 is the
        uniform start of the paper. In large samples of few dimensions steps are short, and a uniform start
        needs very many of them to distinguish dense from sparse regions. A start of 2, which is the k-NN
        density in the plane, does not. The limit does not depend on the start.
    metric, metric_params, search, n_jobs
        As in `neighbor_graph`; a search by name, or `ApproximateSearch`. None is its default,
        or what a clusterer that uses the density says.

    Attributes
    ----------
    density_ : array of shape (n_samples,)
    residual_ : float
        Mean absolute change of the density in one more step; about zero at infinity.
    n_closed_classes_ : int or None
        At infinity: sets of samples that the walk cannot leave.
    transient_share_ : float or None
        At infinity: share of samples that the walk leaves for good. Their density is zero.
    bandwidth_ : float or array of shape (n_samples,)
        The bandwidth used; for the symmetric local one the distances whose products are used.
    n_neighbors_, radius_ : int, float or None
    graph_ : NeighborGraph

    Examples
    --------
    >>> from diffpeaks import KernelDiffusion
    >>> density = KernelDiffusion(n_neighbors=2, kernel="uniform").fit([[0.0], [1.0], [1.5]])
    >>> density.density_.tolist()
    [0.5, 1.5, 1.0]
    """

    normalizes_weights = True

    _parameter_constraints = {
        "n_neighbors": [*N_NEIGHBORS, StrOptions({"auto"})],
        "radius": [*RADIUS, None],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"median", "local"})],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "steps": [Interval(Integral, 1, None, closed="left"), Options(Real, {np.inf})],
        "teleport": [Interval(Real, 0, 1, closed="left")],
        "start_power": [Interval(Real, 0, None, closed="left")],
        **OWN_SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        radius: float | str | None = None,
        bandwidth: float | str = "local",
        kernel: Kernel = "gaussian",
        steps: float = 1,
        teleport: float = 0.0,
        *,
        start_power: float = 0.0,
        metric: str | Callable[..., float] | None = None,
        metric_params: dict[str, Any] | None = None,
        search: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.steps = steps
        self.teleport = teleport
        self.start_power = start_power
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.n_jobs = n_jobs

    @property
    def merges_duplicates(self) -> bool:  # type: ignore[override]
        return bool(np.isfinite(self.steps))

    def needs(self, points: PointSet | GivenGraph) -> Needs:
        if self.radius is None:
            return Needs(resolved_n_neighbors(self.n_neighbors, points))
        radius = resolved_radius(self.radius, self.n_neighbors, points)
        if self.bandwidth == "local" and not callable(self.kernel):
            return Needs(resolved_n_neighbors(self.n_neighbors, points), radius)
        return Needs(radius=radius)

    def estimate(self, graph: NeighborGraph, needs: Needs) -> NDArray[np.float64]:
        bandwidth: Bandwidth | float | str = self.bandwidth
        self._reached = graph
        if needs.radius is not None:
            self._reached = graph.within(needs.radius)
            self._reached.check_symmetric()
            if bandwidth == "local":
                bandwidth = self_tuning_bandwidth(graph, needs.n_neighbors)
        self._fitted_kernel, self._fitted_teleport = self.kernel, self.teleport
        walk = self._walk_by(bandwidth)
        self._bandwidth, self._volume = walk.bandwidth, _checked_volume(walk.volume)
        with np.errstate(over="ignore"):  # for the reader alone; the weights use lengths
            self.bandwidth_ = np.square(self._bandwidth.origin)
        if np.isfinite(self.steps):
            return self._after_steps(walk)
        if self.start_power:
            raise ValueError(
                f"start_power={self.start_power} has no effect on infinitely many steps, which forget "
                "where they started; use start_power=0, or finitely many steps"
            )
        return self._in_the_limit(walk, reversible=needs.radius is not None and not self.teleport)

    @property
    def residual_(self) -> float:
        """Mean absolute change of the density in one more step."""
        if self._residual is not None:
            return self._residual
        mass = self.density_ if self._weights is None else self.density_ * self._weights
        later, _ = diffuse(self.walk(), mass, 1, self._fitted_teleport)
        return float(np.mean(np.abs(later - mass)))

    def walk(self) -> Walk:
        """The walk of the fitted kernel, on which a neighbour counts as often as it weighs."""
        return self._walk_by(self._bandwidth)

    def _walk_by(self, bandwidth: Bandwidth | float | str) -> Walk:
        # a limit depends on the smallest weights; after a few steps they hardly count beside a point's own
        dtype = None if np.isfinite(self.steps) else np.float64
        how = self._fitted_kernel, bandwidth, self._weights, dtype, self._points.n_threads
        return walk_on(self._reached, *how)

    def _after_steps(self, walk: Walk) -> NDArray[np.float64]:
        start_power = self.start_power / self._points.distance_power
        density, self._previous = walked_density(walk, int(self.steps), self.teleport, start_power)
        self._residual: float | None = None
        self.n_closed_classes_: int | None = None
        self.transient_share_: float | None = None
        return density

    def _in_the_limit(self, walk: Walk, reversible: bool) -> NDArray[np.float64]:
        end = reversible_limit(walk) if reversible else limit(walk.transition, self.teleport, walk.masses)
        self._previous = end.density if self._weights is None else end.density * self._weights
        self._residual = end.residual
        self.n_closed_classes_ = end.n_closed_classes
        self.transient_share_ = end.transient_share
        return end.density

    def _density_at(self, points: PointSet, X: Any) -> NDArray[np.float64]:
        """One step of the walk from the fitted samples to the new ones: sum of rho(y) p(y, x)."""
        ball = self.radius_ is not None
        found = points.within_of(X, self.radius_) if ball else points.reaching(X, self._reached.reach)
        owners = np.repeat(np.arange(X.shape[0]), np.diff(found.indptr))
        bandwidth = self._bandwidth_towards(points, X)
        reversed_ = Bandwidth(bandwidth.target, bandwidth.origin)  # rows are new samples, not origins
        weights, _ = row_weights(found, self._fitted_kernel, reversed_, n_threads=points.n_threads)
        arriving = weights * (self._previous / self._volume)[found.indices]
        density: NDArray[Any] = np.bincount(owners, arriving, minlength=X.shape[0])
        return (1 - self._fitted_teleport) * density + self._fitted_teleport

    def _bandwidth_towards(self, points: PointSet, X: Any) -> Bandwidth:
        """The fitted bandwidth with the new samples as targets."""
        if not isinstance(self._bandwidth.target, np.ndarray):
            return self._bandwidth
        found: RaggedRows = points.nearest_to(X, self.n_neighbors_)
        root = np.sqrt(found.distances[found.indptr[1:] - 1].astype(np.float64))
        return Bandwidth(self._bandwidth.origin, root)


def _checked_volume(volume: NDArray[np.float64]) -> NDArray[np.float64]:
    """Refuse weights whose sum overflows; a kernel of the user may return such."""
    if not np.isfinite(volume).all():
        sample = np.flatnonzero(~np.isfinite(volume))[0]
        raise ValueError(f"the weights of sample {sample} sum to {volume[sample]}; scale the kernel down")
    return volume
