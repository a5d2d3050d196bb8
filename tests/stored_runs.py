"""Runs on small shards: in this process, with pieces so small that there are several of everything."""

from itertools import pairwise

import numpy as np

from diffpeaks.sharded.blocks import Block, Bounds, block_arrays
from diffpeaks.sharded.executors import SerialExecutor
from diffpeaks.sharded.graph import StoredGraph
from diffpeaks.sharded.passes import StoredRows
from diffpeaks.sharded.store import Store


def shards_in(folder, X, n_shards):
    """The rows of X in files of about one size."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(X, n_shards)):
        np.save(folder / f"part-{number}.npy", rows)
    return folder


def new_store(folder, name="work"):
    store = Store(folder / name, SerialExecutor())
    store.folder.mkdir()
    return store


def bounds_of(cuts):
    return [Bounds(first, last, 0) for first, last in pairwise(cuts)]


def stored(graph, store, cuts):
    """A graph in memory as one in files, its rows cut at those points."""
    bounds = bounds_of(cuts)
    tasks = [(graph, *of[:2]) for of in bounds]
    paths = store.map("given", _block_of, tasks)
    told = graph.search, graph.recall, graph.recall_error
    blocks = [Block(*of_block) for of_block in zip(bounds, paths, strict=True)]
    return StoredGraph.of_rows(StoredRows.of_blocks(store, blocks), graph.n_neighbors, graph.radius, told)


def _block_of(asked):
    graph, first, last = asked
    entries = slice(graph.indptr[first], graph.indptr[last])
    rows = type("Rows", (), {"indices": graph.indices[entries], "distances": graph.distances[entries]})
    return block_arrays(first, graph.degrees[first:last], rows)
