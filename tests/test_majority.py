"""Samples that follow most of their mutual neighbours: as loops say, and forests that stay forests."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from diffpeaks import DensityPeaks
from diffpeaks.majority import majority_followed
from diffpeaks.order import NO_POINT
from diffpeaks.peaks import peak_labels


def fitted(n_samples=400, n_features=6, seed=0, copies=0, weights=None):
    X, _ = make_blobs(n_samples, n_features, centers=5, cluster_std=3.0, random_state=seed)
    X = np.concatenate([X, X[:copies]])
    return DensityPeaks(smooth=False).fit(X, sample_weight=weights)


def followed_by_loops(model, forest, labels, max_link):
    """Parents of the first samples at each place, one sample after the other, densest first."""
    graph, places = model.density_estimator_.graph_, model._places
    first = np.arange(graph.n_samples) if places.first is None else places.first
    number = np.arange(graph.n_samples) if places.number is None else places.number
    weights = np.ones(graph.n_samples) if places.weights is None else places.weights
    before, after = labels[first], labels[first].copy()
    parent = forest.parent[first].copy()
    for here in np.argsort(forest.rank[first]):
        if parent[here] == NO_POINT:
            continue
        row = range(graph.indptr[here] + 1, graph.indptr[here + 1])
        mutual = [
            graph.indices[e]
            for e in row
            if graph.distances[e] < max_link
            and here in graph.indices[graph.indptr[graph.indices[e]] : graph.indptr[graph.indices[e] + 1]]
        ]
        votes = {before[here]: weights[here]}
        for other in mutual:
            votes[before[other]] = votes.get(before[other], 0.0) + weights[other]
        wanted = min(votes, key=lambda label: (-votes[label], label != before[here], label))
        if after[number[parent[here]]] != wanted:
            for other in mutual:
                if forest.rank[first[other]] < forest.rank[first[here]] and after[other] == wanted:
                    parent[here] = first[other]
                    break
        after[here] = after[number[parent[here]]]
    return parent, after


@pytest.mark.parametrize("max_link", [np.inf, 8.0])
@pytest.mark.parametrize("copies", [0, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_samples_follow_as_the_loops_say(copies, max_link, weighted):
    weights = np.random.RandomState(1).randint(1, 4, 400 + copies).astype(float) if weighted else None
    model = fitted(copies=copies, weights=weights)
    forest = model._forest_within(max_link)
    peaks = forest.roots[forest.prominence[forest.roots] >= 0.3]
    labels = peak_labels(forest, peaks)
    found = majority_followed(forest, labels, model._places, model.density_estimator_.graph_, max_link)
    parent, after = followed_by_loops(model, forest, labels, max_link)
    first = slice(None) if model._places.first is None else model._places.first
    np.testing.assert_array_equal(found.parent[first], parent)
    np.testing.assert_array_equal(peak_labels(found, peaks)[first], after)
    assert np.any(found.parent != forest.parent)


def test_the_scale_of_weights_does_not_matter():
    for seed in range(8):
        X, _ = make_blobs(400, 10, centers=5, cluster_std=4.0, random_state=seed)
        weights = np.random.RandomState(seed).randint(1, 6, len(X))
        labels = DensityPeaks().fit(X, sample_weight=weights).labels_
        for scale in (0.1, 1 / 3, 7):
            scaled = DensityPeaks().fit(X, sample_weight=weights * scale)
            np.testing.assert_array_equal(scaled.labels_, labels)


def test_tops_stay_and_links_lead_upwards():
    model = DensityPeaks().fit(load_digits().data)
    assert model.cut_.flow_weight > 0
    linked = model.forest_.parent != NO_POINT
    assert np.all(model.forest_.rank[model.forest_.parent[linked]] < model.forest_.rank[linked])
    hills = model._hills(model._linked(), model.cut_)
    np.testing.assert_array_equal(model.forest_.roots, hills.roots)
    met = model.forest_.crossing[model.forest_.roots]
    assert np.all(np.isin(met[met != NO_POINT], model.forest_.roots))
    moved = np.flatnonzero(model.forest_.parent != hills.parent)
    assert 0 < len(moved) < 0.2 * len(model.labels_)
    for sample in moved[:50]:
        why = model.explain(sample)
        assert why.label == model.labels_[sample] == model.labels_[why.peak]
        assert why.path[1] == model.forest_.parent[sample]


def test_all_levels_of_the_tree_are_clusterings():
    model = DensityPeaks().fit(load_digits().data)
    tree = model.hierarchy(model.cut_.max_link)
    for scale in tree.scales(None):
        labels = tree.labels_at(scale.min_prominence)
        assert labels.max() + 1 == scale.n_clusters
    np.testing.assert_array_equal(tree.labels_at(model.cut_.min_prominence), model.labels_)
