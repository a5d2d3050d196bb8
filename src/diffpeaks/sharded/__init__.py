"""Clustering of points that do not fit into memory: the method, stage by stage, from files to files."""

from diffpeaks.sharded.density_peaks import ShardedDensityPeaks

__all__ = ["ShardedDensityPeaks"]
