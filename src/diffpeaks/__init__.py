"""Density-based clustering with kernel diffusion."""

from diffpeaks._density_dbscan import DensityDBSCAN
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.density import KernelDiffusion, LocalContrast, NaiveDensity, SharedNeighborDensity
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import ApproximateSearch, neighbor_graph
from diffpeaks.neighbors.plan import Plan, plan
from diffpeaks.order import NOISE
from diffpeaks.rescale import ReScale
from diffpeaks.stationary import ConvergenceError

__version__ = "0.1.0"

__all__ = [
    "NOISE",
    "ApproximateSearch",
    "ConvergenceError",
    "DensityDBSCAN",
    "DensityPeaks",
    "KernelDiffusion",
    "LocalContrast",
    "NaiveDensity",
    "NeighborGraph",
    "Plan",
    "ReScale",
    "SharedNeighborDensity",
    "neighbor_graph",
    "plan",
]
