"""A fitted model in one file: parameters, points, graph, density and clusters, and nothing to execute.

The header's JSON has the model, {"kind": ..., "params": ..., "fitted": ...}, and the objects that it is made
of, each {"kind": ..., "values": ...}, where a density has "params" too; they name those before by number.
A value is what JSON has, or a dictionary of one entry that says what it is: a "float" that JSON lacks, the
name of an "array", "strings", a "sparse" matrix, a "dict", the number of an "object".
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffpeaks._base.array_file import (
    DTYPES,
    Arrays,
    FileName,
    Format,
    from_json,
    read_array_file,
    to_json,
    write_array_file,
)
from diffpeaks._base.validation import check_integer, n_threads
from diffpeaks.cuts import Cut
from diffpeaks.cuts.noise import NoisePolicy
from diffpeaks.density import (
    GraphDensity,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    SharedNeighborDensity,
)
from diffpeaks.density.named import GivenDensity
from diffpeaks.density.samples import Isolation, Smoothing
from diffpeaks.density.walk import Bandwidth
from diffpeaks.density.weights import Absent
from diffpeaks.forest.peaks import PeakForest
from diffpeaks.graph import NeighborGraph
from diffpeaks.neighbors import ApproximateSearch, DistinctSamples, GivenGraph, PointSet
from diffpeaks.neighbors.stored import points_of_values, values_of_points
from diffpeaks.recipes import LinkShares, Recipe, Settings
from diffpeaks.results.absent import WithAbsent
from diffpeaks.results.clustering import Clustering
from diffpeaks.results.landscape import Landscape, Tried

MODEL = Format("model", b"\x89DPM\r\n\x1a\n", 7)
_DENSITIES = (GivenDensity, KernelDiffusion, LocalContrast, NaiveDensity, SharedNeighborDensity)
_RECORDS = (
    *(Absent, ApproximateSearch, Clustering, Cut, DistinctSamples, Isolation, Landscape, NeighborGraph),
    *(NoisePolicy, PeakForest, Recipe, Smoothing, WithAbsent),
)
_TUPLES = (Bandwidth, LinkShares, Settings, Tried)
_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (*_DENSITIES, *_RECORDS, *_TUPLES, GivenGraph, PointSet)
}
_OF_THE_INPUT = ("n_features_in_", "feature_names_in_")  # what a fit says of X beside its clustering
_OF_THE_SESSION = ("device", "verbose", "callback")  # parameters on which nothing that was fitted depends
_CSR_PARTS = ("data", "indices", "indptr")


def write_model_file(path: FileName, model: Any) -> None:
    """Write the file, whole or not at all; what a file cannot hold is refused by its name."""
    writer = _Writer()
    params = writer.params(model, "")
    state = {name: vars(model)[name] for name in (*_OF_THE_INPUT, "_clustering") if name in vars(model)}
    state = {name: writer.value(name, value) for name, value in state.items()}
    stored = {"kind": type(model).__name__, "params": params, "fitted": state}
    scalars = {"model": stored, "objects": writer.objects}
    write_array_file(path, MODEL, scalars, writer.arrays)


def read_model_file(path: FileName, kind: type[Any], mmap: bool) -> Any:
    """The fitted model, with arrays that are read-only."""
    scalars, arrays = read_array_file(path, MODEL, mmap, check=True)
    reader = _Reader(arrays)
    try:
        if scalars["model"]["kind"] != kind.__name__:
            raise ValueError(f"it is a {scalars['model']['kind']}, not a {kind.__name__}")
        for stored in scalars["objects"]:
            reader.add_object(stored)
        model = kind(**reader.values(scalars["model"]["params"]))
        fitted = reader.values(scalars["model"]["fitted"])
        clustering = fitted.pop("_clustering")
        if isinstance(clustering, WithAbsent):
            _check_absent(clustering.absent, len(clustering.of_present.labels))
        _check_sizes(clustering.of_present)
        vars(model).update(fitted)
        model._set(clustering)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise MODEL.damage(path, f"its values make no model of this diffpeaks ({error})") from error
    return model


def _state(density: GraphDensity) -> dict[str, Any]:
    """What a fitted density has beside its parameters."""
    params = density.get_params(deep=False)
    return {name: value for name, value in vars(density).items() if name not in params}


class _Writer:
    """Turns values into JSON, and collects arrays and objects, each once however often it occurs."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self.objects: list[dict[str, Any]] = []
        self._seen: dict[int, tuple[Any, Any]] = {}  # with the values, so that no other takes their place
        self._names: dict[Any, str] = {}  # of arrays, by where they lie

    def params(self, estimator: Any, prefix: str) -> dict[str, Any]:
        found = {}
        for name, value in estimator.get_params(deep=False).items():
            if name in _OF_THE_SESSION:
                continue
            if isinstance(value, GraphDensity):  # of which a fit uses the parameters alone
                found[name] = self._object(prefix + name, value, {})
            else:
                found[name] = self.value(prefix + name, value)
        return found

    def value(self, name: str, value: Any) -> Any:
        if id(value) not in self._seen:
            stored = self._stored(name, value)
            if not isinstance(stored, dict):
                return stored
            self._seen[id(value)] = value, stored
        return self._seen[id(value)][1]

    def _stored(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self._array(name, value)
        if sp.issparse(value):
            parts = {part: self._array(f"{name}.{part}", getattr(value, part)) for part in _CSR_PARTS}
            return {"sparse": {**parts, "shape": list(map(int, value.shape))}}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.value(f"{name}[{key!r}]", item) for key, item in value.items()}}
        if _kind_of(value) in _KINDS.values():
            return self._object(name, value, _values_of(value))
        if isinstance(value, (list, tuple)):
            return [self.value(f"{name}[{place}]", item) for place, item in enumerate(value)]
        try:
            return to_json(name, value)
        except TypeError as error:
            raise TypeError(
                f"{name}={value!r} cannot be saved: a file holds numbers, strings, arrays and what diffpeaks "
                "makes of them, but no code; use what has a name, such as a metric, a kernel or a density of "
                "diffpeaks, or keep the model with pickle"
            ) from error

    def _array(self, name: str, values: Any) -> dict[str, Any]:
        if values.dtype.kind in "OU" and all(isinstance(value, str) for value in values.flat):
            return {"strings": values.tolist()}
        if values.dtype.newbyteorder("<").str not in DTYPES:
            raise TypeError(
                f"{name} is an array of dtype {values.dtype}, which cannot be saved; use int32, int64, "
                "float32 or float64"
            )
        where = values.__array_interface__["data"][0], values.shape, values.dtype.str
        self.arrays.setdefault(self._names.setdefault(where, name), values)
        return {"array": self._names[where]}

    def _object(self, name: str, value: Any, values: dict[str, Any]) -> dict[str, Any]:
        kind = _kind_of(value)
        if kind not in _KINDS.values():
            raise TypeError(
                f"{name}={value!r} cannot be saved, because {kind.__name__} is no class of diffpeaks; "
                "keep the model with pickle"
            )
        stored: dict[str, Any] = {"kind": kind.__name__}
        if isinstance(value, GraphDensity):
            stored["params"] = self.params(value, f"{name}__")
        stored["values"] = {part: self.value(f"{name}.{part}", item) for part, item in values.items()}
        self.objects.append(stored)
        return {"object": len(self.objects) - 1}


def _kind_of(value: Any) -> Any:
    """The class that a file names: of what lies on a device, the one on the host."""
    kind = type(value)
    return kind.__base__ if kind.__module__.startswith("diffpeaks.neighbors.gpu.") else kind


def _values_of(value: Any) -> dict[str, Any]:
    """The values that make an object."""
    if isinstance(value, GraphDensity):
        return _state(value)
    if isinstance(value, PointSet):
        return values_of_points(value)
    if isinstance(value, GivenGraph):
        return {"graph": value.given}
    if isinstance(value, _TUPLES):
        return value._asdict()
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


class _Reader:
    """Turns JSON back into values; objects are made of a closed list of classes."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._objects: list[Any] = []

    def add_object(self, stored: dict[str, Any]) -> None:
        kind, values = _KINDS[stored["kind"]], self.values(stored["values"])
        if kind is PointSet:
            self._objects.append(points_of_values(**values))
        elif kind is GivenGraph:
            self._objects.append(GivenGraph(**values, n_threads=n_threads(None)))
        elif issubclass(kind, GraphDensity):
            self._objects.append(kind(**self.values(stored["params"])))
            vars(self._objects[-1]).update(values)
        else:
            parts = {name: tuple(part) if isinstance(part, list) else part for name, part in values.items()}
            self._objects.append(kind(**parts))

    def values(self, stored: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(value) for name, value in stored.items()}

    def value(self, stored: Any) -> Any:
        if isinstance(stored, list):
            return [self.value(item) for item in stored]
        if not isinstance(stored, dict):
            return stored
        [(what, content)] = stored.items()
        if what == "array":
            return self._arrays[content]
        if what == "strings":
            return np.array(content, dtype=object)
        if what == "sparse":
            parts = tuple(self.value(content[part]) for part in _CSR_PARTS)
            matrix = sp.csr_array(parts, shape=tuple(content["shape"]))
            matrix.check_format(full_check=True)  # that no index leads out of the matrix
            return matrix
        if what == "dict":
            return self.values(content)
        return self._objects[content] if what == "object" else from_json(stored)


def _check_sizes(clustering: Clustering) -> None:
    """Refuse values that compiled loops would follow out of their arrays: they are checked nowhere else."""
    landscape, density = clustering.landscape, clustering.landscape.estimator
    distinct, n_distinct, n_samples = landscape.distinct, density.graph_.n_samples, landscape.points.n_samples
    _check_values(_state(density), n_distinct, n_distinct)
    _check_values({"points": distinct.points, "first": distinct.first}, n_distinct, n_samples)
    _check_values({"number": distinct.number}, n_samples, n_distinct)
    _check_values({**vars(clustering.forest), "labels": clustering.labels}, n_samples, n_samples)
    _check_names("peaks", clustering.peaks, n_samples)
    _check_lengths({"totals": distinct.totals, "reach": distinct.reach}, n_distinct)
    if (distinct.reach is None) != (landscape.smoothing is None):
        raise ValueError("samples were moved, and their reach is missing, or the other way round")
    if landscape.smoothing is not None:
        n_neighbors = check_integer("n_neighbors", landscape.smoothing.n_neighbors, 2, n_distinct)
        check_integer("n_filled", landscape.smoothing.n_filled, 0, n_neighbors - 1)


def _check_absent(absent: Absent, n_present: int) -> None:
    """Each sample must be present or absent, and points must be there for the absent ones."""
    numbers = np.sort(np.concatenate([absent.present, absent.samples]))
    if len(absent.present) != n_present or absent.X.shape[0] != len(absent.samples):
        raise ValueError("samples of weight zero are not as many as their points")
    if not np.array_equal(numbers, np.arange(absent.n_samples)):
        raise ValueError(f"samples of weight zero and others are not those of 0 .. {absent.n_samples - 1}")


def _check_lengths(of: dict[str, Any], size: int) -> None:
    """Arrays, where there are any, hold a finite number of at least zero for each point."""
    for name, values in of.items():
        if values is not None and (
            values.shape != (size,) or not np.all((values >= 0) & np.isfinite(values))
        ):
            raise ValueError(f"{name} are not {size} finite numbers of at least 0")


def _check_values(of: dict[str, Any], size: int, n_named: int) -> None:
    """Arrays must have that size, and their integers must name one of so many, or none."""
    for name, values in of.items():
        found = getattr(values, "n_samples", size)
        if isinstance(values, np.ndarray):
            found = len(values) if values.ndim == 1 else 0
        if found != size:
            raise ValueError(f"{name} is for {found} samples instead of {size}")
        if isinstance(values, np.ndarray) and values.dtype.kind == "i":
            _check_names(name, values, n_named)


def _check_names(name: str, numbers: Any, n_named: int) -> None:
    """Integers must name one of so many, or none."""
    if not np.all((numbers >= -1) & (numbers < n_named)):
        raise ValueError(f"{name} names samples outside 0 .. {n_named - 1}")
