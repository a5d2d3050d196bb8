"""Sets of faces and their neighbour graphs: real files where the user has them, generated ones otherwise."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from diffpeaks import ApproximateSearch, NeighborGraph, neighbor_graph
from diffpeaks.datasets import load_cdp, load_learn_to_cluster, make_faces, unit_rows
from diffpeaks_paper.definitions import FACE_NEIGHBORS, FACE_RECALL, FACE_SETS


@dataclass(frozen=True)
class Faces:
    """A set of unit vectors with identities; its graph is kept in a file, and read back where it is there."""

    name: str
    source: str  # "real" or "generated"
    X: np.ndarray
    y: np.ndarray
    graph_file: Path

    @cached_property
    def graph(self):
        """The nearest neighbours by Euclidean distance between unit vectors."""
        if not self.graph_file.exists():
            self.graph_file.parent.mkdir(parents=True, exist_ok=True)
            search = ApproximateSearch(recall=FACE_RECALL)
            neighbor_graph(self.X, FACE_NEIGHBORS, search=search).save(self.graph_file)
        return NeighborGraph.load(self.graph_file)


def source_of(name, folder):
    """Whether the files of a set are in the data folder."""
    return "generated" if folder is None or not (Path(folder) / name).exists() else "real"


@lru_cache(maxsize=1)
def load_faces(name, folder, n_samples, work):
    """A set from `folder/NAME`, or one generated in its likeness; `work` is where graphs are kept."""
    faces = FACE_SETS[name]
    source = source_of(name, folder)
    if source == "real":
        load = load_cdp if faces.files == "cdp" else load_learn_to_cluster
        X, y, _ = load(Path(folder) / name, faces.file_name)
        X, y = unit_rows(X[:n_samples]), y[:n_samples]
    else:
        n_samples = n_samples or faces.n_samples
        share = n_samples / faces.n_samples
        X, y = make_faces(n_samples, max(1, round(share * faces.n_identities)), random_state=0)
    graph_file = Path(work) / f"{name}-{source}-{len(X)}-{FACE_NEIGHBORS}.graph"
    return Faces(name, source, X, y, graph_file)


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
