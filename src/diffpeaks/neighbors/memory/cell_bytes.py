"""Memory that searches over cells take."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpeaks.neighbors.cells.approximate import approximate_cell_size
from diffpeaks.neighbors.cells.join import BLOCK_QUERIES, padded
from diffpeaks.neighbors.cells.partition import SAMPLE_PER_CELL
from diffpeaks.neighbors.cells.projection import FEWEST_FEATURES
from diffpeaks.neighbors.cells.search import CELL_SIZE
from diffpeaks.neighbors.cells.truth import SAMPLE


def bytes_for_cells(
    n_samples: int, n_features: int, n_neighbors: int, dtype: Any, n_threads: int, approximate: bool
) -> int:
    """Memory that a search over cells takes beside points and graph, at most."""
    width, size = padded(n_features), np.dtype(dtype).itemsize
    n_cells = n_samples // (approximate_cell_size(n_samples) if approximate else CELL_SIZE) + 1
    members = n_samples * (2 * width + 56)  # in bf16, or fewer directions in float and in bf16; and places
    sample = 2 * size * min(n_samples, SAMPLE_PER_CELL * n_cells) * width
    if n_features >= FEWEST_FEATURES:  # a sample is projected, its pairs are compared
        sample = max(sample, (1024 * 24 + 272 * 40) * width + (12 << 20))
    centroids = n_cells * width * 16
    if approximate:
        members += n_cells * (512 * 4 + 32 * SAMPLE)  # cells beside each, and cells by distance of a sample
        members += min(n_samples, 1 << 16) << 10  # queries that are deferred, with the cells that they visit
    n_workers = min(n_threads, n_samples // BLOCK_QUERIES + 1)
    workers = n_workers * _bytes_for_worker(n_features, n_neighbors, size, approximate)
    return max(members + workers, sample) + centroids + (8 << 20)


def _bytes_for_worker(n_features: int, n_neighbors: int, size: int, approximate: bool) -> int:
    """Memory of a thread: the queries of a block, what they have found, and what may be nearer."""

    def block(n_queries: int, n_pending: int, n_found: int) -> int:
        # a list has room for a run of members, and grows twofold where its length is not known beforehand
        pending, found = 8 * (n_pending + 272), 4 * size * n_found
        return n_queries * (pending + found + 8 * padded(n_features))

    projected = n_features >= FEWEST_FEATURES  # possibly: bounds leave more open, and lists are longer
    exact = block(BLOCK_QUERIES, 16 * n_neighbors + 64 if projected else 2 * n_neighbors + 32, n_neighbors)
    if not approximate:
        return exact
    n_listed = 3 * (8 if projected else 1) * n_neighbors  # the longest shortlist, relaxed
    deferred = block(2048, 2 * n_listed + 32, n_listed)
    reached = 3 * 512  # cells, relaxed
    return max(exact, deferred) + block(BLOCK_QUERIES, 2 * reached + 32, 2 * reached)
