"""Layers of topics: `DensityPeaks` as a clusterer of toponymy, with a label of each layer for new texts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from diffpeaks._base.constants import NOISE
from diffpeaks._base.validation import check_integer
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.results.hierarchy import Hierarchy, Scale

__all__ = ["DensityPeaksClusterer"]

_FEWER = 2  # a layer has at most one cluster for so many of the layer before


class DensityPeaksClusterer(BaseEstimator):
    """Layers of clusters for `toponymy.Toponymy(clusterer=...)`; each layer joins clusters of the one before.

    The finest layer is the clustering of a `DensityPeaks`. Each further layer has at most half as many
    clusters as the one before, and more than a quarter if possible. Of the clusterings in `hierarchy` with
    such a number of clusters, it is the one that persists over the widest range of prominence. The embedding
    vectors are clustered. The clusterable vectors, which have few dimensions for other methods, are not used.

    Parameters
    ----------
    model : DensityPeaks, optional
        None is `DensityPeaks(min_cluster_size=10, noise="assign")`: every text has a topic in every layer.
    min_clusters : int
        Layers with fewer clusters are left out, except the finest.
    max_layers : int, optional

    Attributes
    ----------
    model_ : the fitted DensityPeaks
    layers_ : list of arrays of shape (n_samples,)
        The labels of each layer, the finest first; -1 is noise.
    cluster_layers_, cluster_tree_
        As in toponymy's clusterers.

    Examples
    --------
    >>> from diffpeaks.toponymy import DensityPeaksClusterer
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data
    >>> clusterer = DensityPeaksClusterer(min_clusters=2).fit_layers(X)
    >>> [int(labels.max()) + 1 for labels in clusterer.layers_]
    [11, 3]
    >>> [int(labels[0]) for labels in clusterer.predict(X[:1])]
    [0, 0]
    """

    def __init__(
        self, model: DensityPeaks | None = None, *, min_clusters: int = 6, max_layers: int | None = None
    ) -> None:
        self.model = model
        self.min_clusters, self.max_layers = min_clusters, max_layers

    def fit_layers(self, embedding_vectors: Any) -> Self:
        """Compute only the labels of all layers; toponymy need not be installed."""
        min_clusters = check_integer("min_clusters", self.min_clusters, 2)
        max_layers = None if self.max_layers is None else check_integer("max_layers", self.max_layers, 1)
        given = self.model
        if not isinstance(given, (DensityPeaks, type(None))):
            raise TypeError(f"model must be a DensityPeaks, whose clusters have a hierarchy, got {given!r}")
        model = DensityPeaks(min_cluster_size=10, noise="assign") if given is None else clone(given)
        self.model_ = model.fit(embedding_vectors)
        joined = _joined_layers(model, min_clusters, max_layers)
        self._numbers = [np.arange(model.n_clusters_), *joined]
        self.layers_ = self._of_layers(model.labels_)
        return self

    def fit(
        self,
        clusterable_vectors: Any,
        embedding_vectors: Any,
        layer_class: Any = None,
        verbose: bool | None = None,
        show_progress_bar: bool | None = None,
        **layer_kwargs: Any,
    ) -> Self:
        """Cluster the embedding vectors; the parameters are those of toponymy's clusterers."""
        build_cluster_tree, default_layer = _parts_of_toponymy()
        self.fit_layers(embedding_vectors)
        make, vectors = layer_class or default_layer, np.asarray(embedding_vectors)
        told = {"verbose": bool(verbose), "show_progress_bar": bool(show_progress_bar)}
        self.cluster_tree_ = build_cluster_tree(self.layers_)
        self.cluster_layers_ = [
            make(labels, _means(labels, vectors), layer_id=place, **told, **layer_kwargs)
            for place, labels in enumerate(self.layers_)
        ]
        return self

    def fit_predict(
        self, clusterable_vectors: Any, embedding_vectors: Any, layer_class: Any = None, **given: Any
    ) -> tuple[list[Any], dict[Any, Any]]:
        """The layers and the tree of their clusters, as `Toponymy.fit` asks for them."""
        self.fit(clusterable_vectors, embedding_vectors, layer_class, **given)
        return self.cluster_layers_, self.cluster_tree_

    def predict(self, embedding_vectors: Any) -> list[NDArray[np.int64]]:
        """The label of new vectors in each layer, the finest first."""
        check_is_fitted(self, "layers_")
        return self._of_layers(self.model_.predict(embedding_vectors))

    def _of_layers(self, labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The labels of the finest layer in each layer."""
        return [np.append(numbers, NOISE)[labels] for numbers in self._numbers]


def _joined_layers(model: DensityPeaks, min_clusters: int, max_layers: int | None) -> list[NDArray[np.int64]]:
    """For each further layer, the number of the cluster that each cluster of the model becomes part of."""
    tree = model.hierarchy(None if model.cut_.is_of_all_samples else model.cut_.max_link)
    scales, n_clusters = tree.scales(None), model.n_clusters_
    layers: list[NDArray[np.int64]] = []
    while max_layers is None or len(layers) + 1 < max_layers:
        coarser = [scale for scale in scales if min_clusters <= scale.n_clusters <= n_clusters / _FEWER]
        if not coarser:
            break
        numbers = _numbers_at(tree, _most_stable(coarser, n_clusters / _FEWER**2), model.peak_indices_)
        n_clusters = int(numbers.max()) + 1  # hills whose samples were noise have none
        if n_clusters < min_clusters:
            break
        layers.append(numbers)
    return layers


def _most_stable(scales: list[Scale], more_than: float) -> Scale:
    """The one of many enough clusters that persists longest; without any, the one of the most clusters."""
    fine = [scale for scale in scales if scale.n_clusters > more_than]
    if fine:
        return max(fine, key=lambda scale: scale.stability)
    return max(scales, key=lambda scale: scale.n_clusters)


def _numbers_at(tree: Hierarchy, scale: Scale, peaks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of the clusters of a scale, for the peaks of clusters that it joins; none is left out."""
    found = tree.labels_at(scale.min_prominence)[peaks]
    return np.unique(found, return_inverse=True)[1]


def _means(labels: NDArray[np.int64], vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The mean vector of each cluster."""
    members = np.flatnonzero(labels != NOISE)
    sizes = np.bincount(labels[members])
    shape = (len(sizes), len(labels))
    shares = sp.csr_array((1 / sizes[labels[members]], (labels[members], members)), shape)
    return np.asarray(shares @ vectors.astype(np.float64))


def _parts_of_toponymy() -> tuple[Any, Any]:
    try:
        from toponymy.cluster_layer import ClusterLayerText
        from toponymy.clustering import build_cluster_tree
    except ImportError as error:
        raise ImportError(
            "layers for toponymy need the package toponymy; install it with pip install toponymy, or use "
            "fit_layers, which does not need it"
        ) from error
    return build_cluster_tree, ClusterLayerText
