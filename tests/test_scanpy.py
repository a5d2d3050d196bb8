"""Clusters of an AnnData, set where scanpy sets its own."""

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import refuses

from diffpeaks import DensityPeaks, neighbor_graph
from diffpeaks.scanpy import density_peaks

anndata = pytest.importorskip("anndata")
SIZES = (60, 50, 40)


def cells():
    """Three types of cells with the graph of their neighbours, as scanpy.pp.neighbors leaves it."""
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(8 * place, 1, (size, 5)) for place, size in enumerate(SIZES)])
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["X_pca"] = X[:, :4]
    adata.obsp["distances"] = sp.csr_matrix(neighbor_graph(X, 15).to_scipy())
    adata.obsp["connectivities"] = adata.obsp["distances"]
    adata.uns["neighbors"] = {"distances_key": "distances", "connectivities_key": "connectivities"}
    adata.obsp["fewer_distances"] = sp.csr_matrix(neighbor_graph(X, 10).to_scipy())
    adata.uns["fewer"] = {"distances_key": "fewer_distances"}
    adata.obs["type"] = np.repeat(["b", "a", "c"], SIZES)
    adata.obs["type"] = adata.obs["type"].astype("category")
    return adata


@pytest.mark.parametrize(
    ("source", "clustered"),
    [
        ({}, lambda adata: adata.obsp["distances"]),
        ({"neighbors_key": "fewer"}, lambda adata: adata.obsp["fewer_distances"]),
        ({"obsp": "fewer_distances"}, lambda adata: adata.obsp["fewer_distances"]),
        ({"use_rep": "X_pca"}, lambda adata: adata.obsm["X_pca"]),
        ({"use_rep": "X", "metric": "cosine"}, lambda adata: adata.X),
    ],
    ids=str,
)
def test_labels_are_those_of_the_estimator(source, clustered):
    adata = cells()
    assert density_peaks(adata, key_added="found", **source) is None
    metric = source.get("metric", "euclidean") if "use_rep" in source else "precomputed"
    labels = DensityPeaks(metric=metric).fit_predict(clustered(adata))
    assert adata.obs["found"].dtype == "category"
    assert adata.obs["found"].tolist() == [str(label) for label in labels]
    assert adata.uns["found"]["params"]["n_clusters_found"] == len(adata.obs["found"].cat.categories)
    assert {**adata.uns["found"]["params"], **source} == adata.uns["found"]["params"]


def test_a_copy_leaves_the_data_alone():
    adata = cells()
    found = density_peaks(adata, copy=True)
    assert "diffpeaks" in found.obs
    assert "diffpeaks" not in adata.obs
    assert "diffpeaks" not in adata.uns


def test_cells_of_some_types_are_clustered_alone():
    adata = cells()
    density_peaks(adata, use_rep="X_pca", restrict_to=("type", ["a", "b"]), n_clusters=2)
    assert adata.obs["diffpeaks_R"].cat.categories.tolist() == ["a-b,0", "a-b,1", "c"]
    assert adata.obs["diffpeaks_R"].tolist()[-SIZES[2] :] == ["c"] * SIZES[2]
    assert len(set(adata.obs["diffpeaks_R"][: SIZES[0]])) == 1
    density_peaks(adata, key_added="graph", restrict_to=("type", ["a"]), min_cluster_size=10)
    assert set(adata.obs["graph"]) >= {"a,0", "b", "c"}


def test_categories_are_in_the_order_of_numbers_and_noise_is_one():
    adata = cells()
    density_peaks(adata, use_rep="X_pca", n_clusters=12, min_cluster_size=5)
    names = adata.obs["diffpeaks"].cat.categories.tolist()
    assert names == [*(str(number) for number in range(len(names) - 1)), "-1"]


def test_results_can_be_written_and_read(tmp_path):
    adata = cells()
    density_peaks(adata, random_state=np.random.RandomState(0), n_neighbors=np.int64(9), min_prominence=0.5)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.obs["diffpeaks"].tolist() == adata.obs["diffpeaks"].tolist()
    assert read.uns["diffpeaks"]["params"]["min_prominence"] == 0.5
    assert read.uns["diffpeaks"]["params"]["n_neighbors"] == 9


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"obsp": "distances", "use_rep": "X_pca"}, "obsp|use_rep|more than one|give one"),
        ({"obsp": "connectivities"}, "connectivities|weights, not distances"),
        ({"obsp": "lengths"}, "obsp='lengths' is not in adata.obsp|distances"),
        ({"use_rep": "X_umap"}, "use_rep='X_umap' is not in adata.obsm|X_pca"),
        ({"neighbors_key": "more"}, "adata.uns has no 'more'|scanpy.pp.neighbors"),
        ({"metric": "cosine"}, "metric='cosine' has no effect|use_rep"),
        ({"restrict_to": ("type", ["z"])}, "['z']|no categories of adata.obs['type']"),
        ({"restrict_to": ("type", "a")}, "list of its categories"),
        ({"restrict_to": ("kind", ["a"])}, "'kind' is not in adata.obs|type"),
        ({"restrict_to": "type"}, "restrict_to='type'|a column and a list of its categories"),
        ({"restrict_to": ("type", None)}, "list of its categories"),
        ({"key_added": None}, "key_added=None must be the name of a column"),
        ({"key_added": 3}, "key_added=3 must be the name of a column"),
        ({"key_added": ""}, "key_added='' must be the name of a column"),
    ],
    ids=str,
)
def test_what_is_not_there_is_refused_by_its_name(given, words):
    with refuses(words):
        density_peaks(cells(), **given)


@pytest.mark.parametrize("given", [np.eye(3), None, "cells.h5ad"], ids=str)
def test_only_an_anndata_is_clustered(given):
    with refuses(f"adata must be an AnnData, got {type(given).__name__}"):
        density_peaks(given)


def test_without_values_a_representation_is_asked_for():
    with refuses("use_rep='X' needs adata.X, which is None|use_rep='X_pca'"):
        density_peaks(anndata.AnnData(obs=cells().obs), use_rep="X")


def test_categories_may_be_numbers():
    adata = cells()
    adata.obs["batch"] = np.arange(adata.n_obs) % 2
    density_peaks(adata, restrict_to=("batch", [1]))
    assert {name.partition(",")[0] for name in adata.obs["diffpeaks_R"]} == {"0", "1"}


def test_without_neighbours_the_remedy_is_named():
    with refuses("adata.uns has no 'neighbors'|run scanpy.pp.neighbors(adata)|use_rep='X_pca'"):
        density_peaks(anndata.AnnData(np.eye(3, dtype=np.float32)))


@pytest.mark.filterwarnings("ignore")
def test_the_same_is_set_as_by_leiden():
    scanpy = pytest.importorskip("scanpy")
    adata = cells()
    scanpy.pp.neighbors(adata, use_rep="X_pca")
    for restricted, suffix in ((None, ""), (("type", ["a", "b"]), "_R")):
        scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2, restrict_to=restricted)
        density_peaks(adata, restrict_to=restricted)
        theirs, ours = adata.obs["leiden" + suffix], adata.obs["diffpeaks" + suffix]
        assert ours.dtype.name == theirs.dtype.name == "category"
        assert ours.cat.categories.dtype == theirs.cat.categories.dtype
        assert [type(name) for name in set(ours)] == [str] * ours.nunique()
        assert ours.iloc[0].rpartition(",")[0] == theirs.iloc[0].rpartition(",")[0]
        assert (ours.iloc[-1] == theirs.iloc[-1] == "c") == (restricted is not None)
        assert set(adata.uns["diffpeaks" + suffix]) == set(adata.uns["leiden" + suffix]) == {"params"}
    scanpy.tl.rank_genes_groups(adata, "diffpeaks")
