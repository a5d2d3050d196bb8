"""Sets of faces, real or generated, and their neighbour graphs."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from diffpeaks import ApproximateSearch, NeighborGraph, neighbor_graph
from diffpeaks.datasets import make_faces, unit_rows
from diffpeaks_paper.definitions import FACE_SETS
from diffpeaks_paper.sources import GENERATED, real_files, real_path


@dataclass(frozen=True)
class Faces:
    """A set of unit vectors with identities; its graph is kept in a file, and read back where it is there."""

    name: str
    source: str  # "generated", or "real" and a checksum
    X: np.ndarray
    y: np.ndarray
    graph_file: Path

    @cached_property
    def graph(self):
        if not self.graph_file.exists():
            self.graph_file.parent.mkdir(parents=True, exist_ok=True)
            neighbors_of(self.X, self.name).save(self.graph_file)
        return NeighborGraph.load(self.graph_file)


def neighbors_of(X, name):
    """The nearest neighbours by Euclidean distance between unit vectors, as many as the set asks for."""
    faces = FACE_SETS[name]
    search = "exact" if faces.recall == 1 else ApproximateSearch(recall=faces.recall)
    return neighbor_graph(X, faces.n_neighbors, search=search)


@lru_cache(maxsize=2)  # those that are tested and those that are trained on
def load_faces(name, folder, source, n_samples, work, random_state=0):
    """A set from `folder/NAME`, or one generated in its likeness; `work` is where graphs are kept.

    Each `random_state` generates faces of other people.
    """
    faces = FACE_SETS[name]
    if source == GENERATED:
        n_identities = max(1, round(n_samples / faces.n_samples * faces.n_identities))
        X, y = make_faces(n_samples, n_identities, **faces.likeness, random_state=random_state)
    else:
        X, y = _unit_rows_of_files(name, folder, n_samples)
    stem = f"{name}-{source}-{n_samples}".replace(" ", "-") + (f"-seed{random_state}" if random_state else "")
    return Faces(name, source, X, y, Path(work) / f"{stem}-{faces.n_neighbors}.graph")


def _unit_rows_of_files(name, folder, n_samples):
    X, y = real_files(name, folder)
    try:
        return unit_rows(X[:n_samples]), y[:n_samples]
    except ValueError as error:
        raise ValueError(f"{real_path(name, folder)}: {error}") from error


def ball_graph(graph, radius):
    """The lists cut at a radius and closed under symmetry: whoever is in either's list is in both.

    This is the ball where no list is full within the radius, and the ball cut to near samples elsewhere.
    """
    lists = graph.up_to(radius)
    owners = np.repeat(np.arange(graph.n_samples, dtype=np.int64), lists.degrees)
    low, high = np.minimum(owners, lists.indices), np.maximum(owners, lists.indices)
    _, first = np.unique(low * graph.n_samples + high, return_index=True)
    low, high, distances = low[first], high[first], lists.distances[first]
    apart = low != high
    rows = np.concatenate([low, high[apart]])
    columns = np.concatenate([high, low[apart]])
    distances = np.concatenate([distances, distances[apart]])
    order = np.lexsort((columns, distances, columns != rows, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows))])
    return NeighborGraph(indptr, columns[order].astype(np.int32), distances[order], radius=radius)
