"""Density-based clustering with kernel diffusion."""

from importlib import import_module
from typing import Any

from diffpeaks._density_dbscan import DensityDBSCAN
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.density import KernelDiffusion, LocalContrast, NaiveDensity, SharedNeighborDensity
from diffpeaks.edits import Merge, Split, edited
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
    "Merge",
    "NaiveDensity",
    "NeighborGraph",
    "Plan",
    "ReScale",
    "SharedNeighborDensity",
    "Split",
    "edited",
    "explore",
    "neighbor_graph",
    "plan",
]

# rooms that are imported when they are first named
_LATE = ("baselines", "captions", "datasets", "explorer", "maps", "metrics", "plotting", "report")


def __getattr__(name: str) -> Any:
    if name == "explore":
        return import_module("diffpeaks.explorer").explore
    if name in _LATE:
        return import_module(f"diffpeaks.{name}")
    raise AttributeError(f"module 'diffpeaks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_LATE]
