"""AnnData: matrices are read, and results come back as columns of a copy. Needs the extra h5ad."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import general_position
from refusals import refuses

from diffpeaks import DensityPeaks
from diffpeaks.cli import main
from diffpeaks.files import Wanted, read_samples

anndata = pytest.importorskip("anndata")

X = general_position(0, 60).astype(np.float32)


@pytest.fixture
def cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = anndata.AnnData(sp.csr_matrix(X[:, ::-1]), obsm={"X_pca": X})
    made.obs_names = [f"cell{i}" for i in range(len(X))]
    made.obs["batch"] = ["a", "b"] * 30
    made.uns["note"] = "kept"
    made.write_h5ad("cells.h5ad")
    return tmp_path


def test_matrices_are_read(cells):
    pca = read_samples(["cells.h5ad"], Wanted(key="X_pca"))
    np.testing.assert_array_equal(pca.X, X)
    assert pca.ids.values[1] == "cell1"
    sparse = read_samples(["cells.h5ad"], Wanted(id="batch"))
    np.testing.assert_array_equal(sparse.X.toarray(), X[:, ::-1])
    assert sparse.ids.values[1] == "b"


def test_columns_of_obs_are_read_beside_the_matrix(cells):
    found = read_samples(["cells.h5ad"], Wanted(key="X_pca", beside=("batch",)))
    np.testing.assert_array_equal(found.X, X)
    assert found.beside["batch"].tolist() == ["a", "b"] * 30
    with refuses("'cells.h5ad'|'color'|['batch']"):
        read_samples(["cells.h5ad"], Wanted(beside=("color",)))


def test_results_are_columns_of_a_copy(cells):
    before = (cells / "cells.h5ad").read_bytes()
    assert main(["cluster", "cells.h5ad", "--key", "X_pca", "-o", "out.h5ad"]) == 0
    assert (cells / "cells.h5ad").read_bytes() == before
    model, out = DensityPeaks().fit(X), anndata.read_h5ad("out.h5ad")
    assert out.obs["diffpeaks_label"].astype(int).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(out.obs["diffpeaks_density"], model.density_)
    np.testing.assert_array_equal(out.obs["diffpeaks_delta"], model.decision_graph()[1])
    np.testing.assert_array_equal(out.obs["diffpeaks_probability"], model.probabilities_)
    assert out.uns["note"] == "kept"
    np.testing.assert_array_equal(out.obsm["X_pca"], X)
    assert main(["score", "out.h5ad", "--truth-column", "batch"]) == 0
    assert {path.name for path in cells.iterdir()} == {"cells.h5ad", "out.h5ad"}


def test_refusals(cells):
    with refuses("'cells.h5ad'|'X_umap'|['X_pca']|--key"):
        read_samples(["cells.h5ad"], Wanted(key="X_umap"))
    with refuses("'cells.h5ad'|'color'|['batch']"):
        read_samples(["cells.h5ad"], Wanted(id="color"))
    (cells / "cut.h5ad").write_bytes((cells / "cells.h5ad").read_bytes()[:2000])
    with refuses("'cut.h5ad'|cannot be read"):
        read_samples(["cut.h5ad"], Wanted())
    import h5py

    with h5py.File("other.h5ad", "w") as file:
        file["numbers"] = X
    with refuses("'other.h5ad'|no AnnData"):
        read_samples(["other.h5ad"], Wanted())


def test_which_matrix_is_taken_is_said_where_there_is_a_choice(cells, capsys):
    (note,) = read_samples(["cells.h5ad"], Wanted()).notes
    assert "the matrix X is taken" in note
    assert "--key X_pca" in note
    assert read_samples(["cells.h5ad"], Wanted(key="X_pca")).notes == ()
    assert main(["cluster", "cells.h5ad", "-o", "out.csv"]) == 0
    assert f"diffpeaks: {note}" in capsys.readouterr().err
    assert main(["cluster", "cells.h5ad", "-o", "out.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
