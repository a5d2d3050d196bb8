"""Layers of clusters as toponymy asks for them."""

import numpy as np
import pytest
from refusals import refuses
from sklearn.base import clone
from sklearn.datasets import load_digits

from diffpeaks import DensityDBSCAN, DensityPeaks
from diffpeaks.toponymy import DensityPeaksClusterer

X = load_digits().data
CLUSTERER = DensityPeaksClusterer(DensityPeaks(min_prominence=0.1), min_clusters=2).fit_layers(X)


def sizes(clusterer):
    return [int(labels.max()) + 1 for labels in clusterer.layers_]


def test_the_finest_layer_is_the_clustering():
    np.testing.assert_array_equal(CLUSTERER.layers_[0], DensityPeaks(min_prominence=0.1).fit_predict(X))


def test_layers_are_nested_and_have_fewer_and_fewer_clusters():
    found = sizes(CLUSTERER)
    assert len(found) >= 3
    for fine, coarse in zip(CLUSTERER.layers_, CLUSTERER.layers_[1:], strict=False):
        assert coarse.max() + 1 <= (fine.max() + 1) / 2
        assert len(set(zip(fine, coarse, strict=True))) == fine.max() + 1
        assert set(coarse) == set(range(coarse.max() + 1))


def test_a_layer_is_a_cut_of_the_same_density():
    tree, peaks = CLUSTERER.model_.hierarchy(), CLUSTERER.model_.peak_indices_
    cuts = [tree.labels_at(scale.min_prominence)[peaks] for scale in tree.scales(None)]
    for labels in CLUSTERER.layers_[1:]:
        assert any(
            len(set(zip(labels[peaks], cut, strict=True))) == len(set(cut)) == labels.max() + 1
            for cut in cuts
        )


def test_new_vectors_have_a_label_in_each_layer():
    for predicted, labels in zip(CLUSTERER.predict(X), CLUSTERER.layers_, strict=True):
        np.testing.assert_array_equal(predicted, labels)
    new = CLUSTERER.predict(X[:9] + 0.25)
    np.testing.assert_array_equal(new[0], CLUSTERER.model_.predict(X[:9] + 0.25))


def test_noise_is_noise_in_every_layer():
    model = DensityPeaks(min_prominence=0.1, min_cluster_size=30)
    clusterer = DensityPeaksClusterer(model, min_clusters=2).fit_layers(X)
    noise = clusterer.model_.labels_ == -1
    assert noise.any()
    for labels in clusterer.layers_:
        np.testing.assert_array_equal(labels == -1, noise)
        assert set(labels[~noise]) == set(range(labels.max() + 1))


def test_every_text_has_a_topic_by_default():
    assert all(labels.min() == 0 for labels in DensityPeaksClusterer(min_clusters=2).fit_layers(X).layers_)


def test_bounds_on_layers():
    model = DensityPeaks(min_prominence=0.1)
    assert (
        sizes(DensityPeaksClusterer(model, min_clusters=2, max_layers=2).fit_layers(X))
        == sizes(CLUSTERER)[:2]
    )
    assert sizes(DensityPeaksClusterer(model, min_clusters=10**6).fit_layers(X)) == sizes(CLUSTERER)[:1]
    with refuses("min_clusters=1"):
        DensityPeaksClusterer(min_clusters=1).fit_layers(X)
    with refuses("max_layers=0"):
        DensityPeaksClusterer(max_layers=0).fit_layers(X)
    with refuses("model must be a DensityPeaks|DensityDBSCAN()"):
        DensityPeaksClusterer(DensityDBSCAN()).fit_layers(X)
    assert clone(CLUSTERER).get_params()["min_clusters"] == 2


@pytest.mark.filterwarnings("ignore")
def test_layers_and_tree_as_toponymy_has_them(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # which toponymy would else look for elsewhere
    clustering = pytest.importorskip("toponymy.clustering")
    from toponymy.cluster_layer import ClusterLayerText

    layers, tree = clone(CLUSTERER).fit_predict(X[:, :2], X, ClusterLayerText, verbose=False)
    assert [type(layer) for layer in layers] == [ClusterLayerText] * len(CLUSTERER.layers_)
    assert [layer.layer_id for layer in layers] == list(range(len(layers)))
    for layer, labels in zip(layers, CLUSTERER.layers_, strict=True):
        np.testing.assert_array_equal(layer.cluster_labels, labels)
        expected = clustering.centroids_from_labels(labels, X)
        np.testing.assert_allclose(layer.centroid_vectors, expected)
    assert tree == clustering.build_cluster_tree(CLUSTERER.layers_)
    leaves = [child for children in tree.values() for child in children if child[0] == 0]
    assert sorted(number for _, number in leaves) == list(range(sizes(CLUSTERER)[0]))
