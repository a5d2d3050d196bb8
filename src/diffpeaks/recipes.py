"""The default: its choices and the constants that shape its labels, in one place.

Chosen on the labelled sets of `benchmarks/peers`, family by family. `docs/theory.md` derives what can be
derived; `docs/peers.md` has the ablation, and how much hangs on each.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEFAULT", "FACES", "PLAIN", "LinkShares", "Recipe", "Settings"]

ISOLATED = ("auto", "strangers", "outliers")


class LinkShares(NamedTuple):
    """The entries of each row of a graph that are links of hills, as shares of the row.

    These are the nearest part, and the mutual neighbours in a larger part. The nearest part has at least
    `fewest` entries, the point itself counted, if the row has as many.
    """

    nearest: float = 1.0
    mutual: float = 1.0
    fewest: int = 1

    def counts(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of entries of both parts, for rows of these lengths."""
        nearest = np.maximum(np.rint(self.nearest * lengths).astype(np.int64), self.fewest)
        nearest = np.minimum(lengths, nearest)
        return nearest, np.maximum(np.rint(self.mutual * lengths).astype(np.int64), nearest)


WHOLE_ROWS = LinkShares()
_LEAST, _MOST = 1e-6, 1e6
# of the constants of a recipe: what they are, the least and the most
_BOUNDS: dict[str, tuple[type, float, float]] = {
    "neighbors": (Real, _LEAST, _MOST),
    "dominant": (Real, 0.5, 1),
    "closer_share": (Real, _LEAST, 1),
    "steps": (Integral, 1, _MOST),
    "start_power": (Real, 0, _MOST),
    "nearest_share": (Real, _LEAST, 1),
    "mutual_share": (Real, _LEAST, 1),
    "fewest": (Integral, 1, _MOST),
    "plane_share": (Real, 0, _MOST),
    "link_share": (Real, _LEAST, 1),
    "few": (Real, _LEAST, 0.5),
    "valley": (Real, 0, _MOST),
    "rise": (Real, 0, _MOST),
    "flow_weight": (Real, 0, _MOST),
    "usual_flow": (Real, _LEAST, 1),
    "size_weight": (Real, 0, _MOST),
    "usual_size": (Real, _LEAST, _MOST),
    "flat_dimension": (Real, 0, _MOST),
    "kept_power": (Real, 0, _MOST),
    "core_density": (Real, 0, _MOST),
}


class Settings(NamedTuple):
    """The parts of a recipe that depend on the intrinsic dimension.

    Attributes
    ----------
    start_power : float
        Of the default density (`KernelDiffusion`).
    links : LinkShares
        Hills are linked along them.
    rise, flow_weight, size_weight : float
        The `min_prominence`, `flow_weight` and `size_weight` of the automatic cut.
    """

    start_power: float
    links: LinkShares
    rise: float
    flow_weight: float
    size_weight: float


@dataclass(frozen=True, repr=False)
class Recipe:
    """The choices and constants of everything that is not given, from points to labels.

    `DensityPeaks(recipe=replace(DEFAULT, rise=1.0))` changes one constant and keeps the others.

    Attributes
    ----------
    neighbors : float
        `n_neighbors` is this times log2(n) of n distinct samples.
    dominant, closer_share : float
        If one cluster has more than the share `dominant` of the samples, the fit is repeated with the share
        `closer_share` of the neighbours. The second result is used if no cluster in it has more than
        1 - `dominant` of the samples.
    steps : int
        Steps of the walk.
    start_power : float
        The mass at the start of the walk is the k-th neighbour distance to the power of -min(m, this) in m
        dimensions. The power -m is the k-NN density.
    nearest_share, mutual_share : float
        Hills are linked along the nearest neighbours, this share of each row, and along mutual neighbours
        within a larger share of it.
    fewest : int
        The least number of samples, itself included, to which a sample is linked and towards which it is
        moved.
    plane_share : float
        The mutual share is at least this divided by the intrinsic dimension, and the nearest share grows in
        proportion: in few dimensions it takes more links to connect the samples of a cluster.
    link_share : float
        A sample is isolated if its nearest neighbour is farther than this share of the median distance of
        random pairs. If isolated samples are strangers, no link is longer.
    few : float
        Smaller shares of the samples are ignored when strangers are distinguished from outliers.
    valley : float
        Strangers make a second peak in the histogram of nearest-neighbour distances. Both peaks must be this
        many times as high as the valley between them.
    rise : float
        How far a hill must rise above its saddle, in log density; in m < 2 dimensions 2/m times as far.
    flow_weight : float
        Weight of the flow over a saddle beside its height, in very many dimensions; in the plane it is 0.
    usual_flow : float
        The share of a hill's walk that crosses a saddle at which the flow changes nothing.
    size_weight, usual_size : float
        In few dimensions a hill of more samples than `usual_size` neighbour lists must rise farther, by up to
        `size_weight`: the more samples, the higher the hills that chance makes.
    flat_dimension : float
        Below this intrinsic dimension the size of hills replaces the flow, and samples are not moved.
    kept_power : float
        In m dimensions a smoothed sample keeps the share k^(-kept_power (1/2 - 1/m)) of its own position.
    core_density : float
        A core sample of `DensityDBSCAN` has at least this share of the mean density.
    merge_duplicates : bool
        Whether duplicates count as one sample of their weight, if the density takes weights.
    smooth : bool
        Whether samples are moved towards their neighbours if `smooth="auto"`.
    isolated : {"auto", "strangers", "outliers"}
        What isolated samples are; "auto" decides by the distances. Strangers prevent smoothing only if the
        distances show them.
    join_lone : bool
        Whether an isolated sample joins a cluster, among strangers, if it is as near to its mean as members
        are.
    measure_dimension : bool
        Whether the intrinsic dimension is measured; otherwise it is taken as infinite, and flow is not used.
    """

    neighbors: float = 3.0
    dominant: float = 0.75
    closer_share: float = 0.5
    steps: int = 3
    start_power: float = 2.0
    nearest_share: float = 0.125
    mutual_share: float = 0.3
    fewest: int = 3
    plane_share: float = 0.8
    link_share: float = 0.68
    few: float = 0.01
    valley: float = 2.0
    rise: float = 0.85
    flow_weight: float = 1.0
    usual_flow: float = 0.07
    size_weight: float = 0.15
    usual_size: float = 6.0
    flat_dimension: float = 2.5
    kept_power: float = 0.5
    core_density: float = 0.8
    merge_duplicates: bool = True
    smooth: bool = True
    isolated: str = "auto"
    join_lone: bool = True
    measure_dimension: bool = True

    def __post_init__(self) -> None:
        if self.isolated not in ISOLATED:
            raise ValueError(f"isolated={self.isolated!r} is unknown; use one of {list(ISOLATED)}")
        for name in ("merge_duplicates", "smooth", "join_lone", "measure_dimension"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name}={getattr(self, name)!r} must be True or False")
        for name, (kind, least, most) in _BOUNDS.items():
            value: float = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kind):
                what = "an integer" if kind is Integral else "a number"
                raise TypeError(f"{name}={value!r} must be {what} from {least:g} to {most:g}")
            if not least <= value <= most:
                raise ValueError(f"{name}={value} must lie from {least:g} to {most:g}")

    def __repr__(self) -> str:
        unusual = (f for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Recipe({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in unusual)})"

    def n_neighbors(self, n_samples: int) -> int:
        """For that many distinct samples: more than links take, because a density averages over them."""
        return min(n_samples, max(2, round(self.neighbors * np.log2(max(n_samples, 2)))))

    def in_dimensions(self, dimension: float) -> Settings:
        """The settings for an intrinsic dimension, rounded to thousandths.

        Rounding makes them independent of the order of samples, on which the last bits of sums depend.
        """
        mutual = min(1.0, max(self.mutual_share, round(self.plane_share / dimension, 3)))
        links = LinkShares(self.nearest_share * mutual / self.mutual_share, mutual, self.fewest)
        # in the plane a hill may be long and thin, so that little flows through it
        flow_counts = self.flat_dimension <= dimension < np.inf
        flow_weight = self.flow_weight * max(0.0, 1 - 2 / dimension) if flow_counts else 0.0
        size_weight = self.size_weight if dimension < self.flat_dimension else 0.0
        # on a line no path leads around what chance digs: a hill must rise farther
        rise = self.rise * max(1.0, 2 / dimension)
        start_power = min(self.start_power, dimension)
        return Settings(round(start_power, 3), links, round(rise, 3), round(flow_weight, 3), size_weight)

    def closer(self) -> Recipe:
        """The recipe for `closer_share` of the neighbours: by chance log densities differ by 1 / sqrt(k)."""
        return replace(self, dominant=1.0, rise=self.rise / self.closer_share**0.5)

    def share_kept(self, n_neighbors: int, dimension: float) -> float:
        """The share of its own position in that of a smoothed sample, at most one."""
        return round(min(1.0, n_neighbors ** (self.kept_power * (1 / dimension - 1 / 2))), 3)


DEFAULT = Recipe()
# for faces and other data of many small groups: long links are dropped even if no sample is a stranger; an
# isolated sample joins the group whose mean it resembles, or stays alone
FACES = replace(DEFAULT, isolated="strangers")
# for a density that is given without a recipe: each sample counts, hills are linked along all neighbours,
# nothing is moved
PLAIN = replace(
    DEFAULT,
    dominant=1.0,
    nearest_share=1.0,
    mutual_share=1.0,
    core_density=1.0,
    merge_duplicates=False,
    smooth=False,
    join_lone=False,
    measure_dimension=False,
)
