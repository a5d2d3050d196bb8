"""Every cut of a sweep against the labels of that cut, scored by itself."""

import numpy as np
import pytest
from hills import hilly
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks._base.constants import NOISE
from diffpeaks.metrics import bcubed_scores, pairwise_scores

RULES = ["max_link", "n_clusters", "min_prominence"]
classes = st.integers(1, 6)


def truth(n_samples, n_classes):
    return np.random.default_rng(n_classes).integers(0, n_classes, n_samples)


def assert_scores(sweep, y, labels_at):
    """Each cut of the sweep is the labelling that its threshold makes."""
    for i, threshold in enumerate(sweep.thresholds):
        labels = labels_at(threshold)
        assert sweep.n_clusters[i] == len(set(labels.tolist()) - {NOISE})
        for found, scores in ((sweep.pairwise, pairwise_scores), (sweep.bcubed, bcubed_scores)):
            assert tuple(part[i] for part in found) == pytest.approx(scores(y, labels))


@pytest.mark.parametrize("rule", RULES)
@given(case=hilly(), n_classes=classes)
def test_every_cut_of_density_peaks(rule, case, n_classes):
    X, graph, density = case
    y = truth(len(X), n_classes)
    model = DensityPeaks(density, n_neighbors=graph.n_neighbors).fit(X)

    def labels_at(threshold):
        return model.recut(**{rule: int(threshold) if rule == "n_clusters" else threshold})

    assert_scores(model.sweep(y, rule), y, labels_at)


@given(case=hilly(), n_classes=classes)
def test_every_cut_of_dbscan(case, n_classes):
    X, graph, density = case
    y = truth(len(X), n_classes)
    model = DensityDBSCAN(density, border=False, n_neighbors=graph.n_neighbors).fit(X)
    assert_scores(model.sweep(y), y, model.recut)


@given(case=hilly())
def test_no_cut_is_missing(case):
    X, graph, density = case
    model = DensityPeaks(density, n_neighbors=graph.n_neighbors).fit(X)
    forest = model.recut(max_link=np.inf)
    y = np.arange(len(X)) % 3
    assert model.sweep(y).n_clusters.tolist() == sorted(set(model.sweep(y).n_clusters), reverse=True)
    assert model.sweep(y).n_clusters[-1] == forest.max() + 1
    assert model.sweep(y, "n_clusters").thresholds.tolist() == list(range(len(X), 0, -1))
    cores = DensityDBSCAN(density, n_neighbors=graph.n_neighbors).fit(X).sweep(y)
    assert sorted(cores.thresholds) == sorted(set(density))


def test_refusals():
    X = np.arange(6.0)[:, None]
    model = DensityPeaks(n_neighbors=3).fit(X)
    with pytest.raises(ValueError, match="rule='length' is unknown; use 'max_link'"):
        model.sweep(np.zeros(6), "length")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.sweep(np.zeros(5))
    with pytest.raises(ValueError, match="y_true has NaN at samples"):
        model.sweep([0, 0, np.nan, 1, 1, 1])
