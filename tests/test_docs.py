"""What the documents say can be done, is done; what they name, exists."""

import dataclasses
import importlib
import itertools
import re
import runpy
from pathlib import Path

import numpy as np
import processes
import pytest
import torch
from clouds import general_position
from indices import FaissLike
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score

import diffpeaks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
THEORY, BASELINES, GUIDE, FROM_HDBSCAN, FROM_DBSCAN, COOKBOOK, PEERS = (
    (ROOT / "docs" / f"{page}.md").read_text()
    for page in (
        "theory",
        "baselines",
        "choosing-nothing",
        "from-hdbscan",
        "from-dbscan",
        "cookbook",
        "peers",
    )
)
X = general_position(0, 120)
NAMES = {
    "replace": dataclasses.replace,
    "np": np,
    "typical": 1.0,
    **{name: getattr(diffpeaks, name) for name in diffpeaks.__all__},
    **{name: getattr(diffpeaks.plotting, name) for name in diffpeaks.plotting.__all__},
    "diffpeaks": diffpeaks,
    "X": X,
    "X_new": X[:3],
    "eps": 0.5,
    "y": np.arange(len(X)) % 3,
    "min_samples": 4,
    "values": np.ones(len(X)),
    "weights": np.ones(len(X)),
    "model": diffpeaks.DensityPeaks().fit(X),
    "tree": diffpeaks.DensityPeaks().fit(X).hierarchy(),
    "graph": diffpeaks.neighbor_graph(X, 12),
    "index": FaissLike(X),
    "indices": diffpeaks.neighbor_graph(X, 12).indices.reshape(-1, 12),
    "distances": diffpeaks.neighbor_graph(X, 12).distances.reshape(-1, 12),
}


EXECUTED = [
    "index",
    "quickstart",
    "cookbook",
    "own-neighbours",
    "baselines",
    "datasets",
    "prediction",
    "confidence",
    "hierarchy",
    "displays",
    "progress",
    "explorer",
    "maps",
    "choosing-nothing",
    "from-hdbscan",
    "from-dbscan",
]


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


BLOCKS = [
    block for page in ("README.md", *(f"docs/{name}.md" for name in EXECUTED)) for block in blocks_of(page)
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.usefixtures("closed_figures")
def test_code_of_the_documents_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that it writes
    exec(block, dict(NAMES))


def test_the_page_for_shards_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "embeddings").mkdir()
    np.save("embeddings/points.npy", X)
    fit, plan, *on_clusters = blocks_of("docs/larger-than-memory.md")
    made = {}
    exec(fit, made)
    assert len(made["read_labels"]("labels").label) == len(X)
    exec(plan, made)
    for block in on_clusters:
        compile(block, "larger-than-memory.md", "exec")


@pytest.mark.filterwarnings("ignore")
def test_the_page_for_cells_runs(monkeypatch):
    for package in ("scanpy", "igraph"):
        pytest.importorskip(package)
    made = {}
    exec("\n".join(blocks_of("docs/scanpy.md")), made)
    assert made["adata"].obs["on_pca"].nunique() == 6
    assert {"diffpeaks", "diffpeaks_R", "finer", "probability"} <= set(made["adata"].obs)


@pytest.mark.filterwarnings("ignore")
def test_the_page_for_topics_runs(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # which toponymy would else look for elsewhere
    for package in ("bertopic", "hdbscan", "toponymy"):
        pytest.importorskip(package)
    example = runpy.run_path(str(ROOT / "examples" / "topics_bertopic.py"))
    documents, truth = example["make_documents"](0.5, 0)
    made = {"documents": documents, "new_documents": example["NEW_DOCUMENTS"]}
    *of_bertopic, of_toponymy = blocks_of("docs/topics.md")
    exec("\n".join(of_bertopic), made)
    assert min(made["topics"]) == 0
    assert made["new_topics"] == [0, 1, 2, 3, 4, 5]
    assert adjusted_mutual_info_score(truth, made["topics"]) > 0.9
    exec(of_toponymy, made | {"llm": named_by_number(), "embedding_model": Embedding(made["embedder"])})


class Embedding:
    """Embeds texts, as toponymy asks for it."""

    def __init__(self, embedder):
        self.encode = lambda texts, *args, **given: embedder.transform(texts)


def named_by_number():
    """A language model that calls topics by numbers."""
    from toponymy.llm_wrappers import LLMWrapper

    class Numbers(LLMWrapper):
        numbers = itertools.count()

        def _call_llm(self, prompt, temperature, max_tokens):
            return f'{{"topic_name": "topic {next(self.numbers)}", "topic_specificity": 0.5}}'

        _call_llm_with_system_prompt = _call_llm

    return Numbers()


def rows_of(document, header):
    """The rows of all tables that begin so."""
    return [row for part in document.split(header)[1:] for row in part.split("\n\n")[0].splitlines()[2:]]


@pytest.mark.parametrize(
    "row",
    rows_of(COOKBOOK, "| you want |")
    + rows_of(GUIDE, "| symptom |")
    + rows_of(FROM_HDBSCAN, "| in HDBSCAN |")
    + rows_of(FROM_DBSCAN, "| in DBSCAN |"),
)
def test_rows_of_the_tables_work(row, monkeypatch):
    if not torch.cuda.is_available():  # the processor stands for a card
        monkeypatch.setattr("diffpeaks.neighbors.gpu.space.opened", lambda name: torch.device("cpu"))
    expression = re.search(r"`([^`]+)`", row.split("|")[2]).group(1)
    made = eval(expression, dict(NAMES))
    if hasattr(made, "fit_predict") and not hasattr(made, "labels_"):
        assert len(made.fit_predict(X)) == len(X)
    else:
        assert made is not None


def test_numbers_of_the_pages_for_newcomers():
    """A wrong digit of a page is noticed; a score may turn in its last digit with another scikit-learn."""
    X, y = load_digits(return_X_y=True)
    told = [
        (HDBSCAN(min_cluster_size=10, copy=True), 12, 814, 0.638),
        (diffpeaks.DensityPeaks(min_cluster_size=10), 11, 0, 0.878),
        (DBSCAN(eps=22), 13, 233, 0.745),
        (diffpeaks.DensityDBSCAN(), 10, 0, 0.824),
    ]
    pages = f"{FROM_HDBSCAN} {FROM_DBSCAN}"
    for model, n_clusters, n_noise, score in told:
        assert all(str(number) in pages for number in (n_clusters, n_noise or "none", score))
        labels = model.fit(X).labels_
        assert (labels.max() + 1, np.count_nonzero(labels == diffpeaks.NOISE)) == (n_clusters, n_noise)
        assert adjusted_mutual_info_score(y, labels) == pytest.approx(score, abs=2e-3)


def test_the_table_of_the_readme_is_that_of_the_peers():
    """The columns of four systems, with shorter names."""
    of_peers = {"diffpeaks": "default", "HDBSCAN": "scikit-learn HDBSCAN", "Leiden": "Leiden", "EVoC": "EVoC"}
    told, measured = (columns_of(page, "| family |") for page in (README, PEERS))
    assert len(told["family"]) == 10
    assert set(told) == {"family", *of_peers}
    for name, system in {"family": "family", **of_peers}.items():
        assert told[name] == measured[system][:10]


def columns_of(document, header):
    """The first table that begins so, as a list of cells for each column."""
    table = (header + document.split(header)[1].split("\n\n")[0]).splitlines()
    names, _, *rows = ([cell.strip() for cell in row.split("|")[1:-1]] for row in table)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_modules_named_in_the_cookbook_need_no_import_of_their_own():
    """In a process where nothing but the package was imported, and matplotlib only when it draws."""
    named = sorted(set(re.findall(r"`(diffpeaks\.[\w.]+)", COOKBOOK)))
    assert len(named) >= 3
    code = f"import sys, diffpeaks\n{chr(10).join(named)}\nassert 'matplotlib' not in sys.modules"
    run = processes.run(code)
    assert run.returncode == 0, run.stderr


PAGES = ("*.md", "docs/*.md", "benchmarks/**/*.md", "examples/*.md")


def links():
    """The page and the target of each link to another file."""
    for page in (
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("benchmarks/**/*.md"),
        ROOT / "examples/README.md",
    ):
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!http)([^)#]+)", prose):
            yield page.relative_to(ROOT).as_posix(), target


@pytest.mark.parametrize(("page", "target"), sorted(set(links())))
def test_links_lead_somewhere(page, target):
    assert (ROOT / page).parent.joinpath(target).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_[a-z0-9_]+)`", THEORY))))
def test_tests_named_in_the_theory_exist(name):
    assert any(f"def {name}(" in path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))


PACKAGE = ROOT / "src" / "diffpeaks"
MODULES = {path.stem: path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*.py")} | {
    path.name: path.relative_to(PACKAGE.parent) for path in PACKAGE.iterdir() if path.is_dir()
}
functions = [
    found for found in re.findall(r"`(\w+)\.(\w+)`", THEORY) if found[0] in MODULES and found[1] != "py"
]


@pytest.mark.parametrize(("module", "name"), sorted(set(functions)))
def test_functions_named_in_the_theory_exist(module, name):
    path = ".".join(MODULES[module].with_suffix("").parts)
    assert callable(getattr(importlib.import_module(path), name))


def test_every_baseline_is_in_the_table():
    table = BASELINES.split("| name in")[1].split("\n\n")[0]
    assert set(re.findall(r'`"([a-z-]+)"`', table)) == set(diffpeaks.baselines.BASELINES)


def test_functions_that_the_theory_names_exist():
    named = re.findall(r"`([a-z_]+)\.(?!py`)([A-Za-z_]+)`", (ROOT / "docs" / "theory.md").read_text())
    package = ROOT / "src" / "diffpeaks"
    for module, name in named:
        sources = [path.read_text() for path in package.rglob(f"{module}.py")]
        assert any(re.search(rf"(def|class) {name}\b", source) for source in sources), (module, name)


def test_the_table_of_modules_has_every_module_and_no_other():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = text[text.index("| module |") : text.index("Imports point downward only")].splitlines()[2:]
    firsts = [row.split("|")[1] for row in rows if row]
    named = {name for first in firsts for name in re.findall(r"`(\w+\.py|\w+/)`", first)}
    package = ROOT / "src" / "diffpeaks"
    entries = {path.name + "/" * path.is_dir() for path in package.iterdir() if path.name[:2] != "__"}
    is_module = {entry for entry in entries if entry.endswith((".py", "/")) and entry != "_native.pyi"}
    assert named - {"native/"} == is_module
