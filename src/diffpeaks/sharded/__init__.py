"""Clustering of points that do not fit into memory: the method, stage by stage, from files to files."""

from diffpeaks.sharded.density_peaks import ShardedDensityPeaks
from diffpeaks.sharded.labels import read_labels
from diffpeaks.sharded.plan import ShardsPlan, plan_shards

__all__ = ["ShardedDensityPeaks", "ShardsPlan", "plan_shards", "read_labels"]
