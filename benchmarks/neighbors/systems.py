"""Each library as a small function from points to an index and, where it has one, a query of that index.

A system without a query finds the whole graph when it builds. `ladders` are the settings of a build, each
from cheap to expensive, and the dearest ladder first, which is then the first to be lowered; `efforts` are
those of a query, which can be tried on one build. Only the libraries that are asked for are imported.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class System:
    package: str
    build: Callable  # (X, n_neighbors, n_threads, **setting) -> index, or the indices themselves
    query: Callable | None = None  # (index, queries, n_neighbors, n_threads, effort) -> indices
    ladders: dict = field(default_factory=dict)
    start: dict = field(default_factory=dict)
    efforts: Callable = lambda n_neighbors: (None,)
    exact: bool = False
    calibrates_itself: bool = False  # takes the recall as its setting
    has_kernels: bool = False
    dimensions: tuple = (11, np.inf)  # where it is a sensible choice


def rising(first, last, ratio=1.2):
    """Whole numbers from first to last, each about `ratio` times the one before."""
    values = [first]
    while values[-1] < last:
        values.append(min(last, max(values[-1] + 1, int(values[-1] * ratio))))
    return tuple(values)


def diffpeaks_graph(X, n_neighbors, n_threads, recall=None):
    from diffpeaks import ApproximateSearch, neighbor_graph

    search = "exact" if recall is None else ApproximateSearch(recall=recall)
    return neighbor_graph(X, n_neighbors, search=search, n_jobs=n_threads).indices.reshape(len(X), -1)


def diffpeaks_tree(X, n_neighbors, n_threads):
    from diffpeaks import neighbor_graph

    return neighbor_graph(X, n_neighbors, search="tree", n_jobs=n_threads).indices.reshape(len(X), -1)


def pynndescent_graph(X, n_neighbors, n_threads, **setting):
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=n_neighbors, n_jobs=n_threads, random_state=0, **setting).neighbor_graph[
        0
    ]


def hnswlib_build(X, n_neighbors, n_threads, M, ef_construction):
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), M=M, ef_construction=ef_construction)
    index.set_num_threads(n_threads)
    index.add_items(X)
    return index


def hnswlib_query(index, queries, n_neighbors, n_threads, ef):
    index.set_ef(ef)
    try:
        return index.knn_query(queries, n_neighbors)[0].astype(np.int64)
    except RuntimeError:  # it refuses all queries where it finds too few neighbours for one
        return np.full((len(queries), n_neighbors), -1)


def faiss_with(n_threads):
    import faiss

    faiss.omp_set_num_threads(n_threads)
    return faiss


def faiss_flat_build(X, n_neighbors, n_threads):
    index = faiss_with(n_threads).IndexFlatL2(X.shape[1])
    index.add(X)
    return index


def faiss_query(index, queries, n_neighbors, n_threads, effort):
    return index.search(queries, n_neighbors)[1]


def faiss_ivf_build(X, n_neighbors, n_threads, lists_per_root, points_per_list, niter):
    """The number of lists is a multiple of the root of the number of points."""
    faiss = faiss_with(n_threads)
    n_lists = max(1, int(lists_per_root * np.sqrt(len(X))))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
    index.cp.niter = niter
    index.cp.min_points_per_centroid = 1  # fewer are wanted here; the default would only warn
    index.cp.max_points_per_centroid = points_per_list
    index.train(X)
    index.add(X)
    return index


def faiss_ivf_query(index, queries, n_neighbors, n_threads, nprobe):
    index.nprobe = min(nprobe, index.nlist)
    return index.search(queries, n_neighbors)[1]


def faiss_hnsw_build(X, n_neighbors, n_threads, M, ef_construction):
    index = faiss_with(n_threads).IndexHNSWFlat(X.shape[1], M)
    index.hnsw.efConstruction = ef_construction
    index.add(X)
    return index


def faiss_hnsw_query(index, queries, n_neighbors, n_threads, ef):
    index.hnsw.efSearch = ef
    return index.search(queries, n_neighbors)[1]


def faiss_descent_build(X, n_neighbors, n_threads, K, n_iters):
    """The graph that it builds for its own search is the answer."""
    faiss = faiss_with(n_threads)
    index = faiss.IndexNNDescentFlat(X.shape[1], max(K, n_neighbors), faiss.METRIC_L2)
    index.nndescent.iter = n_iters
    index.add(X)
    graph = faiss.vector_to_array(index.nndescent.final_graph).reshape(len(X), -1)
    own = np.arange(len(X), dtype=graph.dtype)[:, None]
    return np.hstack([own, graph[:, : n_neighbors - 1]])


def usearch_build(X, n_neighbors, n_threads, M, ef_construction):
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="bf16", connectivity=M, expansion_add=ef_construction)
    index.add(np.arange(len(X)), X, threads=n_threads)
    return index


def usearch_query(index, queries, n_neighbors, n_threads, ef):
    index.expansion_search = ef
    return index.search(queries, n_neighbors, threads=n_threads).keys.astype(np.int64)


def sklearn_build(X, n_neighbors, n_threads):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=n_threads).fit(X)


def sklearn_query(index, queries, n_neighbors, n_threads, effort):
    return index.kneighbors(queries)[1]


def scipy_build(X, n_neighbors, n_threads, leafsize, balanced_tree, compact_nodes):
    from scipy.spatial import cKDTree

    return cKDTree(X, leafsize=leafsize, balanced_tree=balanced_tree, compact_nodes=compact_nodes)


def scipy_query(tree, queries, n_neighbors, n_threads, effort):
    """All points are visited in the order of the tree, in which scipy is fastest."""
    if len(queries) < tree.n:
        return tree.query(queries, n_neighbors, workers=n_threads)[1]
    found = np.empty((tree.n, n_neighbors), np.int64)
    found[tree.indices] = tree.query(queries[tree.indices], n_neighbors, workers=n_threads)[1]
    return found


def pykdtree_build(X, n_neighbors, n_threads, leafsize):
    from pykdtree.kdtree import KDTree

    return KDTree(X, leafsize=leafsize)


def pykdtree_query(tree, queries, n_neighbors, n_threads, effort):
    return tree.query(queries, n_neighbors, sqr_dists=True)[1].astype(np.int64)


_HNSW = {
    "ladders": {"M": (8, 12, 16, 24, 32, 48), "ef_construction": (40, 60, 80, 120, 200, 300)},
    "start": {"M": 16, "ef_construction": 80},
    "efforts": lambda n_neighbors: rising(n_neighbors, 40 * n_neighbors),
}
_LOW = {"exact": True, "dimensions": (1, 16)}

SYSTEMS = {
    "diffpeaks": System("diffpeaks", diffpeaks_graph, calibrates_itself=True, has_kernels=True),
    "diffpeaks exact": System("diffpeaks", diffpeaks_graph, exact=True, has_kernels=True),
    "diffpeaks tree": System("diffpeaks", diffpeaks_tree, **_LOW),
    "pynndescent": System(
        "pynndescent",
        pynndescent_graph,
        ladders={
            "max_candidates": (10, 15, 20, 30, 40, 60),
            "n_iters": (1, 2, 3, 4, 6),
            "n_trees": (2, 3, 4, 6, 8, 12),
        },
        start={"n_trees": 4, "n_iters": 2, "max_candidates": 20},
    ),
    "faiss IVF": System(
        "faiss-cpu",
        faiss_ivf_build,
        faiss_ivf_query,
        ladders={"lists_per_root": (0.5, 1, 2, 4, 8), "points_per_list": (20, 40, 100), "niter": (3, 5, 10)},
        start={"lists_per_root": 2, "points_per_list": 40, "niter": 5},
        efforts=lambda n_neighbors: rising(1, 1000),
    ),
    "hnswlib": System("hnswlib", hnswlib_build, hnswlib_query, **_HNSW),
    "faiss HNSW": System("faiss-cpu", faiss_hnsw_build, faiss_hnsw_query, **_HNSW),
    "usearch": System("usearch", usearch_build, usearch_query, **_HNSW),
    "faiss NN-descent": System(
        "faiss-cpu",
        faiss_descent_build,
        ladders={"K": (32, 48, 64, 96), "n_iters": (3, 5, 8, 12)},
        start={"K": 48, "n_iters": 5},
    ),
    "faiss flat": System("faiss-cpu", faiss_flat_build, faiss_query, exact=True),
    "scikit-learn brute": System("scikit-learn", sklearn_build, sklearn_query, exact=True),
    "scipy cKDTree": System(
        "scipy",
        scipy_build,
        scipy_query,
        ladders={"leafsize": (8, 16, 32), "balanced_tree": (False, True), "compact_nodes": (False, True)},
        start={"leafsize": 16, "balanced_tree": False, "compact_nodes": True},
        **_LOW,
    ),
    "pykdtree": System(
        "pykdtree",
        pykdtree_build,
        pykdtree_query,
        ladders={"leafsize": (8, 16, 32)},
        start={"leafsize": 16},
        **_LOW,
    ),
}


def systems_for(n_features, target):
    """The names of those that are to be compared: exact ones where all neighbours are asked for."""
    return [
        name
        for name, system in SYSTEMS.items()
        if system.exact == (target == 1) and system.dimensions[0] <= n_features <= system.dimensions[1]
    ]
