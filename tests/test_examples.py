"""The examples run as a user runs them, wherever their packages are installed."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from diffpeaks import NOISE, DensityPeaks

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


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


def test_digits(tmp_path):
    pytest.importorskip("matplotlib")
    output_of("digits.py", tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 0


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
