"""Clusters of points in shards are those of `DensityPeaks`, however the work is cut, and after any stop."""

import errno
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refuses
from sklearn.datasets import load_digits, make_blobs, make_moons
from small_groups import small_groups
from stored_runs import shards_in

from diffpeaks import DensityPeaks
from diffpeaks.datasets import make_faces
from diffpeaks.neighbors import ApproximateSearch
from diffpeaks.recipes import DEFAULT
from diffpeaks.sharded import ShardedDensityPeaks
from diffpeaks.sharded.budget import Budget
from diffpeaks.sharded.executors import SerialExecutor
from diffpeaks.sharded.gathering import gathered
from diffpeaks.sharded.labels import read_labels
from diffpeaks.sharded.points import stored_points
from diffpeaks.sharded.sources import open_source
from diffpeaks.sharded.store import Store

# Ray and Dask leave sockets and event loops to Python, which may notice them in any later test
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# neighbours that are equally near would follow the order of points, which is another one in cells
DIGITS = load_digits().data + np.random.RandomState(0).normal(scale=1e-3, size=(1797, 64))


def fitted(X, **params):
    return ShardedDensityPeaks(executor="serial", **params).fit(X)


def with_copies():
    random = np.random.RandomState(0)
    return np.vstack([DIGITS, DIGITS[random.randint(len(DIGITS), size=700)]])


def strangers():
    """Faces of a few people, and of many who are seen once."""
    X, _ = make_faces(2500, n_features=64, random_state=3, singleton_share=0.3)
    return X.astype(np.float32)


SETS = {
    "digits": (lambda: DIGITS, {}),
    "digits in single precision": (lambda: DIGITS.astype(np.float32), {}),
    "digits by direction": (lambda: DIGITS, {"metric": "cosine"}),
    "copies": (with_copies, {}),
    "plane": (lambda: make_moons(900, noise=0.06, random_state=1)[0], {}),
    "strangers": (strangers, {"metric": "cosine"}),
    "links": (lambda: DIGITS, {"max_link": 25.0}),
    "prominence": (lambda: DIGITS, {"min_prominence": 0.3}),
    "small clusters are noise": (lambda: DIGITS, {"min_cluster_size": 150}),
    "another recipe": (lambda: DIGITS, {"recipe": replace(DEFAULT, smooth=False, neighbors=2.0)}),
    "small groups": (lambda: small_groups()[0], {}),
    "one": (lambda: np.ones((1, 2)), {}),
    "two": (lambda: np.eye(2), {}),
    "nothing but copies": (lambda: np.ones((30, 2)), {}),
}


@pytest.mark.parametrize("name", SETS)
def test_clusters_are_those_of_points_in_memory(name, tmp_path):
    make, params = SETS[name]
    X = make()
    expected = DensityPeaks(search="exact", **params).fit(X)
    found = fitted(shards_in(tmp_path / "shards", X, min(3, len(X))), **params)
    assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.density_, expected.density_, rtol=1e-6)
    assert found.n_clusters_ == expected.n_clusters_
    assert found.isolation_.kind == expected.isolation_.kind
    assert (found.smoothing_ is None) == (expected.smoothing_ is None)
    assert (found.search_, found.recall_) == ("cells", 1.0)


def in_pieces(X, store, budget, recall=None, metric="euclidean"):
    """Points in cells, brought there in pieces of so many bytes."""
    found = gathered(open_source(X), metric, store, budget, recall is None, 1)
    return found, stored_points(found, store, recall)


@pytest.mark.parametrize("room", [40_000, 1 << 26])
@pytest.mark.parametrize("piece_bytes", [9_000, 1 << 26])
def test_pieces_and_memory_change_nothing(room, piece_bytes, tmp_path):
    X = with_copies()
    expected = DensityPeaks(search="exact").fit(X)
    with SerialExecutor() as executor:
        store = Store(tmp_path, executor)
        found, points = in_pieces(X, store, Budget(piece_bytes, room))
        clustering = DensityPeaks().clustering_of(points, found.weight)
    assert_array_equal(clustering.labels[found.point.mapped()], expected.labels_)
    point = found.point.mapped()
    assert_array_equal(points.space.rows(np.arange(points.n_samples))[point], X)
    _, first = np.unique(point, return_index=True)
    assert_array_equal(np.argsort(first), found.in_input_order)


def test_an_approximate_graph_has_the_labels_of_the_same_graph_in_memory(tmp_path):
    X, _ = make_blobs(20_000, 24, centers=30, cluster_std=4.0, random_state=0)
    recipe = replace(DEFAULT, smooth=False, isolated="outliers")
    graphs, found_labels = [], []
    with SerialExecutor() as executor:
        for number, room in enumerate((600_000, 1 << 27)):
            folder = tmp_path / str(number)
            folder.mkdir()
            found, points = in_pieces(X, Store(folder, executor), Budget(1 << 19, room), recall=0.9)
            assert found.weight is None
            clustering = DensityPeaks(recipe=recipe).clustering_of(points, None)
            graphs.append(clustering.landscape.estimator.graph_.in_memory())
            found_labels.append(clustering.labels)
            expected = DensityPeaks(recipe=recipe, metric="precomputed").fit(graphs[-1])
            assert_array_equal(clustering.labels, expected.labels_)
            assert_array_equal(clustering.density, expected.density_)
    assert graphs[0].search.startswith("approximate")
    assert 0.9 <= graphs[0].recall < 1
    assert_array_equal(graphs[0].indices, graphs[1].indices)  # whatever fits into memory
    assert_array_equal(graphs[0].distances, graphs[1].distances)
    # the recall that is told, on rows that calibration did not see
    ordered = np.empty_like(X)
    ordered[found.point.mapped()] = X
    some = np.random.RandomState(5).choice(len(X), 300, replace=False)
    exact = DensityPeaks(search="exact").set_params(n_neighbors=graphs[0].n_neighbors)
    truth = exact._searchable(ordered).graph(graphs[0].n_neighbors).indices.reshape(len(X), -1)
    rows = graphs[0].indices.reshape(len(X), -1)
    shares = [len(np.intersect1d(rows[i], truth[i])) / rows.shape[1] for i in some]
    assert np.mean(shares) >= 0.89


def test_every_engine_gives_the_same_clusters(executor, tmp_path):
    folder = shards_in(tmp_path / "shards", with_copies()[900:], 3)
    expected = fitted(folder)
    found = ShardedDensityPeaks(executor=executor).fit(folder)
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.density_, expected.density_)
    assert len(found.peak_memory_) >= 2
    assert all(peak > 0 for peak in found.peak_memory_.values())


class StoppedError(Exception):
    pass


class StoppingExecutor(SerialExecutor):
    """Is stopped in the stage of that number, after its first task."""

    def __init__(self, stopped):
        super().__init__()
        self.stopped, self.stages = stopped, []

    def run(self, name, task, tasks):
        self.stages.append(name)
        for result in super().run(name, task, tasks):
            yield result
            if len(self.stages) == self.stopped:
                raise StoppedError(name)


def stages_of(folder, **params):
    """The stages of a run, in their order."""
    executor = StoppingExecutor(None)
    ShardedDensityPeaks(executor=executor, **params).fit(folder)
    return executor.stages


def test_a_run_that_was_stopped_at_any_stage_goes_on_where_it_was(tmp_path):
    folder = shards_in(tmp_path / "shards", DIGITS[:600], 2)
    expected, resumed = fitted(folder).labels_, []
    stages = [*stages_of(folder), "probabilities", "labels"]
    for number, name in enumerate(stages, start=1):
        out = tmp_path / f"out-{number}"
        with pytest.raises(StoppedError, match=f"^{name}$"):
            ShardedDensityPeaks(executor=StoppingExecutor(number)).fit(folder, out=out)
        model = ShardedDensityPeaks(executor="serial").fit(folder, out=out)
        resumed.append(model.n_resumed_)
        assert_array_equal(model.labels_, expected)
        assert_array_equal(read_labels(out).label, expected)
        assert not (out / "work").exists()
    assert stages[:4] == ["opening", "survey", "routing", "gathering"]
    assert {"search", "smoothing", "weights", "step", "links", "parents", "flow", "borders"} <= {*stages}
    assert resumed == sorted(resumed)
    assert resumed[:2] == [0, 1]


def test_a_run_goes_on_with_a_generator_in_the_same_state(tmp_path):
    work = tmp_path / "work"
    first = fitted(DIGITS[:300], work_folder=work, random_state=np.random.RandomState(3))
    second = fitted(DIGITS[:300], work_folder=work, random_state=np.random.RandomState(3))
    assert second.n_resumed_ > first.n_resumed_ == 0
    assert_array_equal(second.labels_, first.labels_)
    with refuses("random_state was|now"):
        fitted(DIGITS[:300], work_folder=work, random_state=np.random.RandomState(4))


@pytest.mark.parametrize("name", ["exact sample", "calibration"])
def test_a_calibration_that_was_stopped_goes_on(name, tmp_path):
    X, _ = make_blobs(12_000, 64, centers=5, random_state=0)
    params = {"search": ApproximateSearch(0.9), "work_folder": tmp_path / "work"}
    number = stages_of(X, search=params["search"]).index(name) + 1
    with pytest.raises(StoppedError, match=name):
        ShardedDensityPeaks(executor=StoppingExecutor(number), **params).fit(X)
    model = fitted(X, **params)
    assert model.n_resumed_ > 0
    assert_array_equal(model.labels_, fitted(X, search=params["search"]).labels_)


def test_a_run_whose_scheduler_is_lost_says_so_and_goes_on_elsewhere(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    import dask

    folder, out = shards_in(tmp_path / "shards", DIGITS[:600], 2), tmp_path / "out"
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),  # for which it is looked for in vain
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        address = cluster.scheduler_address

        def end_at_smoothing(progress):
            if progress.stage == "smoothing":
                cluster.close()

        model = ShardedDensityPeaks(executor=address, callback=end_at_smoothing)
        with pytest.raises(ConnectionError, match=r"connection to Dask was lost; .* start again"):
            model.fit(folder, out=out)
    again = ShardedDensityPeaks(executor="serial").fit(folder, out=out)
    assert again.n_resumed_ > 3
    assert_array_equal(again.labels_, fitted(folder).labels_)


def test_damaged_results_of_tasks_are_made_again(tmp_path):
    folder = shards_in(tmp_path / "shards", DIGITS[:600], 2)
    work = tmp_path / "work"
    first = fitted(folder, work_folder=work)
    paths = sorted(work.glob("*/*.part"))
    for path in paths[::3]:
        path.write_bytes(path.read_bytes()[:-5])
    second = fitted(folder, work_folder=work)
    assert_array_equal(second.labels_, first.labels_)
    assert second.n_resumed_ == len(paths) - len(paths[::3])


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_space(tmp_path, monkeypatch):
    folder = shards_in(tmp_path / "shards", DIGITS[:600], 2)
    expected = fitted(folder).labels_
    left = iter(range(14))

    def sync(descriptor):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", sync)
        with pytest.raises(OSError, match=r"there is no space left for .*; nothing was written"):
            ShardedDensityPeaks(executor="serial").fit(folder, out=tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.tmp"))
    model = ShardedDensityPeaks(executor="serial").fit(folder, out=tmp_path / "out")
    assert model.n_resumed_ > 3
    assert_array_equal(model.labels_, expected)


def test_a_folder_keeps_to_one_run(tmp_path):
    folder = shards_in(tmp_path / "shards", DIGITS[:300], 2)
    work = tmp_path / "work"
    fitted(folder, work_folder=work)
    with pytest.raises(ValueError, match=r"a run in which min_prominence was None, where it is 0.5 now"):
        fitted(folder, work_folder=work, min_prominence=0.5)
    np.save(folder / "part-1.npy", DIGITS[300:600])
    with pytest.raises(
        ValueError, match=r"a run in which the shard 'part-1.npy' was different; to start again"
    ):
        fitted(folder, work_folder=work)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("letters")
    with pytest.raises(ValueError, match="has files that no run made"):
        fitted(folder, work_folder=tmp_path / "other")


@pytest.mark.parametrize("parameter", ["out", "work_folder"])
@pytest.mark.parametrize("place", ["shards", "shards/labels", "link"])
@pytest.mark.parametrize("kind", ["folder", "files"])
def test_nothing_is_written_where_the_points_are(tmp_path, parameter, place, kind):
    folder = shards_in(tmp_path / "shards", DIGITS[:60], 2)
    (tmp_path / "link").symlink_to(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    points = folder if kind == "folder" else list(folder.iterdir())
    given = {"out": None, "work_folder": None, parameter: tmp_path / place}
    model = ShardedDensityPeaks(executor="serial", work_folder=given["work_folder"])
    if kind == "files" and place == "shards/labels":  # which are not read again with the points
        model.fit(points, out=given["out"])
        return
    with pytest.raises(ValueError, match=f"{parameter}=.*holds the points.*folder of its own"):
        model.fit(points, out=given["out"])
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_results_lie_in_a_file_for_each_shard(tmp_path):
    folder = shards_in(tmp_path / "shards", with_copies(), 4)
    out = tmp_path / "out"
    model = ShardedDensityPeaks(executor="serial").fit(folder, out=out)
    assert sorted(path.name for path in out.iterdir()) == [f"part-{i:05d}.parquet" for i in range(4)]
    whole = DensityPeaks(search="exact").fit(with_copies())
    found = read_labels(out)
    assert_array_equal(found.id, np.arange(len(whole.labels_)))
    assert_array_equal(found.label, whole.labels_)
    assert_array_equal(found.label, model.labels_)
    np.testing.assert_allclose(found.probability, whole.probabilities_, atol=1e-6)
    is_link = np.isfinite(found.delta)
    assert np.count_nonzero(~is_link) >= model.n_clusters_
    assert model.peak_memory_["driver"] > 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"memory_limit": "much"}, "is no number of bytes"),
        ({"memory_limit": -1}, "is no number of bytes"),
        ({"memory_limit": "1MB", "executor": "serial"}, "1000000 bytes is too little.*raise it"),
        ({"metric": "manhattan"}, "'metric' parameter"),
        ({"search": "tree"}, "'search' parameter"),
        ({"n_workers": 0}, "'n_workers' parameter"),
        ({"executor": "slurm"}, "executor='slurm' is unknown"),
    ],
)
def test_parameters_are_refused_by_name(params, message):
    with pytest.raises(ValueError, match=message):
        ShardedDensityPeaks(**params).fit(DIGITS)


def test_a_folder_of_its_own_goes_also_after_a_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(StoppedError):
        ShardedDensityPeaks(executor=StoppingExecutor(3)).fit(DIGITS)
    assert not list(tmp_path.iterdir())


def test_rows_without_a_direction_are_told_with_their_shard(tmp_path):
    X = DIGITS[:200].copy()
    X[150] = 0
    folder = shards_in(tmp_path / "shards", X, 2)
    with pytest.raises(ValueError, match="rows with a direction") as told:
        fitted(folder, metric="cosine")
    assert any("part-1.npy" in note for note in told.value.__notes__)


@pytest.mark.parametrize(("n_samples", "n_features"), [(1, 2), (3, 2), (3000, 8), (12_000, 64)])
def test_a_search_at_a_recall_is_asked_for_as_elsewhere(n_samples, n_features):
    X, _ = make_blobs(n_samples, n_features, centers=min(n_samples, 5), random_state=0)
    model = fitted(X, search=ApproximateSearch(0.9))
    is_large = n_samples > 3000
    assert model.search_.startswith("approximate" if is_large else "cells")
    assert model.recall_ >= 0.9
    assert is_large == (model.recall_ < 1)
    if n_samples >= 3000:
        assert model.n_clusters_ == 5


def test_the_identity_of_a_run_is_json(tmp_path):
    fitted(DIGITS[:100], work_folder=tmp_path / "work")
    assert json.loads((tmp_path / "work" / "run.json").read_text())["n_features"] == 64
