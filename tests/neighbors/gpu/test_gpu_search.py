"""Search on a device of torch, here the processor: the same graph as every exact search, to the last bit."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from clouds import clouds_and_k, radii, rows_of
from device_sets import SETS, assert_same_graph, clumps, points_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.datasets import make_faces
from diffpeaks.neighbors import searchable
from diffpeaks.neighbors.gpu import ladder, table
from diffpeaks.neighbors.gpu import space as space_module
from diffpeaks.neighbors.gpu.ladder import DevicePoints, Rung
from diffpeaks.neighbors.inputs import space_of
from diffpeaks.recipes import DEFAULT


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("name", SETS)
def test_the_graph_is_that_of_an_exact_search(name, metric, dtype):
    X = points_of(name, metric, dtype)
    on_host = neighbor_graph(X, 12, metric=metric, search="exact")
    graph = neighbor_graph(X, 12, metric=metric, device="cuda")
    assert_same_graph(graph, on_host)
    assert (graph.search, graph.recall) == ("gpu: cpu", 1.0)


@pytest.mark.parametrize("name", SETS)
def test_balls_are_those_of_an_exact_search(name):
    X = SETS[name]().astype(np.float32)
    radius = float(np.median(neighbor_graph(X, 8).reach)) or 1.0
    for n_neighbors in (None, 5):
        expected = neighbor_graph(X, n_neighbors, radius, search="exact")
        assert_same_graph(neighbor_graph(X, n_neighbors, radius, device="cuda"), expected)


@pytest.mark.parametrize("n_features", [3, 8, 20])
@pytest.mark.parametrize("scale", [1e-30, 3e-23, 1e20, 1e30])
def test_squares_that_leave_the_range_of_floats(scale, n_features):
    X = (scale * np.random.default_rng(0).normal(size=(512, n_features))).astype(np.float32)
    X[0] *= 1e3
    radius = float(np.median(neighbor_graph(X, 8).reach))
    assert_same_graph(neighbor_graph(X, 5, device="cuda"), neighbor_graph(X, 5, search="exact"))
    expected = neighbor_graph(X, radius=radius, search="exact")
    assert_same_graph(neighbor_graph(X, radius=radius, device="cuda"), expected)


@given(case=clouds_and_k(), radius=radii)
def test_small_sets(case, radius):
    X, k = case
    assert rows_of(neighbor_graph(X, k, device="cuda")) == rows_of(neighbor_graph(X, k, search="brute"))
    on_host = neighbor_graph(X, radius=radius, search="brute")
    assert rows_of(neighbor_graph(X, radius=radius, device="cuda")) == rows_of(on_host)


@pytest.mark.parametrize("tables", [["halves"], ["halves", "floats"], ["differences"], []])
@pytest.mark.parametrize("name", SETS)
def test_every_rung_leads_to_the_same_rows(monkeypatch, name, tables):
    """Whatever a rung is not certain about climbs on; the last one compares all pairs."""
    X = SETS[name]().astype(np.float32)
    monkeypatch.setattr(DevicePoints, "_tables_for", lambda self, n_nearest: tables)
    assert_same_graph(neighbor_graph(X, 10, device="cuda"), neighbor_graph(X, 10, search="exact"))


@pytest.mark.parametrize("table", ["halves", "floats", "differences"])
@given(
    n_features=st.integers(1, 40),
    offset=st.sampled_from([0.0, 3.0, 1e4]),
    far=st.sampled_from([1.0, 50.0, 1e6]),
    unit=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_point_is_nearer_than_its_value_says(table, n_features, offset, far, unit, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, n_features)) + offset
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X.astype(np.float32)
    queries = (X[:7] + far * random.normal(size=(7, n_features))).astype(np.float32)
    space = space_of(X, "sqeuclidean")
    points = DevicePoints(torch.from_numpy(X), space.measure, torch.device("cpu"))
    compared = points._table(table).compared(torch.as_tensor(queries))
    exact = ((queries[:, None].astype(np.float64) - X) ** 2).sum(axis=2)
    for column in range(len(X)):
        assert np.all(compared.squares_beyond(compared.values[:, column]).numpy() <= exact[:, column])
        within = compared.may_be_within(torch.from_numpy(exact[:, column, None].max(axis=0)))
        assert within[:, column].all()


def test_the_best_columns_come_by_groups_as_they_do_at_once(monkeypatch):
    X = clumps(6000, 20).astype(np.float32)
    points = DevicePoints(torch.from_numpy(X), space_of(X, "euclidean").measure, torch.device("cpu"))
    compared = points._table("floats").compared(torch.as_tensor(X[:50]))
    grouped = ladder._best_columns(compared, 20)
    monkeypatch.setattr(table, "GROUP", 10**6)
    whole = ladder._best_columns(compared, 20)
    for ours, theirs in zip(grouped, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_new_samples_are_searched_likewise():
    X, queries = clumps(1000, 20), clumps(300, 20, seed=1)
    queries[5], queries[6] = 1e9, 1e20
    on_host, there = searchable(X, search="exact"), searchable(X, device="cuda")
    for found, expected in (
        (there.nearest_to(queries, 9), on_host.nearest_to(queries, 9)),
        (there.within_of(queries, 4.0), on_host.within_of(queries, 4.0)),
        (
            there.reaching(queries, np.linspace(0, 9, len(X))),
            on_host.reaching(queries, np.linspace(0, 9, len(X))),
        ),
    ):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_small_workspace_changes_nothing():
    X = clumps(2000, 20)
    expected = neighbor_graph(X, 12, search="exact")
    graph = neighbor_graph(X, 12, device="cuda", memory_limit=1 << 21)
    assert_same_graph(graph, expected)
    assert graph.search == "gpu: cpu"  # all points lie there


@pytest.mark.parametrize(
    "model", [DensityPeaks(), DensityPeaks("kd-asym", n_clusters=4), DensityDBSCAN(), KernelDiffusion()]
)
def test_a_fit_is_the_same(model):
    X, new = clumps(1500, 20), clumps(50, 20, seed=1)
    expected = model.fit(X).density_
    answer = model.predict(new) if hasattr(model, "predict") else model.score_samples(new)
    if "device" in model.get_params():
        model.set_params(device="cuda").fit(X)
        assert model.graph_.search == "gpu: cpu"
        np.testing.assert_array_equal(model.density_, expected)
        np.testing.assert_array_equal(model.predict(new), answer)
    tensors = model.fit(torch.from_numpy(X))
    np.testing.assert_array_equal(tensors.density_, expected)


@pytest.mark.parametrize("n_copies", [0, 3])
def test_a_file_of_a_fit_on_a_device_searches_on_the_host(monkeypatch, tmp_path, n_copies):
    X, new = clumps(900, 20), clumps(50, 20, seed=1)
    X = np.vstack([X, X[:n_copies]])
    model = DensityPeaks(device="cuda").fit(X)
    expected, recut = model.predict(new), model.recut(n_clusters=3)
    model.save(tmp_path / "model")
    pickled = pickle.dumps(model)
    monkeypatch.setattr(space_module, "opened", lambda name: pytest.fail("there is no device"))
    for loaded in (DensityPeaks.load(tmp_path / "model"), pickle.loads(pickled)):
        assert loaded._landscape.points.search.name == "cells"
        np.testing.assert_array_equal(loaded.predict(new), expected)
        np.testing.assert_array_equal(loaded.recut(n_clusters=3), recut)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"search": "brute"}, "search='brute' runs on the host, not on device='cuda'"),
        ({"metric": "manhattan"}, "device='cuda' needs dense points"),
        ({"metric": "precomputed"}, "device='cuda' needs points, not distances"),
    ],
)
def test_what_a_device_cannot_do_is_refused(params, told):
    with refuses(told):
        neighbor_graph(np.ones((4, 4)) - np.eye(4), 2, device="cuda", **params)


def test_sparse_points_are_refused():
    with refuses("needs dense points"):
        neighbor_graph(sp.csr_array(np.eye(4)), 2, device="cuda")


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16])
def test_a_tensor_of_another_dtype_is_refused(dtype):
    with refuses("give one of torch.float32 or torch.float64"):
        neighbor_graph(torch.ones((5, 2), dtype=dtype), 2)


@pytest.mark.parametrize("X", [torch.eye(4).to_sparse(), torch.empty((4, 4), device="meta")])
def test_a_tensor_without_dense_values_is_refused(X):
    with refuses("X is a tensor of|give a dense one that has values"):
        neighbor_graph(X, 2, device="cpu")


def test_a_limit_that_cannot_be_kept_is_refused():
    with refuses("memory_limit=1000 leaves 1000 bytes of|that chunks of 256 points take|give at least that"):
        neighbor_graph(clumps(900, 20), 5, device="cuda", memory_limit=1000)
    with refuses("memory_limit leaves|bytes that one sample takes; raise it by"):
        neighbor_graph(clumps(900, 20), 400, device="cuda", memory_limit=820_000)


@pytest.mark.parametrize("ball", [{"n_neighbors": 5}, {"radius": 1.0}])
def test_a_full_card_is_told(monkeypatch, ball):
    def full(self, *args):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(DevicePoints, "_n_queries", full)
    with pytest.raises(MemoryError, match=r"too few for points of 8,000 bytes.*device=None"):
        neighbor_graph(clumps(100, 10), **ball, device="cuda")


def test_an_index_has_no_device():
    with refuses("has no part in search="):
        neighbor_graph(np.eye(4), 2, search=object(), device="cuda")


def test_a_sample_of_the_queries_tells_where_to_begin(monkeypatch):
    monkeypatch.setattr(DevicePoints, "_tables_for", lambda self, n_nearest: ["halves", "floats"])
    X = clumps(2000, 12)
    for shift, first in ((0.0, "halves"), (1e3, "floats")):
        X[:1000] += shift  # so far that halves cannot tell the members of either part from each other
        points = DevicePoints(torch.from_numpy(X), space_of(X, "euclidean").measure, torch.device("cpu"))
        assert points._ladder(torch.as_tensor(X), 10)[0] == Rung(first)


class TestDevices:
    """Which device is meant, on this machine."""

    @pytest.fixture(autouse=True)
    def opened_for_real(self, monkeypatch, a_processor_for_a_card):
        from diffpeaks.neighbors.gpu.devices import opened

        monkeypatch.setattr(space_module, "opened", opened)

    def test_without_torch(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match=r"diffpeaks\[gpu\]"):
            neighbor_graph(np.eye(4), 2, device="cuda")

    @pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
    def test_without_a_gpu(self):
        with refuses("device='cuda' cannot be used: torch"):
            DensityPeaks(device="cuda").fit(np.eye(4))

    @pytest.mark.parametrize("name", ["gpu", " cuda", "meta", "xpu", "mps", "hpu"])
    def test_other_names(self, name):
        with refuses(f"device={name!r}|use 'cuda', 'cuda:1', or None"):
            neighbor_graph(np.eye(4), 2, device=name)

    @pytest.mark.parametrize("value", [3, True, b"cuda"])
    def test_no_names(self, value):
        with refuses(f"device={value!r} must be a name such as 'cuda'"):
            neighbor_graph(np.eye(4), 2, device=value)

    @pytest.mark.parametrize("name", ["cpu", "cpu:0", torch.device("cpu")])
    def test_the_host_is_the_compiled_core(self, name):
        assert neighbor_graph(np.eye(4), 2, device=name).search == "tree"


def test_lone_samples_join_the_clusters_that_they_join_on_the_host():
    X, _ = make_faces(1200, 430, singleton_share=0.3, random_state=0)
    model, host = DensityPeaks(device="cuda").fit(X), DensityPeaks(search="exact").fit(X)
    apart = DensityPeaks(device="cuda", recipe=replace(DEFAULT, join_lone=False)).fit(X)
    assert apart.n_clusters_ > model.n_clusters_  # some did join
    np.testing.assert_array_equal(model.labels_, host.labels_)
