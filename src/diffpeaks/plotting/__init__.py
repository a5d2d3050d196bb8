"""Pictures of a fitted density: arrays in, axes out. Needs matplotlib."""

from diffpeaks._base.palette import cluster_colors
from diffpeaks.plotting._style import paper_style, pyplot
from diffpeaks.plotting.cluster_sizes import ClusterSizesDisplay
from diffpeaks.plotting.decision_graph import DecisionGraphDisplay
from diffpeaks.plotting.density import DensityDisplay
from diffpeaks.plotting.merge_tree import MergeTreeDisplay
from diffpeaks.plotting.precision_recall import PrecisionRecallDisplay
from diffpeaks.plotting.prominence import ProminenceDisplay

__all__ = [
    "ClusterSizesDisplay",
    "DecisionGraphDisplay",
    "DensityDisplay",
    "MergeTreeDisplay",
    "PrecisionRecallDisplay",
    "ProminenceDisplay",
    "cluster_colors",
    "paper_style",
    "pyplot",
]
