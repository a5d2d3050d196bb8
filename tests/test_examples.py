"""The examples run as a user runs them, wherever their packages are installed."""

import re
import runpy
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from diffpeaks import NOISE, DensityPeaks

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))
GALLERY = [script for script in SCRIPTS if script.startswith("plot_")]
# what the prose of an example says of its result
CLAIMS = {
    "plot_quickstart.py": lambda made: made["model"].n_clusters_ == 3,
    "plot_digits.py": lambda made: made["model"].n_clusters_ == 11,
    "plot_faces.py": lambda made: made["sweep"].bcubed.f.max() > 0.98,
    "plot_recut.py": lambda made: [labels.max() + 1 for labels in made["cuts"].values()] == [8, 2, 5, 8],
    "plot_confidence.py": lambda made: made["model"].probabilities_.min() < 0.6,
    "plot_hierarchy.py": lambda made: [scale.n_clusters for scale in made["scales"]] == [16, 4],
    "plot_predict.py": lambda made: set(made["labels"]) == {NOISE, 0, 1},
    "plot_neighbors.py": lambda made: made["share"][1] > made["share"][-1] > 0.7,
    "plot_prominence.py": lambda made: made["model"].n_clusters_ == 1,
}


def output_of(script, *arguments):
    command = [sys.executable, str(EXAMPLES / script), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def groups_far_apart(sizes):
    random = np.random.default_rng(0)
    return np.concatenate([random.normal(50 * i, 1, (size, 5)) for i, size in enumerate(sizes)])


def test_every_example_is_listed():
    assert sorted(set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text()))) == SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_examples_are_short(script):
    assert len((EXAMPLES / script).read_text().splitlines()) < 80


@pytest.mark.parametrize("script", GALLERY)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.usefixtures("closed_figures", "folder")
def test_examples_of_the_gallery_run_and_draw(script):
    plt = pytest.importorskip("matplotlib.pyplot")
    made = runpy.run_path(str(EXAMPLES / script))
    assert plt.get_fignums()
    assert CLAIMS.get(script, bool)(made)


@pytest.mark.parametrize("script", GALLERY)
def test_examples_of_the_gallery_have_a_heading_and_prose(script):
    title, underline, empty, *prose = (EXAMPLES / script).read_text().split('"""')[1].strip().split("\n")
    assert underline == "=" * len(title)
    assert not empty
    assert prose


@pytest.mark.usefixtures("closed_figures")
def test_digits(tmp_path, monkeypatch):
    """With another map in the place of t-SNE, which takes most of a minute and is for the eye alone."""
    monkeypatch.setattr("sklearn.manifold.TSNE", partial(PCA, 2))
    runpy.run_path(str(EXAMPLES / "digits.py"))["main"](tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 10_000


@pytest.mark.filterwarnings("ignore")
def test_topics():
    for package in ("bertopic", "hdbscan"):
        pytest.importorskip(package)
    printed = output_of("topics_bertopic.py")
    assert "DensityPeaks: 6 topics, 0 documents without one" in printed
    # BERTopic numbers topics by size, and the new documents are in the order of size
    assert re.findall(r"^topic (-?\d+):", printed, re.MULTILINE) == list("012345")


@pytest.mark.filterwarnings("ignore")
def test_documents_of_small_clusters_are_outliers_for_bertopic():
    for package in ("bertopic", "hdbscan"):
        pytest.importorskip(package)
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction

    X = groups_far_apart([30, 50, 3])
    documents = [f"word{i % 7} text" for i in range(len(X))]
    model = DensityPeaks(min_cluster_size=10)
    topics = BERTopic(umap_model=BaseDimensionalityReduction(), hdbscan_model=model)
    found, probabilities = topics.fit_transform(documents, X)
    assert found == [1] * 30 + [0] * 50 + [NOISE] * 3
    np.testing.assert_array_equal(probabilities > 0, np.array(found) != NOISE)
    new, _ = topics.transform(["a", "b", "c"], np.array([X[0], X[40], X[40] + 1000]))
    assert new == [1, 0, NOISE]


@pytest.mark.filterwarnings("ignore")
def test_cells():
    for package in ("scanpy", "igraph", "leidenalg"):
        pytest.importorskip(package)
    score = re.search(r"diffpeaks: \d+ clusters, AMI ([\d.]+)", output_of("cells_scanpy.py"))
    assert float(score.group(1)) > 0.9


@pytest.mark.filterwarnings("ignore")
def test_the_graph_of_scanpy_is_taken_as_it_is():
    anndata, scanpy = pytest.importorskip("anndata"), pytest.importorskip("scanpy")
    X = groups_far_apart([60, 80])
    X[5] = X[4]  # equal cells are neighbours at distance zero
    adata = anndata.AnnData(X.astype(np.float32))
    scanpy.pp.neighbors(adata, use_rep="X")
    graph = adata.obsp["distances"].tocoo()
    # a cell may hold itself in the place of an equal one
    holds_itself = np.isin(np.arange(len(X)), graph.row[graph.row == graph.col])
    model = DensityPeaks(metric="precomputed").fit(adata.obsp["distances"])
    np.testing.assert_array_equal(model.graph_.degrees, np.where(holds_itself, 14, 15))
    assert model.labels_[4] == model.labels_[5]
    assert not set(model.labels_[:60]) & set(model.labels_[60:])
