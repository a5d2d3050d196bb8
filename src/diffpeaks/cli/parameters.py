"""The parameters of `DensityPeaks` as options: one table, from which parsers and estimators are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from diffpeaks._base.sklearn_parts import check_params
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cuts.noise import NOISE_ACTIONS
from diffpeaks.density import PAPER_DENSITIES
from diffpeaks.neighbors.inputs import check_search
from diffpeaks.neighbors.points import CHOICES


def _count_or_auto(text: str) -> int | str:
    return text if text == "auto" else int(text)


def _yes_no_or_auto(text: str) -> bool | str:
    if text not in ("auto", "yes", "no"):
        raise ValueError(text)
    return text if text == "auto" else text == "yes"


_count_or_auto.__name__ = "number of neighbours"  # what refusals call them
_yes_no_or_auto.__name__ = "choice of auto, yes and no:"


class Parameter(NamedTuple):
    """One parameter: how its text is read, which texts there are, and what it means."""

    read: Callable[[str], Any] | None
    choices: Iterable[str] | None
    metavar: str | None
    help: str


PARAMETERS = {
    "density": Parameter(
        str, tuple(PAPER_DENSITIES), None, "a density of the paper; default: 3 steps of a walk"
    ),
    "n_clusters": Parameter(int, None, "N", "take the N peaks with the largest density x delta"),
    "max_link": Parameter(float, None, "LENGTH", "drop links of that length or longer"),
    "min_prominence": Parameter(
        float, None, "RISE", "merge hills that rise less than this above their saddle, in log density"
    ),
    "n_neighbors": Parameter(
        _count_or_auto, None, "N", 'number of neighbours, the sample itself included, or "auto"'
    ),
    "halo": Parameter(None, None, None, "keep only the cores of clusters; the rest is noise"),
    "min_cluster_size": Parameter(int, None, "N", "samples of smaller clusters are noise"),
    "noise": Parameter(str, sorted(NOISE_ACTIONS), None, "what happens to noise"),
    "smooth": Parameter(
        _yes_no_or_auto,
        None,
        "{auto,yes,no}",
        "in many dimensions, move samples towards their neighbours",
    ),
    "metric": Parameter(str, None, "NAME", "a metric of diffpeaks or scikit-learn, such as cosine"),
    "search": Parameter(str, CHOICES, None, "how neighbours are found"),
    "n_jobs": Parameter(int, None, "N", "number of threads; default: all cores"),
    "device": Parameter(str, None, "NAME", "where neighbours are searched, such as cuda; default: the CPU"),
    "random_state": Parameter(int, None, "SEED", "seed for the random pairs of the automatic cut"),
}
_DEFAULTS = DensityPeaks().get_params(deep=False)


def add_parameters(parser: argparse.ArgumentParser, names: Iterable[str] = PARAMETERS) -> None:
    """An option for each of these parameters, with the estimator's default."""
    group = parser.add_argument_group("parameters of DensityPeaks")
    for name in names:
        parameter, default = PARAMETERS[name], _DEFAULTS[name]
        option = "--" + name.replace("_", "-")
        if parameter.read is None:
            group.add_argument(option, action="store_true", help=parameter.help)
            continue
        told = parameter.help if default is None else f"{parameter.help}; default: {default}"
        group.add_argument(
            option,
            type=parameter.read,
            choices=parameter.choices,
            metavar=parameter.metavar,
            default=default,
            help=told,
        )


def check_defaults(given: argparse.Namespace, beside: str, but: Iterable[str] = ()) -> None:
    """Refuse parameters that would have no effect beside another option: all but some."""
    for name in PARAMETERS:
        if name not in but and getattr(given, name) != _DEFAULTS[name]:
            raise ValueError(f"--{name.replace('_', '-')} has no effect with {beside}; leave it out")


def estimator_of(given: argparse.Namespace) -> DensityPeaks:
    """The estimator that the options describe, with its parameters checked before any work."""
    model = DensityPeaks(**{name: getattr(given, name) for name in PARAMETERS if hasattr(given, name)})
    check_params(model, **model.get_params(deep=False))
    check_search(model.search)
    return model
