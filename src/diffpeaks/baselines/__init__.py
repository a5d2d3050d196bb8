"""Methods to compare with: those of face clustering, and the usual ones (see docs/baselines.md)."""

from diffpeaks.baselines.communities import Infomap, Leiden
from diffpeaks.baselines.propagation import CDP
from diffpeaks.baselines.rank_order import ARO
from diffpeaks.baselines.registry import BASELINES
from diffpeaks.baselines.row_breaks import FaceMap
from diffpeaks.baselines.shared_mass import FCES
from diffpeaks.baselines.short_links import KNNDBSCAN, SingleLinkage

__all__ = [
    "ARO",
    "BASELINES",
    "CDP",
    "FCES",
    "KNNDBSCAN",
    "FaceMap",
    "Infomap",
    "Leiden",
    "SingleLinkage",
]
