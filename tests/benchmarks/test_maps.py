"""The scores of benchmarks/maps against others, and its tables against the documents."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

ROOT = Path(__file__).parents[2]


def module(name):
    """A module of benchmarks/maps; other benchmarks have some of the same names."""
    spec = importlib.util.spec_from_file_location(f"maps_{name}", ROOT / "benchmarks" / "maps" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


scoring, table = module("scoring"), module("table")
X = np.random.default_rng(0).normal(size=(120, 6))
PLACES = X[:, :2] + 0.3 * np.random.default_rng(1).normal(size=(120, 2))
FOUND = scoring.nearest(PLACES)


def test_recall_by_sets():
    true = scoring.nearest(X)
    shared = [len(set(a) & set(b)) for a, b in zip(true.tolist(), FOUND.tolist(), strict=True)]
    assert scoring.recall(true, FOUND) == pytest.approx(sum(shared) / (15 * 120))
    assert scoring.recall(true, true) == 1


def test_trustworthiness_is_that_of_scikit_learn():
    found = scoring.trustworthiness(X, FOUND)
    assert found == pytest.approx(sklearn_trustworthiness(X, PLACES, n_neighbors=15))


def test_accuracy_is_that_of_a_vote_of_the_neighbours():
    y = (X[:, 0] > 0).astype(int)
    votes = [np.bincount(y[row], minlength=2).argmax() for row in FOUND]
    assert scoring.accuracy(y, FOUND) == pytest.approx(np.mean(votes == y))


LINES = table.lines_of()


@pytest.mark.parametrize("make", table.TABLES)
def test_the_document_has_the_tables_of_the_results(make):
    assert make(LINES) in (ROOT / "docs" / "maps.md").read_text()


@pytest.mark.parametrize("name", ["text_googlenews", "cells_cbmc", "mnist"])
def test_the_map_keeps_more_than_umap_in_less_time(name):
    """What the document says of these sets is in the results."""
    ours, theirs = (
        next(line for line in LINES[::-1] if line.get("set") == name and line["system"] == system)
        for system in ("graph", "umap")
    )
    assert ours["recall"] >= theirs["recall"]
    assert ours["trustworthiness"] >= theirs["trustworthiness"]
    assert ours["first_seconds"] <= theirs["first_seconds"]
