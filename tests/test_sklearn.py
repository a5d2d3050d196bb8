"""The estimators behave as scikit-learn's own: its checks, and what users combine them with."""

import io
import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import processes
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffpeaks import (
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    ReScale,
    SharedNeighborDensity,
)
from diffpeaks.baselines import ARO, CDP, KNNDBSCAN, Infomap, Leiden, SingleLinkage

X, Y = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.7, random_state=0)
CLUSTERERS = [DensityPeaks(), DensityDBSCAN()]
DENSITIES = [KernelDiffusion(), NaiveDensity(), LocalContrast(), SharedNeighborDensity()]
VARIANTS = [
    DensityPeaks("kd-asym", n_clusters=2),
    DensityPeaks("lc", max_link=0.5, halo=True),
    DensityPeaks(halo=True, noise="assign", n_neighbors=3, search="brute"),
    DensityPeaks(min_cluster_size=3, noise="singletons", metric="precomputed"),
    DensityDBSCAN(NaiveDensity(radius=1.0), min_density=3),
    DensityDBSCAN("fkd-sym", min_density=0.5, border=False),
    KernelDiffusion(radius="auto", bandwidth="median", steps=np.inf),
    KernelDiffusion(n_neighbors=4, kernel="uniform", steps=3, teleport=0.1),
]
BASELINES = [
    ARO(n_neighbors=5),
    CDP(n_neighbors=5),
    KNNDBSCAN(min_samples=3, n_neighbors=5),
    SingleLinkage(),
    Infomap(n_neighbors=5),
    Leiden(n_neighbors=5),
]


def outcome(estimator):
    return estimator.labels_ if hasattr(estimator, "labels_") else estimator.density_


def by_name(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=str)


def joblib_copy(value):
    buffer = io.BytesIO()
    joblib.dump(value, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def third_party_after(code):
    """Top-level packages outside the standard library that a fresh process has loaded."""
    done = processes.run(f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split()) - set(sys.stdlib_module_names)


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; strict, so that one that begins to hold is noticed."""
    return failures_with_metric(estimator) | failures_with_copies(estimator)


COPIES_IN_LISTS = "copies fill lists of neighbours and move scales that are derived from them; weights do not"
ORDER_OF_SAMPLES = "clusters of one density are numbered in the order of samples, which the check shuffles"


def failures_with_copies(estimator):
    """Where whole weights are not copies (docs/theory.md, "Duplicates and weights")."""
    if isinstance(getattr(estimator, "density", None), NaiveDensity):
        reason = ORDER_OF_SAMPLES
    elif getattr(estimator, "density", None) in ("kd-asym", "lc", "fkd-sym"):
        reason = COPIES_IN_LISTS
    else:
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


def failures_with_metric(estimator):
    if getattr(estimator, "metric", None) == "cosine":
        checks = (
            "estimators_dtypes",
            "estimator_sparse_tag",
            "estimator_sparse_array",
            "estimator_sparse_matrix",
        )
        return {f"check_{name}": "gives rows of zeros, which have no direction" for name in checks}
    if getattr(estimator, "metric", None) != "precomputed":
        return {}
    expected = {
        "check_clustering": "gives points to a clusterer of distances; DBSCAN of scikit-learn fails it too"
    }
    if hasattr(estimator, "predict"):
        reason = "predicts rows of 3 values where distances to 10 samples are due, which is refused first"
        expected["check_estimators_nan_inf"] = reason
    return expected


@parametrize_with_checks(
    CLUSTERERS + DENSITIES + VARIANTS + BASELINES + [ReScale()], expected_failed_checks=expected_failures
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@by_name(CLUSTERERS + DENSITIES + VARIANTS)
def test_clone_is_equal_and_unfitted(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    assert str(copy.get_params()) == str(estimator.get_params())
    assert not hasattr(copy, "density_")


def test_parameters_of_the_density_are_reached_through_the_clusterer():
    model = DensityPeaks(KernelDiffusion(steps=3))
    assert model.get_params()["density__steps"] == 3
    model.set_params(density__steps=5, density__n_neighbors=6, n_clusters=2)
    assert (model.density.steps, model.density.n_neighbors, model.n_clusters) == (5, 6, 2)
    with pytest.raises(ValueError, match="stride"):
        model.set_params(density__stride=1)


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_fit_leaves_the_given_density_alone(kind):
    density = KernelDiffusion(n_neighbors=6)
    before = density.get_params()
    model = kind(density).fit(X)
    assert model.density is density
    assert density.get_params() == before
    assert not hasattr(density, "density_")
    np.testing.assert_array_equal(model.density_, clone(density).fit(X).density_)


@pytest.mark.parametrize("kind", [DensityPeaks, DensityDBSCAN])
def test_metric_params_with_arrays_survive_clone(kind):
    params = {"metric": "seuclidean", "metric_params": {"V": X.var(axis=0)}}
    model = kind(KernelDiffusion(**params), **params)
    np.testing.assert_array_equal(clone(model).fit(X).labels_, model.fit(X).labels_)


@pytest.mark.parametrize("estimator", CLUSTERERS, ids=str)
def test_pipeline_with_a_scaler(estimator):
    labels = make_pipeline(StandardScaler(), clone(estimator)).fit_predict(X * [1, 1e3])
    np.testing.assert_array_equal(labels, clone(estimator).fit_predict(StandardScaler().fit_transform(X)))


def test_grid_search_over_steps_of_a_clusterer():
    def closeness(model, X, y=None):
        return -abs(model.n_clusters_ - 3) - model.density.steps / 100

    grid = {"density__steps": [4, 2, 1]}
    search = GridSearchCV(DensityPeaks(KernelDiffusion()), grid, scoring=closeness, cv=2).fit(X)
    assert search.best_params_ == {"density__steps": 1}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.best_estimator_.labels_) == len(X)


def test_grid_search_over_steps_of_a_density():
    def held_out(model, X, y=None):
        return model.score_samples(X).mean()

    grid = {"steps": [1, 4, float("inf")], "teleport": [0.0, 0.1]}
    search = GridSearchCV(KernelDiffusion(), grid, scoring=held_out, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("copied", [lambda value: pickle.loads(pickle.dumps(value)), joblib_copy])
@by_name(CLUSTERERS + DENSITIES + VARIANTS)
def test_pickled_estimator_works_on(estimator, copied):
    given = np.abs(X[:, :1] - X[:, 0]) if getattr(estimator, "metric", None) == "precomputed" else X
    fitted = clone(estimator).fit(given)
    again = copied(fitted)
    np.testing.assert_array_equal(outcome(again), outcome(fitted))
    np.testing.assert_array_equal(again.graph_.distances, fitted.graph_.distances)
    if hasattr(fitted, "recut"):
        cut = {"n_clusters": 4} if isinstance(fitted, DensityPeaks) else {"min_density": 2.0}
        np.testing.assert_array_equal(again.recut(**cut), fitted.recut(**cut))
        np.testing.assert_array_equal(again.recut(), fitted.recut())
    density, old = getattr(again, "density_estimator_", again), getattr(fitted, "density_estimator_", fitted)
    np.testing.assert_array_equal(density.score_samples(given), old.score_samples(given))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@by_name(CLUSTERERS + DENSITIES)
def test_data_frames(estimator, frame):
    table = frame({"width": X[:, 0], "height": X[:, 1]})
    fitted = clone(estimator).fit(table)
    assert fitted.feature_names_in_.tolist() == ["width", "height"]
    assert fitted.n_features_in_ == 2
    np.testing.assert_array_equal(outcome(fitted), outcome(clone(estimator).fit(X)))
    if hasattr(fitted, "score_samples"):
        np.testing.assert_array_equal(fitted.score_samples(table), clone(estimator).fit(X).score_samples(X))
        with pytest.raises(ValueError, match="feature names"):
            fitted.score_samples(frame({"height": X[:, 1], "width": X[:, 0]}))


@by_name(CLUSTERERS)
def test_fit_predict_and_refit(estimator):
    model = clone(estimator)
    labels = model.fit_predict(X, Y)
    np.testing.assert_array_equal(labels, model.labels_)
    smaller = model.fit(X[:50, :1])
    np.testing.assert_array_equal(smaller.labels_, clone(estimator).fit_predict(X[:50, :1]))
    assert smaller.n_features_in_ == 1


def test_import_loads_numpy_scipy_and_scikit_learn_only():
    loaded = third_party_after("from diffpeaks import *")
    assert loaded - third_party_after("") == {"diffpeaks"}  # where these three are loaded
    assert "torch" not in third_party_after("from diffpeaks.baselines import *")
    assert not loaded & {"matplotlib", "polars", "torch", "dask", "numba"}  # pandas: scikit-learn's own doing
