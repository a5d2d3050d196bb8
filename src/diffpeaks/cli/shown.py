"""A fit to show, from files of points or from a saved model: the same for every command that shows one."""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.captions import Captions
from diffpeaks.cli.captions import captions_of, check_captions, columns_beside
from diffpeaks.cli.inputs import samples_of
from diffpeaks.cli.mapping import Map, check_map_options, columns_of_map, map_of
from diffpeaks.cli.parameters import check_defaults, estimator_of
from diffpeaks.files import Samples, check_present


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="a file that diffpeaks cluster --save wrote, instead of a new fit; IN, where given, are its "
        "points, read for what is shown of them",
    )


def check_shown(given: argparse.Namespace) -> None:
    """Refuse what would fail after the work, or would have no effect."""
    check_captions(given)
    check_map_options(given)
    if given.model is not None:
        check_present(given.model)
        check_defaults(given, "--model, whose fit is shown as it is")
    elif not given.inputs:
        raise ValueError("there are no points; give files of them, or a fit with --model")


class Shown(NamedTuple):
    """What is known of a fit to show before it is fitted, if it is not a saved one."""

    model: DensityPeaks
    samples: Samples
    captions: Captions
    map: Map


def read_shown(given: argparse.Namespace) -> Shown:
    """All that is read, and how the map is made; what cannot be shown is refused before the work."""
    model = estimator_of(given) if given.model is None else DensityPeaks.load(given.model)
    samples = _samples(given, model)
    captions = captions_of(given, samples)
    return Shown(model, samples, captions, map_of(given, samples, model.metric))


def _samples(given: argparse.Namespace, model: DensityPeaks) -> Samples:
    """The points that are read; of a model alone their number."""
    if not given.inputs:
        return Samples(np.empty((len(model.labels_), 0)))
    beside = tuple(dict.fromkeys((*columns_beside(given), *columns_of_map(given))))
    samples = samples_of(given, model.metric, beside)
    if given.model is not None:
        _check_same_points(given, model, samples.X)
    return samples


def _check_same_points(given: argparse.Namespace, model: DensityPeaks, X: Any) -> None:
    points = model._landscape.points.searched()
    if X.shape != points.space.points.shape or not points.are_points(X, 0).all():
        raise ValueError(
            f"the points of {given.inputs} are not those of the model {given.model!r}, which has "
            f"{points.n_samples} samples of {points.space.points.shape[1]} features; give the files and "
            "--columns that it was fitted on, or leave them out"
        )


def title_of(given: argparse.Namespace) -> str:
    """The title that is given, or the names of the files."""
    names = [PurePath(name).name for name in given.inputs or [given.model]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return given.title or f"Clusters of {', '.join(names[:3])}{more}"
