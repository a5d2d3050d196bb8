import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics.cluster import pair_confusion_matrix

from diffpeaks.metrics import bcubed_scores, pairwise_scores

labelings = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), min_size=1, max_size=25)


@given(pairs=labelings)
def test_equal_the_reference(pairs):
    y_true, labels = np.array(pairs).T
    assert pairwise_scores(y_true, labels) == pytest.approx(reference.pairwise_scores(y_true, labels))
    assert bcubed_scores(y_true, labels) == pytest.approx(reference.bcubed_scores(y_true, labels))


@given(pairs=labelings)
def test_pairwise_equals_scikit_learn(pairs):
    y_true, labels = np.array(pairs).T
    singletons = np.where(labels == -1, 100 + np.arange(len(labels)), labels)
    (_, only_found), (only_true, both) = pair_confusion_matrix(y_true, singletons)
    precision, recall, _ = pairwise_scores(y_true, labels)
    assert precision == (both / (both + only_found) if both + only_found else 1)
    assert recall == (both / (both + only_true) if both + only_true else 1)


@given(pairs=labelings)
def test_swapping_truth_and_labels_swaps_precision_and_recall(pairs):
    y_true, labels = np.abs(np.array(pairs)).T
    for scores in (pairwise_scores, bcubed_scores):
        forward, backward = scores(y_true, labels), scores(labels, y_true)
        assert forward == pytest.approx((backward.recall, backward.precision, backward.f))


def test_known_values():
    """One cluster for all of iris has pairwise F 49.5; setosa against the rest 74.6 and 80.0 (BCubed)."""
    y = load_iris().target
    assert 100 * pairwise_scores(y, np.zeros(150)).f == pytest.approx(49.5, abs=0.05)
    assert 100 * pairwise_scores(y, y > 0).f == pytest.approx(74.6, abs=0.05)
    assert 100 * bcubed_scores(y, y > 0).f == pytest.approx(80.0, abs=0.05)


def test_names_as_labels_and_no_overflow():
    assert pairwise_scores(["a", "a", "b"], [1, 1, 0]) == (1, 1, 1)
    labels = np.zeros(100_000, np.int8)
    assert pairwise_scores(labels, labels) == (1, 1, 1)
