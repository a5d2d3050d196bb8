"""ShardedDensityPeaks: the method of `DensityPeaks` for points that do not fit into memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from diffpeaks._base.constants import NOISE
from diffpeaks._base.sklearn_parts import Interval, StrOptions
from diffpeaks._base.validation import n_threads
from diffpeaks._density_peaks import DensityPeaks, fixed_seed
from diffpeaks.neighbors import ApproximateSearch
from diffpeaks.neighbors.euclidean import METRICS
from diffpeaks.neighbors.inputs import transactional_fit
from diffpeaks.neighbors.points import AFFORDABLE
from diffpeaks.progress import Callback
from diffpeaks.recipes import DEFAULT, Recipe
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.facts import facts_of
from diffpeaks.sharded.blocks import BLOCK_ROWS
from diffpeaks.sharded.budget import Budget, bytes_of, taken_by
from diffpeaks.sharded.executors import Executor, executor_of, peak_resident, return_freed_memory
from diffpeaks.sharded.gathering import Gathered, gathered
from diffpeaks.sharded.labels import prepare_labels
from diffpeaks.sharded.points import stored_points
from diffpeaks.sharded.results import written_results
from diffpeaks.sharded.sources import Source, check_apart, open_source
from diffpeaks.sharded.store import Store

_MOST_SAMPLES = np.iinfo(np.int32).max


class ShardedDensityPeaks(ClusterMixin, BaseEstimator):
    """`DensityPeaks` for points in shards: on one machine beyond its memory, or on a cluster.

    Points and neighbours stay in files. Each stage of the method has one task for each piece of them. A run
    that was stopped can be continued in the same folder; finished tasks are not repeated. The clusters are
    those of `DensityPeaks` on the same graph, for any number of shards and workers.

    Parameters
    ----------
    max_link, min_prominence, min_cluster_size, recipe, random_state
        As in `DensityPeaks`.
    metric : {"euclidean", "l2", "sqeuclidean", "cosine", "inner_product"}
    search : {"auto", "exact"} or ApproximateSearch
        "auto" is exact if `n_samples**2 * n_features` is at most 2^40, otherwise approximate at a target
        recall of 0.98.
    memory_limit : int or str
        Memory limit of each process, the driver and every worker, in bytes or as "4GB".
    executor : optional
        Who runs the tasks. On this machine: "processes", the default, "serial", "ray" or "dask". On a
        cluster: an address like "ray://host:10001" or "tcp://host:8786", a client of Dask, or what `ray.init`
        returned.
    n_workers : int, optional
        Number of workers on this machine; None is one on each processor.
    work_folder : path, optional
        Folder for the files of the stages, which every worker must reach under this path. The default is a
        folder `work` in the folder of the results, or a temporary one. Default folders are removed at the
        end.
    columns, id_column : optional
        Of Parquet files: the columns of numbers (None is all columns) and the column of ids.
    verbose, callback
        As in `neighbor_graph`.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        In the order of the input: of shards by the natural order of their names.
    density_ : array of shape (n_samples,)
    n_clusters_ : int
    cut_ : Cut
    isolation_ : Isolation
    smoothing_ : Smoothing or None
    search_ : str
        How neighbours were found.
    recall_ : float
    peak_memory_ : dict
        The largest resident memory of each process, in bytes.
    facts_ : dict
        What was run, and the result, as `diffpeaks cluster --json` prints it.
    n_resumed_ : int
        Number of tasks that an earlier run in the same folder had finished.

    Examples
    --------
    >>> from diffpeaks.sharded import ShardedDensityPeaks
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> ShardedDensityPeaks(executor="serial").fit(X).n_clusters_
    3
    """

    _parameter_constraints = {
        "max_link": [Interval(Real, 0, None, closed="right"), None],
        "min_prominence": [Interval(Real, 0, None, closed="both"), None],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "recipe": [Recipe, None],
        "metric": [StrOptions(set(METRICS))],
        "search": [StrOptions({"auto", "exact"}), ApproximateSearch],
        "memory_limit": [Integral, str],
        "executor": "no_validation",
        "n_workers": [Interval(Integral, 1, None, closed="left"), None],
        "work_folder": [str, os.PathLike, None],
        "columns": [str, list, tuple, None],
        "id_column": [str, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        max_link: float | None = None,
        min_prominence: float | None = None,
        *,
        min_cluster_size: int = 1,
        recipe: Recipe | None = None,
        metric: str = "euclidean",
        search: str | ApproximateSearch = "auto",
        memory_limit: int | str = "4GB",
        executor: Any = None,
        n_workers: int | None = None,
        work_folder: str | os.PathLike[str] | None = None,
        columns: Any = None,
        id_column: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.max_link, self.min_prominence = max_link, min_prominence
        self.min_cluster_size, self.recipe = min_cluster_size, recipe
        self.metric, self.search = metric, search
        self.memory_limit, self.executor, self.n_workers = memory_limit, executor, n_workers
        self.work_folder, self.columns, self.id_column = work_folder, columns, id_column
        self.random_state, self.verbose, self.callback = random_state, verbose, callback

    @transactional_fit
    def fit(self, X: Any, y: Any = None, out: str | os.PathLike[str] | None = None) -> Self:
        """Cluster the points in X.

        Parameters
        ----------
        X : path or array
            A folder of `.npy` and `.parquet` files, one such file or a list of them, a Zarr array, or a
            numpy array, preferably mapped from a file.
        y : ignored
        out : path, optional
            A folder for the results, outside the folder of the points: a Parquet file for each shard, with
            id, label, density, delta and probability.
        """
        for parameter, folder in (("out", out), ("work_folder", self.work_folder)):
            if folder is not None:
                check_apart(parameter, folder, X)
        source = open_source(X, self.columns, self.id_column)
        recall, seed = self._recall(source), fixed_seed(self.random_state)
        bytes_of(self.memory_limit)  # refused before any work
        if source.n_samples > _MOST_SAMPLES:
            raise ValueError(
                f"n_samples={source.n_samples} is more than {_MOST_SAMPLES}, up to which samples are "
                "numbered; cluster a sample of them"
            )
        if out is not None:
            prepare_labels(out, len(source.shards))
        return_freed_memory()  # of this process, which is under the limit as workers are
        with self._folder(out) as folder, executor_of(self.executor, self.n_workers) as executor:
            store = Store(folder, executor)
            store.claim({**self._settings(), "random_state": seed, "recall": recall, **source.identity()})
            budget = self._budget(source, taken_by(executor, source))
            found = gathered(source, self.metric, store, budget, recall is None, n_threads(None))
            points = stored_points(found, store, recall)
            clustering = self._in_memory(seed).clustering_of(points, found.weight)
            self._keep(clustering, found, store)
            if out is not None:
                written_results(out, source, found.point, clustering, store)
            self._told(executor)
        return self

    def _in_memory(self, seed: int = 0) -> DensityPeaks:
        """The clusterer whose method this is."""
        return DensityPeaks(
            max_link=self.max_link,
            min_prominence=self.min_prominence,
            min_cluster_size=self.min_cluster_size,
            recipe=self.recipe,
            metric=self.metric,
            random_state=seed,
        )

    def _recall(self, source: Source) -> float | None:
        """The share of neighbours that is to be found; None for all of them."""
        if isinstance(self.search, ApproximateSearch):
            return self.search.recall
        is_affordable = float(source.n_samples) ** 2 * source.n_features <= AFFORDABLE
        return None if self.search == "exact" or is_affordable else ApproximateSearch().recall

    def _budget(self, source: Source, taken: int) -> Budget:
        n_samples = source.n_samples
        n_neighbors = (self.recipe or DEFAULT).n_neighbors(n_samples)
        row_bytes = source.n_features * source.dtype.itemsize
        entries = min(n_samples, BLOCK_ROWS) * n_neighbors
        return Budget.of(bytes_of(self.memory_limit), n_samples, row_bytes, entries, taken)

    def _settings(self) -> dict[str, Any]:
        """What the results hang on, beside the points."""
        names = "max_link", "min_prominence", "min_cluster_size", "recipe", "metric"
        return {name: repr(getattr(self, name)) for name in names}

    @contextmanager
    def _folder(self, out: str | os.PathLike[str] | None) -> Iterator[Path]:
        """The folder for the files of stages: one that was given stays, another one goes when all is done."""
        if self.work_folder is not None:
            yield Path(self.work_folder).absolute()
            return
        folder = Path(tempfile.mkdtemp(prefix="diffpeaks-")) if out is None else Path(out).absolute() / "work"
        try:
            yield folder
        except BaseException:
            if out is None:
                shutil.rmtree(folder)
            raise
        shutil.rmtree(folder)

    def _keep(self, clustering: Clustering, found: Gathered, store: Store) -> None:
        model, point = self._in_memory()._set(clustering), found.point.mapped()
        self.labels_: NDArray[np.int64] = model.labels_[point]
        self.density_: NDArray[np.float64] = model.density_[point]
        self.n_clusters_, self.cut_ = model.n_clusters_, model.cut_
        self.isolation_, self.smoothing_ = model.isolation_, model.smoothing_
        graph = clustering.landscape.estimator.graph_
        self.search_, self.recall_, self.facts_ = graph.search, graph.recall, facts_of(model)
        self.facts_["n_noise"] = int(np.count_nonzero(self.labels_ == NOISE))
        self.n_features_in_, self.n_resumed_ = found.points.table.n_features, store.n_resumed

    def _told(self, executor: Executor) -> None:
        self.peak_memory_ = {**executor.peak_memory, "driver": peak_resident()}
