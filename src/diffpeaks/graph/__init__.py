"""The neighbour graph, the one type that crosses the middle, and what is measured of it."""

from diffpeaks.graph.neighbor_graph import NeighborGraph
from diffpeaks.graph.rows import csr

__all__ = ["NeighborGraph", "csr"]
