"""Points in shards, of which only the rows that are asked for are read."""

from diffpeaks.sharded.sources.contract import Shard, Source
from diffpeaks.sharded.sources.opening import check_apart, open_source

__all__ = ["Shard", "Source", "check_apart", "open_source"]
