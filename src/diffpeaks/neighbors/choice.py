"""Which search: the one that was asked for by name, or the one that suits the space."""

from __future__ import annotations

from typing import Any

from diffpeaks.neighbors.brute import BruteSearch
from diffpeaks.neighbors.cell_search import ApproximateSearch, CellSearch
from diffpeaks.neighbors.contract import Search, Space, can_join
from diffpeaks.neighbors.limited import limited_search
from diffpeaks.neighbors.trees import TreeSearch

SEARCHES: dict[str, type[Search]] = {"tree": TreeSearch, "cells": CellSearch, "brute": BruteSearch}
CHOICES = ("auto", "exact", "approximate", *SEARCHES)
# Multiplications of all pairs up to which "auto" stays exact: some seconds on two cores. It depends on
# the data alone, so that the same data get the same graph on every machine.
AFFORDABLE = 2.0**40


def check_search(search: Any) -> None:
    """Refuse what is neither the name of a search nor an ApproximateSearch."""
    if not isinstance(search, ApproximateSearch) and search not in CHOICES:
        raise ValueError(
            f"search={search!r} is unknown; use one of {list(CHOICES)} or ApproximateSearch(recall=...)"
        )


def search_for(
    search: Any, space: Space, n_threads: int, memory_limit: int | None = None, n_neighbors: int = 1
) -> Search:
    """A search in the space, as named or as the space suggests; a limit must know how many are sought."""
    make = _chosen(search, space)
    if memory_limit is None:
        return make(space, n_threads)
    return limited_search(make, space, n_threads, memory_limit, n_neighbors)


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
