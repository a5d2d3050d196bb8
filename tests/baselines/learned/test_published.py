"""Files of the authors' networks and neighbours: what is in them, and what is refused."""

import hashlib

import numpy as np
import pytest
import torch
from published_networks import put, put_all, weights
from refusals import refuses

from diffpeaks import neighbor_graph
from diffpeaks.baselines.learned import GCNV, GCNVE, LGCN, LTC, load_published_graph
from diffpeaks.datasets import PUBLISHED_MD5, load_learn_to_cluster, make_faces, write_faces

N_FEATURES = 256
METHODS = pytest.mark.parametrize("kind", [GCNV, GCNVE, LGCN, LTC])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained_models")
    put_all(folder)
    return folder


@METHODS
def test_the_authors_networks_cluster_without_training(files, kind):
    X, _ = make_faces(200, 10, random_state=0)
    params = {"n_candidates": 90} if kind is GCNVE else {}
    model = kind.from_published(files, verify=False, device="cpu", **params)
    assert model.n_features_in_ == N_FEATURES
    assert model.cluster(X).shape == (200,)


def test_weights_are_where_the_program_has_them(files):
    """The confidence of GCN-V, from the stored matrices alone."""
    X, _ = make_faces(100, 5, random_state=0)
    model = GCNV.from_published(files, verify=False, device="cpu")
    samples = model._samples(X, None, reset=False)
    w = {name: values.double().numpy() for name, values in weights("pretrained_gcn_v_ms1m.pth").items()}
    cosines = np.zeros((100, 100))
    for i in range(100):
        for j in samples.lists[i]:
            cosines[i, j] = cosines[j, i] = max(0.0, float(X[i].astype(float) @ X[j].astype(float)))
    np.fill_diagonal(cosines, 1)
    mean = cosines / cosines.sum(axis=1, keepdims=True) @ X
    hidden = np.maximum(np.hstack((X, mean)) @ w["conv1.weight"] + w["conv1.bias"], 0)
    told = hidden @ w["classifier.0.weight"].T + w["classifier.0.bias"]
    told = np.where(told > 0, told, told * w["classifier.1.weight"])
    expected = told @ w["classifier.2.weight"].T + w["classifier.2.bias"]
    np.testing.assert_allclose(model._confidence(samples)[0], expected.ravel(), rtol=1e-4)


@METHODS
def test_files_are_held_to_the_published_checksums(files, kind):
    with refuses("_ms1m.pth|has the MD5|fetch it again"):
        kind.from_published(files, device="cpu")


def test_missing_cut_off_and_strange_files(tmp_path):
    name = "pretrained_gcn_v_ms1m.pth"
    with pytest.raises(FileNotFoundError, match=r"no file.*gcn_v_ms1m.pth.*weights of 'confidence'"):
        GCNV.from_published(tmp_path, verify=False)
    put(tmp_path, name, weights(name))
    whole = (tmp_path / name).read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"neither"):
        (tmp_path / name).write_bytes(content)
        with refuses("gcn_v_ms1m.pth' is no whole file of weights|fetch it again"):
            GCNV.from_published(tmp_path, verify=False)
    torch.save([1, 2], tmp_path / name)
    with refuses("holds no state_dict of tensors"):
        GCNV.from_published(tmp_path, verify=False)


def test_weights_that_do_not_fit_are_named(tmp_path):
    name = "pretrained_gcn_v_ms1m.pth"
    state = weights(name)
    without = {part: values for part, values in state.items() if part != "classifier.2.bias"}
    narrow = {**state, "classifier.1.weight": torch.ones(1)}
    for changed, words in (
        (without, "has no weights 'confidence/head.2.bias' (1 are missing)"),
        (
            {**state, "conv9.weight": torch.ones(1)},
            "has weights 'confidence/conv9.weight', which",
        ),
        (narrow, "confidence/head.1.weight has shape (1,), but the network needs (512,)"),
        ({"conv1.bias": torch.ones(3)}, "has no matrix conv1.weight or layers.0.gc.weight"),
    ):
        put(tmp_path, name, changed)
        with refuses(words):
            GCNV.from_published(tmp_path, verify=False)
    put(tmp_path, name, state)
    with refuses("convolutions.0.weight has shape (512, 512), but the network needs (512, 64)|n_hidden"):
        GCNV.from_published(tmp_path, verify=False, n_hidden=64)


def test_lists_of_neighbours(tmp_path):
    X, _ = make_faces(50, 5, n_features=16, random_state=0)
    graph = neighbor_graph(X, 8, metric="cosine")
    lists = np.stack((graph.indices.reshape(50, 8), graph.distances.reshape(50, 8)), axis=1)
    path = tmp_path / "faiss_k_8.npz"
    np.savez_compressed(path, data=lists.astype(np.float32))
    found = load_published_graph(path, n_neighbors=8, md5=hashlib.md5(path.read_bytes()).hexdigest())
    np.testing.assert_array_equal(found.indices, graph.indices)
    np.testing.assert_allclose(found.distances, graph.distances, atol=1e-6)
    with refuses("has lists of 8 neighbours, not of n_neighbors=80|the file of that many"):
        load_published_graph(path)
    with refuses("has the MD5|" + PUBLISHED_MD5["part1_test/faiss_k_80.npz"]):
        load_published_graph(path, 8, PUBLISHED_MD5["part1_test/faiss_k_80.npz"])
    np.savez(path, data=lists[:, 0])
    with refuses("has data of shape (50, 8)|(n_samples, 2, k)"):
        load_published_graph(path, 8)
    path.write_bytes(path.read_bytes()[:100])
    with refuses("is no whole archive with an array 'data'"):
        load_published_graph(path, 8)
    with pytest.raises(FileNotFoundError, match="no file"):
        load_published_graph(tmp_path / "other.npz")


def test_features_with_a_checksum(tmp_path):
    write_faces(tmp_path, "small", 20, 3, n_features=8, random_state=0)
    digest = hashlib.md5((tmp_path / "features" / "small.bin").read_bytes()).hexdigest()
    assert len(load_learn_to_cluster(tmp_path, "small", 8, md5=digest)[0]) == 20
    with refuses("small.bin' has the MD5|cut off, damaged, or another file|fetch it again"):
        load_learn_to_cluster(tmp_path, "small", 8, md5=PUBLISHED_MD5["part1_test.bin"])
