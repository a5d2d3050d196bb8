"""Densities: one value for each sample, from its neighbour graph."""

from diffpeaks.density.base import DensityClusterer, GraphDensity, Needs
from diffpeaks.density.counting import LocalContrast, NaiveDensity
from diffpeaks.density.kernel_diffusion import KernelDiffusion
from diffpeaks.density.named import PAPER_DENSITIES
from diffpeaks.density.shared_neighbors import SharedNeighborDensity

__all__ = [
    "PAPER_DENSITIES",
    "DensityClusterer",
    "GraphDensity",
    "KernelDiffusion",
    "LocalContrast",
    "NaiveDensity",
    "Needs",
    "SharedNeighborDensity",
]
