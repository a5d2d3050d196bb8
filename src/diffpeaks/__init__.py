"""Density-based clustering with kernel diffusion."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what `_HOMES` says, for readers of types
    from diffpeaks._base.constants import NOISE as NOISE
    from diffpeaks._density_dbscan import DensityDBSCAN as DensityDBSCAN
    from diffpeaks._density_peaks import DensityPeaks as DensityPeaks
    from diffpeaks.density import KernelDiffusion as KernelDiffusion
    from diffpeaks.density import LocalContrast as LocalContrast
    from diffpeaks.density import NaiveDensity as NaiveDensity
    from diffpeaks.density import SharedNeighborDensity as SharedNeighborDensity
    from diffpeaks.density.rescale import ReScale as ReScale
    from diffpeaks.density.stationary import ConvergenceError as ConvergenceError
    from diffpeaks.explorer import explore as explore
    from diffpeaks.graph import NeighborGraph as NeighborGraph
    from diffpeaks.neighbors import ApproximateSearch as ApproximateSearch
    from diffpeaks.neighbors import neighbor_graph as neighbor_graph
    from diffpeaks.neighbors.memory.plan import Plan as Plan
    from diffpeaks.neighbors.memory.plan import plan as plan
    from diffpeaks.results.edits import Gather as Gather
    from diffpeaks.results.edits import Merge as Merge
    from diffpeaks.results.edits import Split as Split
    from diffpeaks.results.edits import edited as edited
    from diffpeaks.results.numbering import numbered as numbered

__version__ = "0.1.0"

# Public names and their rooms, which are imported when a name is first asked for: `diffpeaks --help` need not
# wait for scikit-learn.
_HOMES = {
    "NOISE": "_base.constants",
    "ApproximateSearch": "neighbors",
    "ConvergenceError": "density.stationary",
    "DensityDBSCAN": "_density_dbscan",
    "DensityPeaks": "_density_peaks",
    "Gather": "results.edits",
    "KernelDiffusion": "density",
    "LocalContrast": "density",
    "Merge": "results.edits",
    "NaiveDensity": "density",
    "NeighborGraph": "graph",
    "Plan": "neighbors.memory.plan",
    "ReScale": "density.rescale",
    "SharedNeighborDensity": "density",
    "Split": "results.edits",
    "edited": "results.edits",
    "explore": "explorer",
    "neighbor_graph": "neighbors",
    "numbered": "results.numbering",
    "plan": "neighbors.memory.plan",
}
_ROOMS = (
    "baselines",
    "captions",
    "datasets",
    "explorer",
    "maps",
    "metrics",
    "plotting",
    "progress",
    "recipes",
    "report",
    "scanpy",
    "toponymy",
)

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"diffpeaks.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'diffpeaks' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"diffpeaks.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
