"""How much a process may hold: pieces of one size, and what grows with the limit of memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from diffpeaks.sharded.blocks import BLOCK_ROWS
from diffpeaks.sharded.executors import resident

if TYPE_CHECKING:
    from diffpeaks.sharded.executors import Executor
    from diffpeaks.sharded.sources import Source


LIBRARIES = 240 << 20  # bytes of a process that has imported what the stages need, Ray or Dask among it
OF_POINT = 240  # bytes of the driver for each sample: order, links, hills and labels, as flat arrays
_LEAST_PIECE, _LEAST_ROOM = 8 << 20, 64 << 20
_PIECE = 1000  # times the root of the bytes of all points: as many pieces as each has megabytes, about
_COPIES = 6  # of a piece that a task has in memory, its temporaries counted
_OF_ENTRY = 80  # bytes for each neighbour of a block, temporaries counted
_MOST_TOGETHER = 8  # blocks: with more, what is read once is little beside the search itself
_UNITS = {
    "": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}


class Budget(NamedTuple):
    """What a process may hold.

    Attributes
    ----------
    piece_bytes : int
        The points that a task brings to their cells at once. It depends on the data alone, so that a run goes
        on where it was under another limit.
    room : int
        For points that are searched, with what is made of them.
    """

    piece_bytes: int
    room: int

    @classmethod
    def of(
        cls, limit: int, n_samples: int, row_bytes: int, block_entries: int, taken: int = LIBRARIES
    ) -> Budget:
        """What fits into that many bytes of each process, with blocks of a graph of so many entries.

        So many bytes are `taken` before a process does anything.
        """
        piece_bytes = max(_LEAST_PIECE, row_bytes, round(_PIECE * np.sqrt(float(n_samples) * row_bytes)))
        lists = _OF_ENTRY * block_entries
        least = taken + max(_COPIES * piece_bytes, lists + _LEAST_ROOM, OF_POINT * n_samples)
        if limit < least:
            raise ValueError(
                f"memory_limit={limit} bytes is too little: with {n_samples} samples of {row_bytes} bytes a "
                f"process takes up to {least}, {taken} of them before it does anything; raise it"
            )
        return cls(piece_bytes, limit - taken - lists)


def taken_by(executor: Executor, source: Source) -> int:
    """The most bytes of a process that has imported what the stages need, and has done nothing yet."""
    found = executor.run("opening", _taken, [source] * executor.n_workers)
    return max([resident() or LIBRARIES, *found])


def _taken(source: Source) -> int:
    """Of this process; reading a row brings in what reads the source."""
    first = next(shard for shard in source.shards if shard.n_samples)
    first.rows(0, 1)
    return resident() or LIBRARIES


def blocks_together(room: int, row_bytes: int, n_neighbors: int) -> int:
    """Blocks of queries that share what a search reads, in a quarter of the room."""
    of_block = BLOCK_ROWS * (2 * row_bytes + _OF_ENTRY * n_neighbors)
    return max(1, min(_MOST_TOGETHER, room // (4 * of_block)))


def bytes_of(memory_limit: Any) -> int:
    """A number of bytes, as an integer or as text like "4GB"."""
    if isinstance(memory_limit, (int, np.integer)) and memory_limit > 1:
        return int(memory_limit)
    if isinstance(memory_limit, str):
        found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?b)?\s*", memory_limit.lower())
        if found and float(found[1]) > 0:
            return round(float(found[1]) * _UNITS[found[2] or ""])
    raise ValueError(
        f"memory_limit={memory_limit!r} is no number of bytes; use an integer above 1, or text like '4GB'"
    )
