"""Squared distances of few features, difference by difference, in Triton: which points are near.

Marks are those of `compare.py`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from diffpeaks.neighbors.gpu.kernels.compare import COLUMNS, words_of

_COLUMNS = tl.constexpr(COLUMNS)


@triton.jit
def _squares(queries, columns, rows, inside, at, n_columns, FEATURES: tl.constexpr):
    """Squared distances of some queries to some points, whose features lie column by column."""
    total = (rows * 0)[:, None].to(tl.float64) + (at * 0)[None, :].to(tl.float64)
    for feature in tl.static_range(FEATURES):
        x = tl.load(queries + rows * FEATURES + feature, mask=inside, other=0.0)
        y = tl.load(columns + feature * n_columns + at, mask=at < n_columns, other=float("inf"))
        difference = x[:, None] - y[None, :]
        total += difference * difference
    return total


@triton.jit
def mark_differences(
    queries, columns, most, marks, n_queries, n_tiles, FEATURES: tl.constexpr, ROWS: tl.constexpr
):
    """A bit for each query and point: whether their squared distance is at most that of the query."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_queries
    limit = tl.load(most + rows, mask=inside, other=-1.0)
    to = marks + rows[:, None] * (4 * n_tiles) + tl.arange(0, 4)[None, :]
    for tile in range(tl.program_id(1), n_tiles, tl.num_programs(1)):
        at = tile * _COLUMNS + tl.arange(0, _COLUMNS)
        squares = _squares(queries, columns, rows, inside, at, n_tiles.to(tl.int64) * _COLUMNS, FEATURES)
        words = words_of(squares <= limit[:, None], ROWS, 1)
        tl.store(to + 4 * tile, words, mask=inside[:, None])


@triton.jit
def best_of_groups(
    queries,
    columns,
    best,
    n_queries,
    n_columns,
    n_groups,
    FEATURES: tl.constexpr,
    ROWS: tl.constexpr,
    GROUP: tl.constexpr,
    EVERY: tl.constexpr,
):
    """The least squared distance of each query in groups of every so many-th point, spread over all."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = rows < n_queries
    group = tl.program_id(1).to(tl.int64) * _COLUMNS + tl.arange(0, _COLUMNS)
    smallest = tl.full([ROWS, _COLUMNS], float("inf"), tl.float64)
    for member in range(0, GROUP):
        at = (member * n_groups + group) * EVERY
        squares = _squares(queries, columns, rows, inside, at, n_columns, FEATURES)
        smallest = tl.minimum(smallest, squares)
    where = best + rows[:, None] * n_groups + group[None, :]
    tl.store(where, smallest, mask=inside[:, None] & (group < n_groups)[None, :])
