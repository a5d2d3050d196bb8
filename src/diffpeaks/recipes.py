"""The default: the constants that shape its labels, in one place.

Chosen on the labelled sets of `benchmarks/peers`, family by family. `docs/theory.md` derives what can be
derived; `docs/peers.md` has the ablation, and how much hangs on each.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """The constants of the default.

    Attributes
    ----------
    neighbors : float
        `n_neighbors` is this times log2(n) of n distinct samples.
    steps : int
        Steps of the walk.
    start_power : float
        In m dimensions the walk starts in proportion to the k-th neighbour distance to the power of minus m,
        which is the density, or of minus this, whichever is less; in many dimensions that is hardly a start.
    nearest_share, mutual_share : float
        Hills are linked along the nearest share of each row, and along mutual neighbours within the other.
    fewest : int
        A sample is linked to no fewer, itself counted, and moved towards no fewer, lest it is left alone.
    plane_share : float
        The mutual share is at least this over the intrinsic dimension, and the nearest share grows with it:
        in few dimensions a sample needs more links to hang together with its cluster.
    link_share : float
        Samples whose nearest neighbour is farther than this share of the distance of random pairs are far;
        where far samples are strangers, no link is longer.
    few : float
        The share of samples that is too small to count, when strangers are told from outliers.
    valley : float
        Strangers make a second peak in the histogram of nearest-neighbour distances; both peaks are this
        times as high as the valley between them.
    rise : float
        How far a hill must rise above its saddle, in log density; in m < 2 dimensions 2/m times as far.
    flow_weight : float
        How much flow over a saddle counts beside its height in very many dimensions; nothing in the plane.
    usual_flow : float
        The share of a hill's walk that goes over a saddle at which height alone counts.
    flat_dimension : float
        Below that intrinsic dimension flow does not count, and samples are not moved: either would do next to
        nothing, and cost as much as above.
    kept_power : float
        In m dimensions smoothing leaves a sample k^(-kept_power (1/2 - 1/m)) of its own position.
    core_density : float
        A core sample of `DensityDBSCAN` has that share of the mean density or more.
    """

    neighbors: float = 3.0
    steps: int = 3
    start_power: float = 2.0
    nearest_share: float = 0.125
    mutual_share: float = 0.3
    fewest: int = 3
    plane_share: float = 0.8
    link_share: float = 0.7
    few: float = 0.01
    valley: float = 2.0
    rise: float = 0.85
    flow_weight: float = 1.0
    usual_flow: float = 0.07
    flat_dimension: float = 2.5
    kept_power: float = 0.5
    core_density: float = 0.8


DEFAULT = Recipe()
