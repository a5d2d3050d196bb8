"""What is run: data x density x clusterer x grid. Nothing here computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from diffpeaks import KernelDiffusion, LocalContrast, NaiveDensity
from diffpeaks.datasets import LFW_LIKENESS

DENSITIES = ("naive", "lc", "kd-sym", "kd-asym", "fkd-sym", "fkd-asym")
DIFFUSION_DENSITIES = DENSITIES[2:]
NORMALIZATIONS = ("min-max", "z-score", "none")

# Every way to cut that is scored at each setting of a density. "hills" is no cut at all: a sample without a
# denser neighbour is a peak, and nothing else decides.
PEAK_RULES = ("hills", "max_link", "n_clusters", "min_prominence")
CORE_RULES = ("min_density", "min_density, border")
BORDER_QUANTILES = tuple(np.linspace(0, 0.95, 20))  # of the density; without border all thresholds are tried


@dataclass(frozen=True)
class Grid:
    """Settings of the densities.

    Neighbours are shares of the samples, or numbers; radii are lengths, or the median distance to a numbered
    neighbour.
    """

    name: str
    neighbor_shares: tuple = ()
    neighbor_numbers: tuple = ()
    radii: tuple = ()
    radius_neighbors: tuple = ()
    bandwidths: tuple = (0.5,)

    def neighbors(self, n_samples):
        shares = [round(share * n_samples) for share in self.neighbor_shares]
        return sorted({max(2, k) for k in (*shares, *self.neighbor_numbers) if k <= (n_samples + 1) // 2})

    def lengths(self, graph):
        """Radii for the samples of a complete graph."""
        columns = graph.distances.reshape(graph.n_samples, -1)
        reached = [np.median(columns[:, k - 1]) for k in self.radius_neighbors if k <= graph.n_samples]
        return sorted({float(radius) for radius in (*self.radii, *reached) if radius > 0})


# Section 4 of the paper, and the ranges that its authors name elsewhere.
PAPER_GRID = Grid(
    "paper",
    neighbor_shares=(0.1, 0.2, 0.3, 0.4, 0.5),
    radii=tuple(step / 10 for step in range(1, 11)),
)
_NUMBERS = (3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300)
EXHAUSTIVE_GRID = Grid(
    "exhaustive",
    neighbor_numbers=_NUMBERS,
    radius_neighbors=_NUMBERS,
    bandwidths=(0.5, 1.0, "median", "local"),
)
GRIDS = {grid.name: grid for grid in (PAPER_GRID, EXHAUSTIVE_GRID)}


def settings(density, grid, graph):
    """The estimators of one density on a grid, for the samples of a complete graph."""
    neighbors, lengths = grid.neighbors(graph.n_samples), grid.lengths(graph)
    if density == "naive":
        return [NaiveDensity(radius, metric="precomputed") for radius in lengths]
    if density == "lc":
        return [LocalContrast(radius, k, metric="precomputed") for radius in lengths for k in neighbors]
    steps = float("inf") if density.startswith("kd") else 1
    places = [{"radius": radius} for radius in lengths]
    if density.endswith("-asym"):
        places = [{"n_neighbors": k} for k in neighbors]
    return [
        KernelDiffusion(**place, bandwidth=h, steps=steps, metric="precomputed")
        for place in places
        for h in grid.bandwidths
    ]


FACE_NEIGHBORS = 80  # the protocol of learn-to-cluster; the sample itself is counted
LEAST_FACES = 1000  # with fewer the smallest share of figure 4 has no such lists
FACE_RECALL = 0.95  # of the neighbour graph, at least; what was reached is in the lines


@dataclass(frozen=True)
class FaceSet:
    """A set of faces: where its real files lie in the data folder, and how the stand-in is generated."""

    name: str
    n_samples: int
    n_identities: int
    files: str  # "learn-to-cluster", "cdp" or "npz"
    file_name: str
    n_neighbors: int = FACE_NEIGHBORS
    recall: float = FACE_RECALL  # 1 is an exact search
    likeness: Mapping = field(default_factory=dict)  # parameters of make_faces


EMORE_200K = FaceSet("emore_200k", 200_000, 2_577, "cdp", "emore_200k")
MS1M = FaceSet("ms1m", 584_013, 8_573, "learn-to-cluster", "part1_test")
LFW = FaceSet("lfw", 13_233, 5_749, "npz", "faces_lfw", n_neighbors=256, recall=1.0, likeness=LFW_LIKENESS)
FACE_SETS = {faces.name: faces for faces in (EMORE_200K, MS1M, LFW)}
FACE_RADIUS = 0.8  # of the ball, between unit vectors
FACE_BANDWIDTH = 0.5

# Figure 3: one parameter varies, the others stay at the values above
SENSITIVITY = {
    "radius": (("naive", "lc", "kd-sym", "fkd-sym"), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1)),
    "n_neighbors": (("lc", "kd-asym", "fkd-asym"), (5, 10, 20, 40, 60, 80)),
    "bandwidth": (("kd-sym", "kd-asym", "fkd-sym", "fkd-asym"), (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 2.0)),
}
# Figure 4
COST_SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)
