"""Saved graphs: what is read is what was written, or a refusal."""

import dataclasses
import json
import os
import pickle
import stat
import struct
import zlib

import numpy as np
import processes
import pytest
from clouds import clouds_and_k, general_position, radii
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, NeighborGraph, neighbor_graph
from diffpeaks._base import array_file as container
from diffpeaks.graph import graph_file

X = general_position(0, 40)
GRAPH = neighbor_graph(X, 6)
MAPPED = [(True, True), (True, False), (False, True), (False, False)]
ways = pytest.mark.parametrize(("mmap", "check"), MAPPED)


@pytest.fixture
def path(tmp_path):
    GRAPH.save(tmp_path / "a.graph")
    return tmp_path / "a.graph"


def fields_of(graph):
    return {field.name: getattr(graph, field.name) for field in dataclasses.fields(graph)}


def assert_same(graph, other):
    for name, value in fields_of(other).items():
        found = getattr(graph, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found, value)
            assert found.dtype == value.dtype
            assert not found.flags.writeable
            assert found.flags.aligned
        else:
            assert (type(found), found) == (type(value), value)


def with_header(path, change):
    """The file with another header under a right checksum."""
    data = path.read_bytes()
    magic, version, _, length = container._PREFIX.unpack(data[: container._PREFIX.size])
    header = json.loads(data[container._PREFIX.size : container._PREFIX.size + length])
    change(header)
    text = json.dumps(header).encode()
    begin = container._PREFIX.size
    arrays = data[container._aligned(begin + length) :]
    prefix = container._PREFIX.pack(magic, version, zlib.crc32(text), len(text))
    path.write_bytes((prefix + text).ljust(container._aligned(begin + len(text)), b"\0") + arrays)


@given(
    case=clouds_and_k(),
    radius=st.none() | radii,
    dtype=st.sampled_from([np.float32, np.float64]),
    way=st.sampled_from(MAPPED),
)
def test_round_trip(tmp_path_factory, case, radius, dtype, way):
    points, k = case
    graph = neighbor_graph(points.astype(dtype), k, radius)
    path = tmp_path_factory.mktemp("round") / "trip"
    graph.save(path)
    again = NeighborGraph.load(path, *way)
    assert_same(again, graph)
    assert_same(again.nearest(1), graph.nearest(1))
    assert_same(pickle.loads(pickle.dumps(again)), graph)


@pytest.mark.parametrize("search", ["given", "", "näher \N{SNOWMAN} \x00 \n"])
@pytest.mark.parametrize("radius", [0.0, 0.1, 1e-300, np.inf, np.float32(0.1)])
def test_fields_survive(tmp_path, search, radius):
    graph = NeighborGraph([0, 1, 3], [0, 1, 0], [0.0, 0.0, 0.1], np.int64(1), radius, search)
    graph.save(tmp_path / "g")
    again = NeighborGraph.load(tmp_path / "g")
    assert (again.n_neighbors, again.radius, again.search) == (1, radius, search)


def test_fields_of_other_versions(path):
    with_header(path, lambda header: header["scalars"].pop("search"))
    assert NeighborGraph.load(path).search == "given"  # written before there was one
    with_header(path, lambda header: header["scalars"].update(colour="red"))
    with refuses("a.graph|colour|diffpeaks that wrote it"):
        NeighborGraph.load(path)


@ways
def test_estimators_take_a_loaded_graph(path, mmap, check):
    loaded = NeighborGraph.load(path, mmap, check)
    for model in (
        DensityPeaks(metric="precomputed"),
        DensityPeaks("kd-asym", metric="precomputed", halo=True),
        DensityDBSCAN(metric="precomputed"),
        DensityPeaks(KernelDiffusion(n_neighbors=4), metric="precomputed"),
    ):
        np.testing.assert_array_equal(model.fit_predict(loaded), model.fit_predict(GRAPH))
    np.testing.assert_array_equal(loaded.to_scipy().toarray(), GRAPH.to_scipy().toarray())


def test_balls_and_symmetry_of_a_loaded_graph(tmp_path):
    graph = neighbor_graph(X, 3, 1.0)
    graph.save(tmp_path / "balls")
    loaded = NeighborGraph.load(tmp_path / "balls")
    assert_same(loaded.within(0.5), graph.within(0.5))
    model = KernelDiffusion(radius=1.0, metric="precomputed")
    np.testing.assert_array_equal(model.fit(loaded).density_, model.fit(graph).density_)
    with refuses("radius=1.5|1.0"):
        loaded.within(1.5)


@ways
def test_a_file_cut_anywhere_is_refused(path, mmap, check):
    for size in reversed(range(path.stat().st_size)):
        os.truncate(path, size)
        with refuses("a.graph|the end is missing|save the graph again" if size else "not a saved graph"):
            NeighborGraph.load(path, mmap, check)


@ways
def test_anything_appended_is_refused(path, mmap, check):
    whole = path.read_bytes()
    for garbage in (b"\0", b"\n", whole):
        path.write_bytes(whole + garbage)
        with refuses(f"a.graph|{len(whole + garbage)} bytes instead of {len(whole)}|appended"):
            NeighborGraph.load(path, mmap, check)


def test_every_byte_that_differs_is_noticed(path):
    neighbor_graph(X[:9], 3).save(path)
    whole = bytearray(path.read_bytes())
    begin = container._PREFIX.size
    end = begin + container._PREFIX.unpack(whole[:begin])[3]
    used = set(range(end))  # the rest is padding
    for array in json.loads(whole[begin:end])["arrays"]:
        begin = container._aligned(end)
        end = begin + array["length"] * np.dtype(array["dtype"]).itemsize
        used |= set(range(begin, end))
    assert end == len(whole)
    for place in used:
        whole[place] ^= 4
        path.write_bytes(whole)
        with pytest.raises(ValueError, match=r"a\.graph"):
            NeighborGraph.load(path)
        whole[place] ^= 4
    path.write_bytes(whole)
    assert_same(NeighborGraph.load(path), neighbor_graph(X[:9], 3))


@ways
def test_other_files_are_refused(tmp_path, mmap, check):
    np.savez(tmp_path / "other.npz", X)
    (tmp_path / "text").write_text("indptr, indices, distances\n" * 9)
    (tmp_path / "empty").touch()
    for name in ("other.npz", "text", "empty"):
        with refuses(f"{name}|not a saved graph"):
            NeighborGraph.load(tmp_path / name, mmap, check)


@pytest.mark.parametrize("check", [True, False])
def test_headers_made_by_hand_are_refused(path, check):
    whole = path.read_bytes()
    path.write_bytes(whole[:8] + struct.pack("<I", 2) + whole[12:])
    with refuses("version 2|reads version 1"):
        NeighborGraph.load(path, check=check)
    for change in (
        lambda header: header.pop("arrays"),
        lambda header: header.pop("scalars"),
        lambda header: header.update(arrays=3),
        lambda header: header.update(scalars=[]),
        lambda header: header["arrays"][0].update(dtype="|O"),
        lambda header: header["arrays"][0].update(dtype=["<i8"]),
        lambda header: header["arrays"][0].update(length=-1),
        lambda header: header["arrays"][0].update(length=2.0),
        lambda header: header["arrays"][1].update(length=2**70),
        lambda header: header["arrays"][0].pop("name"),
        lambda header: header["arrays"][0].update(name="offsets"),
        lambda header: header["arrays"].pop(),
        lambda header: header["scalars"].update(radius={"float": "wide"}),
        lambda header: header["scalars"].update(radius={"hex": "wide"}),
    ):
        path.write_bytes(whole)
        with_header(path, change)
        with refuses("a.graph"):
            NeighborGraph.load(path, check=check)


def test_rows_that_are_no_graph_are_refused_by_the_check(path):
    indices = GRAPH.indices.copy()
    indices[1] = 10**6
    graph_file.write_graph_file(path, {**fields_of(GRAPH), "indices": indices})
    with refuses("row 0|outside"):
        NeighborGraph.load(path)


def test_names_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "graph.npy", "ünïcode \N{SNOWMAN}.graph", "x" * 255, ".hidden"):
        GRAPH.save(name)
        assert_same(NeighborGraph.load(name), GRAPH)
        assert_same(NeighborGraph.load(os.fspath(tmp_path / name)), GRAPH)
    assert len(list(tmp_path.iterdir())) == 5  # under exactly these names, and nothing else


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        GRAPH.save(tmp_path)
    with pytest.raises(IsADirectoryError):
        NeighborGraph.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere.* does not exist; make it first"):
        GRAPH.save(tmp_path / "nowhere" / "g")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        NeighborGraph.load(tmp_path / "nowhere")
    for bad in (3, None, b"name".hex):
        with pytest.raises(TypeError):
            GRAPH.save(bad)
    assert not list(tmp_path.iterdir())


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    GRAPH.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert_same(NeighborGraph.load(tmp_path / "target"), GRAPH)


def test_the_file_has_ordinary_permissions(path):
    (path.parent / "ordinary").touch()
    ordinary = stat.S_IMODE((path.parent / "ordinary").stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == ordinary


@pytest.mark.parametrize("where", ["_write", "_header", "os.replace", "os.fsync"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("No space left on device")])
def test_an_interruption_leaves_the_old_file(path, monkeypatch, where, failure):
    def fail(*args):
        raise failure

    monkeypatch.setattr(f"diffpeaks._base.array_file.{where}", fail)
    with pytest.raises((KeyboardInterrupt, OSError)):
        neighbor_graph(X, 9).save(path)
    monkeypatch.undo()
    assert_same(NeighborGraph.load(path), GRAPH)
    assert list(path.parent.iterdir()) == [path]


def test_a_mapped_file_may_be_replaced_and_deleted(path):
    mapped = NeighborGraph.load(path)
    other = neighbor_graph(X, 9)
    other.save(path)
    assert_same(mapped, GRAPH)
    mapped.save(path)  # onto what it was loaded from
    again = NeighborGraph.load(path)
    again.save(path)
    path.unlink()
    assert_same(mapped, GRAPH)
    assert_same(again, GRAPH)


def test_the_same_graph_is_the_same_file(path):
    GRAPH.save(path.parent / "again")
    assert (path.parent / "again").read_bytes() == path.read_bytes()


def test_a_field_that_cannot_be_saved_is_named(path):
    with refuses("search=[1]|number, a string or None"):
        dataclasses.replace(GRAPH, search=[1]).save(path)
    assert_same(NeighborGraph.load(path), GRAPH)


def test_opening_without_check_reads_no_array(tmp_path):
    """A file of which only the ends lie on disk opens at once, and weighs nothing."""
    script = """
import sys, resource
from diffpeaks import NeighborGraph
graph = NeighborGraph.load(sys.argv[1], check=False)
assert graph.n_samples == 2 and len(graph.indices) == 2**30
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert graph.indices[-1] == 0 and graph.distances[2**29] == 0
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
"""
    path = tmp_path / "sparse"
    GRAPH.save(path)

    def longer(header):
        for array, length in zip(header["arrays"], (3, 2**30, 2**30), strict=True):
            array["length"] = length

    with_header(path, longer)
    length = container._PREFIX.unpack(path.read_bytes()[: container._PREFIX.size])[3]
    begin = container._aligned(container._PREFIX.size + length)
    os.truncate(path, begin)
    os.truncate(path, begin + 64 + 2**30 * 4 + 2**30 * 8)
    run = processes.run(script, path)
    assert run.returncode == 0, run.stderr
