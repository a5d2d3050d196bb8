"""The map of the samples as options: how it is made, or where its coordinates are."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files import Samples, Wanted, read_samples
from diffpeaks.maps import AUTO, MAPS, NEED_POINTS, check_map, map_coordinates

_NO_MAP = "none"


class Map(NamedTuple):
    """How the map is made, or its coordinates, or None for no map; and the names of its axes, if given."""

    how: Any
    axis_names: tuple[str, str] | None = None


def add_map(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the map").add_mutually_exclusive_group()
    group.add_argument(
        "--map",
        choices=[AUTO, *MAPS, _NO_MAP],
        default=AUTO,
        help=f"how the map is made; default: {AUTO}, the points themselves if they have two features, "
        f"else {MAPS[0]}",
    )
    group.add_argument(
        "--coordinates",
        nargs="+",
        metavar="COLUMN",
        help="two columns of the input with the coordinates of the map, or one file with two columns",
    )


def check_map_options(given: argparse.Namespace) -> None:
    """Refuse before anything is read."""
    if given.coordinates is not None and len(given.coordinates) > 2:
        raise ValueError(f"--coordinates takes two columns or one file, not {len(given.coordinates)} names")
    if columns_of_map(given) and not given.inputs:
        raise ValueError(f"the columns {given.coordinates} of the map are in no file; give the input")


def columns_of_map(given: argparse.Namespace) -> tuple[str, ...]:
    """The columns that are to be read along with the points."""
    is_pair = given.coordinates is not None and len(given.coordinates) == 2
    return tuple(given.coordinates) if is_pair else ()


def map_of(given: argparse.Namespace, samples: Samples, metric: Any) -> Map:
    """The map that the options ask for, to be made of the fit; what cannot be one is refused."""
    columns = columns_of_map(given)
    if columns:
        places = np.column_stack([_numbers(name, samples.beside[name]) for name in columns])
        return Map(map_coordinates(samples.X, places), (columns[0], columns[1]))
    if given.coordinates is not None:
        found = read_samples(given.coordinates, Wanted())
        first, second = found.columns if found.columns and len(found.columns) == 2 else ("", "")
        return Map(map_coordinates(samples.X, found.X), (first, second))
    if given.map == _NO_MAP:
        return Map(None)
    if metric == "precomputed" and given.map in NEED_POINTS:
        raise ValueError(
            f"--map {given.map} needs points, but with --metric precomputed distances alone are known; use "
            f"--map {MAPS[0]}, give --coordinates, or --map {_NO_MAP}"
        )
    check_map(given.map)
    return Map(given.map)


def _numbers(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    for row, value in enumerate(values.tolist()):
        try:
            is_number = np.isfinite(float(value))
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            raise ValueError(f"row {row}, column {name!r}: {value!r} is no finite number; a map needs one")
    return values.astype(np.float64)
