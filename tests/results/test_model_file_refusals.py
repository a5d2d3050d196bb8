"""Saved models: what cannot be saved, and files that are damaged or something else, are refused."""

import dataclasses
import json
import pickle
import struct
import zlib

import numpy as np
import pytest
from clouds import general_position
from refusals import refuses

from diffpeaks import DensityPeaks, KernelDiffusion, NeighborGraph, neighbor_graph
from diffpeaks._base import array_file as container

X = general_position(0, 80)
NEW = general_position(1, 40) + 0.4


@pytest.fixture
def path(tmp_path):
    DensityPeaks(KernelDiffusion(5), halo=True).fit(X[:9]).save(tmp_path / "a.model")
    return tmp_path / "a.model"


class MyDensity(KernelDiffusion):
    pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (DensityPeaks(metric=lambda x, y: abs(x - y).sum()), "metric=<function|no code"),
        (DensityPeaks(lambda graph: graph.reach + 1), "density=<function|no code"),
        (DensityPeaks(KernelDiffusion(kernel=lambda d: 1 / (1 + d))), "density__kernel=<function|pickle"),
        (DensityPeaks(MyDensity(5)), "density=MyDensity|no class of diffpeaks"),
        (DensityPeaks(random_state=np.random.RandomState(0)), "random_state=RandomState"),
        (DensityPeaks(np.ones(80, np.float16)), "density|float16|float64"),
        (DensityPeaks(metric="minkowski", metric_params={"w": np.ones(2, bool)}), "metric_params['w']|bool"),
    ],
)
def test_what_a_file_cannot_hold_is_named(tmp_path, model, words):
    model.fit(X)
    with refuses(words):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_only_what_is_fitted_is_saved(tmp_path):
    with refuses("not fitted"):
        DensityPeaks().save(tmp_path / "model")


def test_a_file_cut_anywhere_is_refused(path):
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with refuses(
            "a.model|the end is missing|save the model again" if size else "a.model|not a saved model"
        ):
            DensityPeaks.load(path)
    path.write_bytes(whole + b"\0")
    with refuses("a.model|appended"):
        DensityPeaks.load(path)


def test_every_byte_that_differs_is_noticed(path):
    whole = bytearray(path.read_bytes())
    begin = container._PREFIX.size
    end = begin + container._PREFIX.unpack(whole[:begin])[3]
    used = [*range(0, end, 5)]
    for array in json.loads(whole[begin:end])["arrays"]:
        begin = container._aligned(end)
        end = begin + array["length"] * np.dtype(array["dtype"]).itemsize
        used += range(begin, end, 5)
    for place in used:
        whole[place] ^= 4
        path.write_bytes(whole)
        with pytest.raises(ValueError, match=r"a\.model"):
            DensityPeaks.load(path)
        whole[place] ^= 4


def test_other_files_are_refused(tmp_path, path):
    neighbor_graph(X, 4).save(tmp_path / "graph")
    (tmp_path / "pickle").write_bytes(pickle.dumps(DensityPeaks().fit(X)))
    (tmp_path / "empty").touch()
    for name in ("graph", "pickle", "empty"):
        with refuses(f"{name}|not a saved model"):
            DensityPeaks.load(tmp_path / name)
    with refuses("a.model|not a saved graph"):
        NeighborGraph.load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:8] + struct.pack("<I", 9) + whole[12:])
    with refuses("a.model|version 9|reads version 7|diffpeaks that wrote it"):
        DensityPeaks.load(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        DensityPeaks.load(tmp_path / "nowhere")


class Other(DensityPeaks):
    pass


def test_a_file_of_another_class_is_refused(path):
    with refuses("a.model|DensityPeaks, not a Other"):
        Other.load(path)


def of_kind(header, kind):
    return next(item["values"] for item in header["scalars"]["objects"] if item["kind"] == kind)


CHANGES = [
    lambda header: header["scalars"].pop("objects"),
    lambda header: header["scalars"].pop("model"),
    lambda header: header["scalars"].update(model=[]),
    lambda header: header["scalars"]["model"]["params"].update(colour="red"),
    lambda header: header["scalars"]["model"]["fitted"].pop("_clustering"),
    lambda header: of_kind(header, "Clustering").pop("forest"),
    lambda header: of_kind(header, "Clustering").update(landscape={"object": 99}),
    lambda header: of_kind(header, "Clustering").update(labels={"float": "wide"}),
    lambda header: of_kind(header, "Clustering").update(labels={"array": "nothing"}),
    lambda header: of_kind(header, "Clustering").update(labels=of_kind(header, "NeighborGraph")["indices"]),
    lambda header: of_kind(header, "Clustering").update(peaks=of_kind(header, "NeighborGraph")["indptr"]),
    lambda header: header["scalars"]["objects"][0].update(kind="Popen"),
    lambda header: of_kind(header, "PeakForest").update(parent=of_kind(header, "NeighborGraph")["indices"]),
    lambda header: of_kind(header, "PeakForest").update(hill=of_kind(header, "NeighborGraph")["indices"]),
    lambda header: of_kind(header, "PointSet").update(search="nowhere"),
    lambda header: of_kind(header, "PointSet").update(metric="nothing"),
    lambda header: header["arrays"][0].update(shape=[2, 2]),
    lambda header: header["arrays"][0].update(shape="wide"),
]


def change_header(path, change):
    """Change the header of a file, and make its checksum fit."""
    data = path.read_bytes()
    begin = container._PREFIX.size
    magic, version, _, length = container._PREFIX.unpack(data[:begin])
    header = json.loads(data[begin : begin + length])
    change(header)
    text = json.dumps(header).encode()
    prefix = container._PREFIX.pack(magic, version, zlib.crc32(text), len(text))
    arrays = data[container._aligned(begin + length) :]
    path.write_bytes((prefix + text).ljust(container._aligned(begin + len(text)), b"\0") + arrays)


@pytest.mark.parametrize("change", CHANGES)
def test_headers_made_by_hand_are_refused(path, change):
    change_header(path, change)
    with refuses("a.model|save the model again"):
        DensityPeaks.load(path)


@pytest.mark.parametrize(
    ("name", "value"), [("n_neighbors", 1), ("n_neighbors", 81), ("n_filled", -1), ("n_filled", 10**9)]
)
def test_neighbours_that_new_samples_cannot_have_are_refused(tmp_path, name, value):
    model = DensityPeaks().fit(np.random.RandomState(0).standard_normal((80, 9)))
    assert model.smoothing_ is not None
    model.save(tmp_path / "a.model")
    change_header(tmp_path / "a.model", lambda header: of_kind(header, "Smoothing").update({name: value}))
    with refuses(f"a.model|{name}={value} must be"):
        DensityPeaks.load(tmp_path / "a.model")


def test_samples_that_do_not_exist_are_refused(path):
    model = DensityPeaks().fit(X)
    parent = model.forest_.parent.copy()
    parent[3] = 80
    forest = dataclasses.replace(model.forest_, parent=parent)
    model._set(dataclasses.replace(model._clustering, forest=forest)).save(path)
    with refuses("a.model|parent|outside 0 .. 79"):
        DensityPeaks.load(path)


def test_an_interruption_leaves_the_old_file(path, monkeypatch):
    def fail(*args):
        raise KeyboardInterrupt

    before = path.read_bytes()
    monkeypatch.setattr(container, "_write", fail)
    with pytest.raises(KeyboardInterrupt):
        DensityPeaks().fit(X).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_mapped_file_may_be_replaced_and_deleted(path):
    loaded = DensityPeaks.load(path)
    expected = loaded.predict(NEW)
    DensityPeaks().fit(X).save(path)
    path.unlink()
    np.testing.assert_array_equal(loaded.predict(NEW), expected)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"totals": np.ones(1)}, "totals are not 200"),
        ({"totals": np.full(200, np.nan)}, "totals are not 200"),
        ({"reach": np.ones(3)}, "reach are not 200"),
        ({"reach": None}, "reach is missing"),
    ],
    ids=str,
)
def test_what_belongs_to_distinct_samples_is_as_long_as_they_are(tmp_path, changed, words):
    random = np.random.RandomState(0)
    model = DensityPeaks().fit(
        random.standard_normal((200, 20)), sample_weight=random.random_sample(200) + 0.5
    )
    distinct = dataclasses.replace(model._landscape.distinct, **changed)
    landscape = dataclasses.replace(model._landscape, distinct=distinct)
    vars(model)["_clustering"] = dataclasses.replace(model._clustering, landscape=landscape)
    model.save(tmp_path / "a.model")
    with refuses(f"a.model|{words}"):
        DensityPeaks.load(tmp_path / "a.model")
