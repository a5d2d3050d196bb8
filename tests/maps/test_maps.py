"""Which map is made, of what, and what is refused."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from clouds import clouds, general_position
from hypothesis import given, settings
from refusals import refuses

from diffpeaks import DensityDBSCAN, DensityPeaks, KernelDiffusion, neighbor_graph
from diffpeaks.maps import axis_names, map_coordinates, map_name
from diffpeaks.maps.layout import laid_out
from diffpeaks.progress import listening
from diffpeaks.sharded import ShardedDensityPeaks
from diffpeaks.toponymy import DensityPeaksClusterer

MANY = general_position(0, 90, 5)


@pytest.mark.parametrize("n_features", [1, 2])
def test_points_of_the_plane_are_drawn_as_they_are(n_features):
    X = general_position(0, 30, n_features)
    model = DensityPeaks().fit(X)
    np.testing.assert_allclose(map_coordinates(model)[:, :n_features], X - (n_features == 1) * X.mean(axis=0))
    assert map_name(model) == "features"
    assert not np.allclose(map_coordinates(model, "graph")[:, :n_features], X)


def test_other_fits_are_laid_out_from_their_own_graph():
    for fitted in (DensityPeaks().fit(MANY), DensityDBSCAN().fit(MANY), KernelDiffusion().fit(MANY)):
        graph = getattr(fitted, "density_estimator_", fitted).graph_
        np.testing.assert_array_equal(map_coordinates(fitted), laid_out(graph))
        assert map_name(fitted) == "neighbour graph"
        assert axis_names(fitted) == ("", "")
    np.testing.assert_array_equal(map_coordinates(graph), laid_out(graph))


def test_directions_of_two_features_are_laid_out():
    model = DensityPeaks(metric="cosine").fit(general_position(0, 30, 2))
    assert map_name(model) == "neighbour graph"


def test_an_array_alone_has_no_graph():
    assert map_name(MANY) == "principal axes"
    np.testing.assert_array_equal(map_coordinates(MANY), map_coordinates(MANY, "pca"))
    with pytest.raises(ValueError, match="give a fitted estimator or a NeighborGraph"):
        map_coordinates(MANY, "graph")


def test_distances_are_enough_for_a_layout():
    graph = neighbor_graph(MANY, n_neighbors=8)
    dense = np.linalg.norm(MANY[:, None] - MANY, axis=2)
    for distances in (graph, dense):
        model = DensityPeaks(metric="precomputed").fit(distances)
        np.testing.assert_array_equal(map_coordinates(model), laid_out(model.density_estimator_.graph_))
        for how in ("pca", "umap"):
            with pytest.raises(ValueError, match=r"needs points.*map='graph'"):
                map_coordinates(model, how)
    with pytest.raises(ValueError, match="needs points"):
        map_coordinates(dense, metric="precomputed")


def test_copies_have_one_place():
    X = np.concatenate([MANY, MANY[:7], MANY[:3]])
    found = map_coordinates(DensityPeaks().fit(X))
    np.testing.assert_array_equal(found[90:97], found[:7])
    np.testing.assert_array_equal(found[97:], found[:3])
    assert len(np.unique(found, axis=0)) == 90


def test_a_loaded_model_has_the_same_map(tmp_path):
    model = DensityPeaks().fit(np.concatenate([MANY, MANY[:5]]))
    model.save(tmp_path / "model")
    loaded = DensityPeaks.load(tmp_path / "model")
    np.testing.assert_array_equal(map_coordinates(loaded), map_coordinates(model))


@settings(max_examples=30)
@given(clouds())
def test_every_fit_has_a_finite_map(X):
    found = map_coordinates(DensityPeaks().fit(X), "graph")
    assert found.shape == (len(X), 2)
    assert np.isfinite(found).all()


def test_sparse_points_and_names_of_columns():
    model = DensityPeaks(smooth=False).fit(sp.csr_matrix(MANY))
    assert map_coordinates(model).shape == (90, 2)
    frame = pd.DataFrame(general_position(0, 20), columns=["width", "height"])
    assert axis_names(frame) == axis_names(DensityPeaks().fit(frame)) == ("width", "height")


def test_coordinates_that_are_given_are_checked():
    places = general_position(1, 90)
    for X in (MANY, DensityPeaks().fit(MANY)):
        np.testing.assert_array_equal(map_coordinates(X, places), places)
        assert map_name(X, places) == "given coordinates"
        with pytest.raises(ValueError, match=r"shape \(5, 2\).*\(90, 2\)"):
            map_coordinates(X, places[:5])
        with pytest.raises(ValueError, match="NaN"):
            map_coordinates(X, places * np.nan)


def test_what_cannot_be_mapped_is_refused():
    with pytest.raises(ValueError, match=r"'tsne' is unknown.*auto.*graph.*pca.*umap"):
        map_coordinates([[1.0]], "tsne")
    with pytest.raises(ValueError, match="NaN or infinity"):
        map_coordinates([[1.0, np.nan, 2.0]])
    with pytest.raises(ValueError, match="not fitted"):
        map_coordinates(DensityPeaks())


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (None, "points of shape (n_samples, n_features)|NoneType"),
        (3, "int of shape ()"),
        ("points.csv", "str of shape ()"),
        ([1.0, 2.0], "list of shape (2,)"),
        (np.zeros((1, 2, 3)), "ndarray of shape (1, 2, 3)"),
        ([[1.0, 2.0], [3.0]], "rows of X have different lengths"),
        (np.ma.masked_less(MANY, 0), "X is masked in rows"),
        (MANY * 1e200, "rescale X"),
        (MANY.astype(np.float32) * np.float32(1e30), "rescale X"),
        (ShardedDensityPeaks(), "a map needs a DensityPeaks|got ShardedDensityPeaks"),
        (DensityPeaksClusterer(), "a map needs a DensityPeaks|got DensityPeaksClusterer"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_map_is_refused_of_what_is_no_table_and_no_fit(X, words):
    with refuses(words):
        map_coordinates(X, "pca")


def test_umap_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"diffpeaks\[umap\]"):
        map_coordinates(np.eye(3), "umap")


def test_who_listens_is_told_how_far_the_layout_is():
    told, model = [], DensityPeaks().fit(MANY)
    with listening(told.append):
        map_coordinates(model)
    assert {progress.stage for progress in told} == {"map"}
    assert (told[0].done, told[-1].done, told[-1].total) == (0, 90, 90)
