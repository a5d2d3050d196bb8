"""Which search: the one that was asked for by name, or the one that suits the space."""

from __future__ import annotations

from typing import Any

from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.cell_search import ApproximateSearch, CellSearch, bytes_for_cells
from diffpeaks.neighbors.chunked import ChunkedSearch
from diffpeaks.neighbors.contract import Search, Space
from diffpeaks.neighbors.join import can_join
from diffpeaks.neighbors.trees import TreeSearch, bytes_for_tree

SEARCHES: dict[str, type[Search]] = {"tree": TreeSearch, "cells": CellSearch, "brute": BruteSearch}
CHOICES = ("auto", "exact", "approximate", *SEARCHES)
# Multiplications of all pairs up to which "auto" stays exact: some seconds on two cores. It depends on
# the data alone, so that the same data get the same graph on every machine.
AFFORDABLE = 2.0**40
_SMALLEST_CHUNK = 1024
_BYTES_PER_ENTRY = 32  # of a block of brute force: a value, and what selects among values


def check_search(search: Any) -> None:
    """Refuse what is neither the name of a search nor an ApproximateSearch."""
    if not isinstance(search, ApproximateSearch) and search not in CHOICES:
        raise ValueError(
            f"search={search!r} is unknown; use one of {list(CHOICES)} or ApproximateSearch(recall=...)"
        )


def search_for(search: Any, space: Space, n_threads: int, memory_limit: int | None = None) -> Search:
    """A search in the space: as named, or as the space suggests."""
    make = _chosen(search, space)
    if memory_limit is None:
        return make(space, n_threads)
    return _within_memory(make, space, n_threads, memory_limit)


def _chosen(search: Any, space: Space) -> Any:
    """The class of a search, or an ApproximateSearch, which makes one."""
    if search == "auto":
        exact = _exact(space)
        search = exact if exact is not CellSearch or _affordable(space) else ApproximateSearch()
    elif search == "exact":
        search = _exact(space)
    elif search == "approximate":
        search = ApproximateSearch()
    if isinstance(search, ApproximateSearch) and _exact(space) is TreeSearch:
        search = TreeSearch  # which finds them all, and sooner
    return SEARCHES.get(search, search)


def _within_memory(make: Any, space: Space, n_threads: int, memory_limit: int) -> Search:
    """A search that takes no more memory than that beside points and graph."""
    n_samples, n_features = space.points.shape
    if make is BruteSearch:
        return BruteSearch(space, n_threads, max(1, memory_limit // _BYTES_PER_ENTRY))
    if make is TreeSearch:
        needed = bytes_for_tree(n_samples, n_features, space.dtype)
    else:
        needed = bytes_for_cells(n_samples, n_features, approximate=make is not CellSearch)
    if needed <= memory_limit:
        return make(space, n_threads)
    least = bytes_for_cells(_SMALLEST_CHUNK, n_features, approximate=False)
    if make is not CellSearch or memory_limit < least:
        raise ValueError(
            f"memory_limit={memory_limit} is below the {needed} bytes that this search takes beside X and "
            f"the graph; raise it, or use search='cells', which works in chunks from {least} bytes on"
        )
    chunk_size = _SMALLEST_CHUNK
    while bytes_for_cells(2 * chunk_size, n_features, approximate=False) <= memory_limit:
        chunk_size *= 2
    return ChunkedSearch(space, n_threads, CellSearch, chunk_size)


def _exact(space: Space) -> type[Search]:
    """The fastest exact search."""
    n_samples, n_features = space.points.shape
    if space.minkowski_order is not None and prefers_tree(n_samples, n_features):
        return TreeSearch
    return CellSearch if can_join(space) else BruteSearch


def prefers_tree(n_samples: int, n_features: int) -> bool:
    """Whether a tree is faster than products."""
    # in 11 to 16 dimensions a tree visits most of a small set, but little of a large one that has clusters
    return n_features <= 10 or (n_features <= 16 and n_samples > 50_000)


def _affordable(space: Space) -> bool:
    n_samples, n_features = space.points.shape
    return float(n_samples) ** 2 * n_features <= AFFORDABLE
