"""What the learned methods share: training on some identities, clustering others, files of networks."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
from torch import nn

from diffpeaks._base.array_file import FileName, Format, read_array_file, to_json, write_array_file
from diffpeaks._base.sklearn_parts import Interval, StrOptions, check_params
from diffpeaks.baselines.base import check_cosines
from diffpeaks.baselines.learned.published import read_published, set_weights
from diffpeaks.baselines.learned.training import DEVICES, device_of, reproducible
from diffpeaks.datasets.face_files import unit_rows
from diffpeaks.density.base import N_NEIGHBORS, SEARCH_CONSTRAINTS
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import neighbor_graph
from diffpeaks.neighbors.inputs import transactional_fit

COUNT: list[Any] = [Interval(Integral, 1, None, closed="left")]
SHARE: list[Any] = [Interval(Real, 0, 1, closed="both")]
CONSTRAINTS: dict[str, list[Any]] = {
    "n_neighbors": N_NEIGHBORS,
    "n_hidden": [Interval(Integral, 2, None, closed="left")],
    "n_epochs": COUNT,
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
    "device": [StrOptions(DEVICES)],
    "search": SEARCH_CONSTRAINTS["search"],
    "n_jobs": SEARCH_CONSTRAINTS["n_jobs"],
}
_FORM = Format("learned clusterer", b"\x89DPL\r\n\x1a\n", 1)
_COSINE_ROUNDING = 1e-3  # a search may have rounded its distances
_ROWS_COMPARED = 64


@dataclass(frozen=True)
class Samples:
    """Unit vectors, and for each the list of its nearest by 1 - cosine."""

    X: NDArray[np.float32]
    graph: NeighborGraph

    @property
    def n_samples(self) -> int:
        return len(self.X)

    @property
    def lists(self) -> NDArray[np.int32]:
        return self.graph.indices.reshape(self.n_samples, -1)


class LearnedClusterer(BaseEstimator):
    """A method that is trained on samples of some identities, and clusters samples of others.

    A subclass has its networks by name, trains them, and makes labels with them.
    """

    n_neighbors: int
    n_epochs: int
    learning_rate: float
    random_state: int
    device: str
    search: Any
    n_jobs: int | None
    networks_: dict[str, Any]  # torch modules
    n_features_in_: int
    _published_files: ClassVar[dict[str, str]] = {}

    @transactional_fit
    def fit(self, X: Any, y: Any, graph: NeighborGraph | None = None) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows are divided by their lengths.
        y : array of shape (n_samples,)
            The identity of each sample. Some must have several samples, and there must be two at least.
        graph : NeighborGraph, optional
            The neighbours of X by 1 - cosine, at least `n_neighbors` of each; by default they are searched.
        """
        samples = self._samples(X, graph, reset=True)
        identities = _identities(y, samples.n_samples)
        self.device_ = device_of(self.device)
        with reproducible(self.random_state, self.device_):
            self.networks_ = self._on_device(self._new_networks(self.n_features_in_))
            self.losses_ = self._train(samples, identities)
        return self

    def cluster(self, X: Any, graph: NeighborGraph | None = None) -> NDArray[np.int64]:
        """Labels of samples X, whose identities need not be, and should not be, those of the training.

        All samples are clustered together, so that a label depends on the others. Labels are 0, 1, ... in
        the order of the clusters' first samples, and say nothing of the y of `fit`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        graph : NeighborGraph, optional
            As in `fit`.
        """
        check_is_fitted(self, "networks_")
        check_params(self, **self.get_params(deep=False))
        samples = self._samples(X, graph, reset=False)
        with reproducible(self.random_state, self.device_):
            return self._labels(samples)

    def save(self, path: FileName) -> None:
        """Write parameters and networks to a file, for `load`; there is nothing to execute in it."""
        check_is_fitted(self, "networks_")
        params = {name: _as_json(name, value) for name, value in self.get_params(deep=False).items()}
        scalars = {"kind": type(self).__name__, "n_features": self.n_features_in_, "params": params}
        arrays = {
            f"{name}/{part}": values.cpu().numpy()
            for name, network in self.networks_.items()
            for part, values in network.state_dict().items()
        }
        write_array_file(path, _FORM, scalars, arrays)

    @classmethod
    def load(cls, path: FileName, device: str = "auto") -> Self:
        """What `save` wrote, on a device of this machine."""
        scalars, arrays = read_array_file(path, _FORM, mmap=False, check=True)
        if scalars.get("kind") != cls.__name__:
            raise ValueError(
                f"{str(path)!r} holds a {scalars.get('kind')}, not a {cls.__name__}; load it with "
                f"{scalars.get('kind')}.load"
            )
        params = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in scalars["params"].items()
        }
        model = cls(**{**params, "device": device})
        return model._with_weights(int(scalars["n_features"]), arrays, str(path))

    @classmethod
    def from_published(cls, folder: FileName, verify: bool = True, **params: Any) -> Self:
        """The authors' own networks, from their files in a folder, without training.

        Parameters
        ----------
        folder : path
            Where the files lie under their published names (`pretrained_..._ms1m.pth`).
        verify : bool
            Compare the files with the checksums that the authors publish. Without it, files of the same
            names that somebody else has trained are taken too.
        **params
            Parameters of the method, such as `device`.
        """
        model = cls(**params)
        n_features, arrays = read_published(folder, cls._published_files, verify)
        return model._with_weights(n_features, arrays, str(folder))

    def _with_weights(self, n_features: int, arrays: dict[str, NDArray[Any]], origin: str) -> Self:
        """Ready to cluster, with networks of these weights."""
        check_params(self, **self.get_params(deep=False))
        self.device_ = device_of(self.device)
        networks = self._new_networks(n_features)
        set_weights(networks, arrays, origin)
        self.networks_, self.n_features_in_ = self._on_device(networks), n_features
        for network in self.networks_.values():
            network.eval()
        return self

    def _on_device(self, networks: dict[str, nn.Module]) -> dict[str, nn.Module]:
        return {name: network.to(self.device_) for name, network in networks.items()}

    def _samples(self, X: Any, graph: NeighborGraph | None, reset: bool) -> Samples:
        X = unit_rows(validate_data(self, X, reset=reset, dtype=np.float32, order="C"))
        if graph is None:
            return Samples(X, self._searched(X, self.n_neighbors))
        _check_graph(graph, X)
        return Samples(X, graph.nearest(self.n_neighbors))

    def _searched(self, X: NDArray[np.float32], n_neighbors: int) -> NeighborGraph:
        return neighbor_graph(X, n_neighbors, metric="cosine", search=self.search, n_jobs=self.n_jobs)

    def _new_networks(self, n_features: int) -> dict[str, nn.Module]:
        raise NotImplementedError

    def _train(self, samples: Samples, y: NDArray[np.int64]) -> dict[str, float]:
        """Train the networks in place; the last mean loss of each."""
        raise NotImplementedError

    def _labels(self, samples: Samples) -> NDArray[np.int64]:
        raise NotImplementedError


def _as_json(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return [to_json(name, part) for part in value]
    return to_json(name, value)


def _identities(y: Any, n_samples: int) -> NDArray[np.int64]:
    """0, 1, ... for the identities; those from which nothing can be learned are refused."""
    values = column_or_1d(y)
    if len(values) != n_samples:
        raise ValueError(f"y has {len(values)} values, but X has {n_samples} rows; give one for each row")
    found, identities = np.unique(values, return_inverse=True)
    if not 2 <= len(found) < n_samples:
        raise ValueError(
            f"y has {len(found)} identities for {n_samples} samples; training needs two at least, and some "
            "with several samples"
        )
    return identities.astype(np.int64)


def _check_graph(graph: Any, X: NDArray[np.float32]) -> None:
    """Refuse what is not a graph of 1 - cosine among the rows of X."""
    if not isinstance(graph, NeighborGraph):
        raise TypeError(f"graph must be a NeighborGraph, got {type(graph).__name__}; see neighbor_graph")
    if graph.n_samples != len(X):
        raise ValueError(f"graph has {graph.n_samples} samples, but X has {len(X)}; give the graph of X")
    check_cosines(graph)
    end = graph.indptr[min(_ROWS_COMPARED, len(X))]
    owners = np.repeat(np.arange(len(X)), graph.degrees)[:end]
    cosines = np.einsum("ij,ij->i", X[owners], X[graph.indices[:end]])
    off = float(np.abs(1 - cosines - graph.distances[:end]).max())
    if off > _COSINE_ROUNDING:
        raise ValueError(
            f"distances of the graph differ from 1 - cosine of the rows of X by up to {off:.3g}; build it "
            "with neighbor_graph(X, n_neighbors, metric='cosine')"
        )
