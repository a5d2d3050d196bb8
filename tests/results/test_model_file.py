"""Saved models: what is loaded does what the fitted one does, or is a refusal."""

import json
import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import processes
import pytest
import scipy.sparse as sp
from clouds import general_position
from prediction_cases import DENSITIES
from sklearn.metrics import pairwise_distances

from diffpeaks import (
    ApproximateSearch,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    neighbor_graph,
)
from diffpeaks.cuts import Cut
from diffpeaks.results.clustering import Clustering

X = general_position(0, 80)
X[70:] = X[5]
NEW = general_position(1, 40) + 0.4
Y = np.arange(80) % 3
POSITIVE = np.abs(X) + 0.1
MODELS = {
    **{
        f"density {place}": (DensityPeaks(density, halo=True), X, NEW)
        for place, density in enumerate(DENSITIES)
    },
    "limit": (DensityPeaks("kd-sym", n_clusters=3), X, NEW),
    "name": (DensityPeaks("lc", min_prominence=np.inf), X, NEW),
    "n_clusters": (DensityPeaks(n_clusters=4, max_link=0.1), X, NEW),
    "max_link": (DensityPeaks(max_link=np.float32(0.7), n_neighbors=np.int64(9)), X, NEW),
    "values": (DensityPeaks(np.arange(80), n_neighbors=6), X, NEW),
    "list of values": (DensityPeaks([1.0] * 80, n_neighbors=6), X, NEW),
    "float32": (DensityPeaks(n_jobs=1, random_state=3), X.astype(np.float32), NEW),
    "frame": (
        DensityPeaks(),
        pd.DataFrame(X, columns=["width", "höhe"]),
        pd.DataFrame(NEW, columns=["width", "höhe"]),
    ),
    "sparse": (DensityPeaks(search="brute"), sp.csr_matrix(X * (X > 0)), sp.csr_array(NEW)),
    "sparse cosine": (DensityPeaks(metric="cosine"), sp.csr_array(POSITIVE), NEW),
    "cosine": (DensityPeaks(metric="cosine", search="cells"), POSITIVE, NEW),
    "inner_product": (
        DensityPeaks(metric="inner_product"),
        POSITIVE / np.linalg.norm(POSITIVE, axis=1, keepdims=True),
        NEW / np.linalg.norm(NEW, axis=1, keepdims=True),
    ),
    "manhattan": (DensityPeaks(LocalContrast(n_neighbors=9), metric="manhattan"), X, NEW),
    "minkowski": (
        DensityPeaks(metric="minkowski", metric_params={"p": 3, "w": np.array([1.0, 2.0])}),
        X,
        NEW,
    ),
    "seuclidean": (DensityPeaks(metric="seuclidean"), X, NEW),
    "mahalanobis": (DensityPeaks(metric="mahalanobis", metric_params={"VI": np.eye(2) + 0.1}), X, NEW),
    "nan_euclidean": (DensityPeaks(metric="nan_euclidean"), np.where(X.max() - 0.01 < X, np.nan, X), NEW),
    "jaccard": (DensityPeaks(metric="jaccard", n_neighbors=5), (X > 0.5).astype(np.float32), NEW > 0.5),
    "matrix": (DensityPeaks(metric="precomputed"), pairwise_distances(X), pairwise_distances(NEW, X)),
    "one sample": (DensityPeaks(), X[:1], NEW),
}


def saved(model, tmp_path, mmap=True):
    model.save(tmp_path / "model")
    return DensityPeaks.load(tmp_path / "model", mmap)


def answers(model, new, n_samples):
    """All that can be asked of a model, refusals too."""

    def asked(question):
        try:
            return question()
        except ValueError as error:
            return str(error)

    def of_sweep(rule):
        sweep = model.sweep(Y[:n_samples], rule)
        return [sweep.thresholds, sweep.n_clusters, *sweep.pairwise, *sweep.bcubed]

    return [
        model.labels_,
        model.density_,
        model.peak_indices_,
        model.n_clusters_,
        model.cut_,
        *(getattr(model.forest_, part.name) for part in fields(model.forest_)),
        model.graph_.distances,
        repr(model.graph_),
        *(asked(lambda cut=cut: model.recut(**cut)) for cut in ({}, {"n_clusters": 3}, {"max_link": 0.4})),
        asked(lambda: model.recut(halo=True)),
        *(asked(lambda rule=rule: of_sweep(rule)) for rule in ("max_link", "n_clusters", "min_prominence")),
        asked(model.decision_graph),
        asked(lambda: model.predict(new)),
        asked(lambda: model.score_samples(new)),
    ]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, (list, tuple)):
            assert_same(one, other)
        else:
            np.testing.assert_array_equal(one, other)
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_does_what_the_fitted_one_does(tmp_path, name):
    model, given, new = MODELS[name]
    model.fit(given)
    model.save(tmp_path / "fresh")
    expected = answers(model, new, given.shape[0])
    loaded = DensityPeaks.load(tmp_path / "fresh", mmap=True)
    assert_same(answers(loaded, new, given.shape[0]), expected)
    np.testing.assert_array_equal(loaded.predict(given), model.labels_)
    again = saved(loaded, tmp_path, mmap=False)  # by now with what the questions left
    assert_same(answers(again, new, given.shape[0]), expected)
    assert_same(answers(pickle.loads(pickle.dumps(again)), new, given.shape[0]), expected)


@pytest.mark.parametrize(
    "given", [neighbor_graph(X, 9), neighbor_graph(X, 4, 1.5), sp.csr_array(pairwise_distances(X))]
)
def test_a_model_of_a_graph(tmp_path, given):
    model = DensityPeaks(KernelDiffusion(4), metric="precomputed").fit(given)
    expected = answers(model, NEW, 80)
    assert "cannot place new samples" in expected[-1]
    assert_same(answers(saved(model, tmp_path), NEW, 80), expected)


def test_an_approximate_search(tmp_path):
    random = np.random.default_rng(0)
    points = (random.normal(size=(8500, 130)) * np.arange(1, 131) ** -0.7).astype(np.float32)
    model = DensityPeaks(search=ApproximateSearch(recall=0.8)).fit(points)
    assert model.graph_.recall < 1
    loaded = saved(model, tmp_path)
    assert loaded.get_params()["search"] == ApproximateSearch(recall=0.8)
    new = points[:300] + np.float32(0.1)
    assert_same(
        [loaded.predict(new), loaded.recut(n_clusters=3)], [model.predict(new), model.recut(n_clusters=3)]
    )


@pytest.mark.parametrize("name", MODELS)
def test_parameters_come_back(tmp_path, name):
    model, given, _ = MODELS[name]
    loaded = saved(model.fit(given), tmp_path)
    for parameter, value in model.get_params().items():
        if parameter == "density" and not isinstance(value, (np.ndarray, list, str, type(None))):
            assert repr(loaded.density) == repr(value)
        else:
            np.testing.assert_equal(loaded.get_params()[parameter], value)
    assert loaded.n_features_in_ == model.n_features_in_
    np.testing.assert_array_equal(loaded.fit_predict(given), model.labels_)


def test_what_is_shared_stays_shared_and_is_written_once(tmp_path):
    loaded = saved(DensityPeaks("kd-asym").fit(X), tmp_path)
    estimator = loaded.density_estimator_
    assert loaded.graph_ is estimator.graph_
    assert loaded._landscape.points is estimator._points
    assert np.shares_memory(loaded.density_, estimator._previous)
    assert not loaded.labels_.flags.writeable
    n_bytes = sum(
        values.nbytes
        for values in (X, *(loaded.graph_.indptr, loaded.graph_.indices, loaded.graph_.distances))
    )
    assert (tmp_path / "model").stat().st_size < n_bytes + 80 * 100 + 6000


def test_the_same_model_is_the_same_file_whatever_the_order_of_bytes(tmp_path):
    values = np.arange(80.0)
    for name, density in (("here", values), ("there", values.astype(">f8"))):
        DensityPeaks(density, n_neighbors=5).fit(X).save(tmp_path / name)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


def test_another_process_loads_it_and_nothing_is_unpickled(tmp_path):
    model = DensityPeaks().fit(X)
    model.save(tmp_path / "model")
    script = f"""
import pickle, sys
import numpy as np
from diffpeaks import DensityPeaks
def refuse(*args, **kwargs): raise AssertionError("unpickled")
pickle.load = pickle.loads = pickle.Unpickler = np.load = refuse
print(DensityPeaks.load(sys.argv[1]).predict({NEW.tolist()}).tolist())
"""
    done = processes.run(script, tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == model.predict(NEW).tolist()


def test_a_loaded_model_is_saved_as_it_was(tmp_path):
    model = saved(DensityPeaks().fit(X), tmp_path)
    size = (tmp_path / "model").stat().st_size
    again = saved(model, tmp_path)
    assert (tmp_path / "model").stat().st_size == size
    assert again.cut_ == model.cut_


def test_peaks_chosen_by_hand_are_kept_as_they_were(tmp_path):
    model = DensityPeaks().fit(X)
    peaks = (int(np.argmin(model.forest_.rank)), 3)
    landscape, cut, policy = model._landscape, Cut(peaks=peaks), model._clustering.policy
    by_hand = model._with(Clustering.of(landscape, cut, policy))
    assert saved(by_hand, tmp_path).cut_ == by_hand.cut_
