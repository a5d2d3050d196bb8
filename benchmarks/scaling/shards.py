"""Points in shards: seconds, memory and agreement, beside `DensityPeaks` on the same points in the same run.

usage: shards.py {faces,mixture} --samples N --features D [--engines serial processes ray dask]
                 [--workers W ...] [--memory SIZE] [--recall R] [--whole] [--same-graph] [--shards S]
                 [--folder FOLDER]

faces: `make_faces`, unit vectors like embeddings of faces; metric cosine. mixture: 1,000 Gaussians that
overlap.
A JSON line for each engine and number of workers: seconds, and the largest resident memory of each process.
--whole: also `DensityPeaks` on as many threads, in a process of its own. --same-graph: whether labels are
those of `DensityPeaks` in memory on the very graphs that the first run searched.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import machine
from sklearn.metrics import adjusted_rand_score

from diffpeaks import DensityPeaks
from diffpeaks.datasets import make_faces
from diffpeaks.neighbors import ApproximateSearch
from diffpeaks.neighbors.euclidean import EuclideanSpace
from diffpeaks.neighbors.points import Choice, PointSet
from diffpeaks.sharded import ShardedDensityPeaks
from diffpeaks.sharded.executors import SerialExecutor
from diffpeaks.sharded.gathering import gathered
from diffpeaks.sharded.points import StoredPoints, stored_points
from diffpeaks.sharded.sources import open_source
from diffpeaks.sharded.store import Store

METRIC = {"faces": "cosine", "mixture": "euclidean"}


def make_shards(kind, n_samples, n_features, n_shards, folder):
    """The points in files of float32, unless they are there; a mixture never lies in memory as a whole."""
    folder = Path(folder) / f"{kind}-{n_samples}-{n_features}-{n_shards}"
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    sizes = np.diff(np.linspace(0, n_samples, n_shards + 1).astype(int))
    if kind == "faces":
        X, _ = make_faces(n_samples, n_features=n_features, random_state=0)
        rows = np.split(X.astype(np.float32), np.cumsum(sizes)[:-1])
    else:
        centers = np.random.default_rng(0).normal(size=(1000, n_features)) * 2.0
        rows = (_mixture(centers, size, number) for number, size in enumerate(sizes, start=1))
    for number, shard in enumerate(rows):
        np.save(folder / f"part-{number:05d}.npy", shard)
    return folder


def _mixture(centers, size, seed):
    random = np.random.default_rng(seed)
    noise = random.standard_normal((size, centers.shape[1]), dtype=np.float32)
    return centers[random.integers(len(centers), size=size)].astype(np.float32) + noise


def in_own_process(*words):
    """What this script prints last, called with these words in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, words)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def search_at(recall):
    return "auto" if recall is None else ApproximateSearch(recall)


def fit_shards(folder, kind, engine, workers, memory, recall, labels, work):
    start, spent = time.perf_counter(), Stages()
    how = {"memory_limit": memory, "executor": engine, "n_workers": workers, "callback": spent}
    how |= {"work_folder": work}
    model = ShardedDensityPeaks(metric=METRIC[kind], search=search_at(recall), **how).fit(folder)
    seconds = time.perf_counter() - start
    np.save(labels, model.labels_)
    peaks = {name: round(peak / 2**20) for name, peak in model.peak_memory_.items()}
    return {
        "seconds": round(seconds, 1),
        "stages": spent.seconds(),
        "peak_mib": peaks,
        "n_clusters": model.n_clusters_,
        "search": model.search_,
        "recall": round(model.recall_, 4),
    }


class Stages:
    """A callback that adds up the seconds of each stage of its own."""

    def __init__(self):
        self._last, self._since, self._spent = None, time.perf_counter(), {}

    def __call__(self, progress):
        now = time.perf_counter()
        self._spent[self._last] = self._spent.get(self._last, 0.0) + now - self._since
        self._last, self._since = progress.stage, now

    def seconds(self):
        return {name: round(spent, 1) for name, spent in self._spent.items() if name and spent >= 0.1}


def fit_whole(folder, kind, threads, recall, labels):
    X = np.concatenate([np.load(path) for path in sorted(Path(folder).glob("*.npy"))])
    start = time.perf_counter()
    model = DensityPeaks(metric=METRIC[kind], n_jobs=threads, search=search_at(recall)).fit(X)
    seconds = time.perf_counter() - start
    np.save(labels, model.labels_)
    graph = model.graph_
    facts = {"n_clusters": model.n_clusters_, "search": graph.search, "recall": round(graph.recall, 4)}
    return {"seconds": round(seconds, 1), **facts}


class RecordedPoints(StoredPoints):
    """Keeps the graphs that were searched."""

    def graph(self, n_neighbors=None, radius=None):
        found = super().graph(n_neighbors, radius)
        self.space.store.graphs.append(found)
        return found

    def moved(self, points):
        return RecordedPoints(self.space.moved(points), self._recall, self._choice, self._rule)


class GivenGraphs(PointSet):
    """Points in memory whose graphs are known: what follows the searches is that of `DensityPeaks`."""

    def __init__(self, space, graphs, in_input_order):
        super().__init__(space, None, Choice("exact", None, 2))
        self._graphs, self._in_input_order = graphs, in_input_order

    def graph(self, n_neighbors=None, radius=None):
        return self._graphs[0].in_memory()

    def moved(self, points):
        return GivenGraphs(self.space.moved(points), self._graphs[1:], self._in_input_order)

    def _sample(self, random):
        return np.sort(self._in_input_order[super()._sample(random)])


def fit_same_graph(folder, kind, memory, recall, labels, work):
    """`DensityPeaks` in memory on the graphs of the run whose files are in the work folder."""
    model, source = ShardedDensityPeaks(search=search_at(recall), memory_limit=memory), open_source(folder)
    with SerialExecutor() as executor:
        store, recall = Store(work, executor), model._recall(source)
        store.graphs = []
        found = gathered(source, METRIC[kind], store, model._budget(source, 0), recall is None, 2)
        points = stored_points(found, store, recall)
        points.__class__ = RecordedPoints
        DensityPeaks(metric=METRIC[kind]).clustering_of(points, found.weight)
        space = EuclideanSpace(points.space.points.between(0, points.n_samples), METRIC[kind], True)
        given = GivenGraphs(space, store.graphs, found.in_input_order)
        whole = DensityPeaks(metric=METRIC[kind]).clustering_of(given, found.weight)
    np.save(labels, whole.labels[found.point.mapped()])
    return {"n_clusters": whole.n_clusters, "n_searches": len(store.graphs), "n_resumed": store.n_resumed}


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=METRIC)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--features", type=int, required=True)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--engines", nargs="*", default=["processes"])
    parser.add_argument("--workers", nargs="*", type=int, default=[2])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--recall", type=float, help="of the search; by default what the library chooses")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--same-graph", action="store_true")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--child", nargs=2, metavar=("NAME", "WORKERS"), help=argparse.SUPPRESS)
    return parser.parse_args()


def child(given, folder):
    """What the parent asks for; labels go to a file."""
    name, workers = given.child[0], int(given.child[1])
    labels, work = labels_of(folder, name, workers), folder.parent / f"{folder.name}-work"
    if name == "whole":
        return fit_whole(folder, given.kind, workers, given.recall, labels)
    if name == "same graph":
        return fit_same_graph(folder, given.kind, given.memory, given.recall, labels, work)
    kept = work if given.same_graph and not work.exists() else None  # the first run leaves its graphs
    return fit_shards(folder, given.kind, name, workers, given.memory, given.recall, labels, kept)


def labels_of(folder, name, workers):
    return folder.parent / f"{folder.name}-labels-{name.replace(' ', '-')}-{workers}.npy"


def main():
    given = parsed()
    folder = make_shards(given.kind, given.samples, given.features, given.shards, given.folder)
    if given.child:
        print(json.dumps(child(given, folder)))
        return
    size = {"kind": given.kind, "n_samples": given.samples, "n_features": given.features}
    what = {"experiment": "shards", **size, "memory": given.memory, "target": given.recall}
    same = None
    for workers in given.workers:
        whole = in_own_process(*sys.argv[1:], "--child", "whole", workers) if given.whole else None
        for engine in given.engines:
            ours = in_own_process(*sys.argv[1:], "--child", engine, workers)
            line = {**what, **machine(workers), "engine": engine, "workers": workers, **ours}
            found = np.load(labels_of(folder, engine, workers))
            if given.same_graph:
                same = same or in_own_process(*sys.argv[1:], "--child", "same graph", 1)
                expected = np.load(labels_of(folder, "same graph", 1))
                line["same_graph"] = {**same, "same_labels": bool(np.array_equal(found, expected))}
            if whole:
                agreement = adjusted_rand_score(np.load(labels_of(folder, "whole", workers)), found)
                ratio = round(ours["seconds"] / whole["seconds"], 2)
                line |= {"whole": whole, "ratio": ratio, "adjusted_rand_index": round(agreement, 4)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
