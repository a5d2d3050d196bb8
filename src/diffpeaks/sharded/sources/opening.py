"""Which files are meant, what they hold, and whether they belong together."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files import Wanted, check_present
from diffpeaks.files.formats import format_of
from diffpeaks.progress import stage
from diffpeaks.sharded.sources.arrays import NpyFile, file_of_array
from diffpeaks.sharded.sources.contract import Layout, PointFile, Shard, Source
from diffpeaks.sharded.sources.parquet import ParquetFile
from diffpeaks.sharded.sources.zarr_array import ZarrArray, is_zarr

MOST_ROWS = 1 << 22  # of a shard: results are in memory for a whole shard
_SUFFIXES = (".npy", ".parquet")
_ALIKE = {"n_features": "number of features", "dtype": "dtype", "columns": "list of columns"}
_Name: TypeAlias = str | os.PathLike[str]


def open_source(
    path: _Name | Sequence[_Name] | NDArray[Any],
    columns: str | Sequence[str] | None = None,
    id_column: str | None = None,
) -> Source:
    """Points in shards: one for each file, or several where a file has more than `MOST_ROWS` rows.

    Parameters
    ----------
    path : a folder of `.npy` and `.parquet` files, with subfolders, in the natural order of their names; one
        such file, or a list of them in the order that is meant; the folder of a Zarr array; a 2-d array, best
        one that numpy maps from a file
    columns : names or patterns of the columns of numbers in Parquet; None stands for all but the ids
    id_column : the column of Parquet that tells samples apart
    """
    chosen = (columns,) if isinstance(columns, str) else tuple(columns or ())
    files = _files(path, Wanted(chosen, id_column))
    layouts = []
    with stage("shards", total=len(files)) as done:
        for file in files:
            layouts.append(file.layout())
            done(1)
    first = _common_layout(files, layouts)
    shards = [_shards(*found, first) for found in zip(files, layouts, strict=True)]
    return Source(tuple(shard for of_file in shards for shard in of_file))


def check_apart(parameter: str, folder: _Name, path: Any) -> None:
    """Refuse to write where the points are: labels would replace them, or be read as points later."""
    is_one = isinstance(path, (str, os.PathLike))
    if not is_one and not _is_list_of_names(path):
        return
    written = Path(folder).resolve()
    for name in [Path(path)] if is_one else map(Path, path):
        points = name.resolve()
        if written == points.parent or (points.is_dir() and written.is_relative_to(points)):
            raise ValueError(
                f"{parameter}={str(folder)!r} holds the points, or is in their folder ({str(name)!r}); give "
                "a folder of its own"
            )


def _is_list_of_names(path: Any) -> bool:
    return isinstance(path, Sequence) and all(isinstance(name, (str, os.PathLike)) for name in path)


def _files(path: Any, wanted: Wanted) -> list[PointFile]:
    if isinstance(path, np.ndarray):
        _check_effect(["an array"], wanted)
        return [file_of_array(path)]
    if isinstance(path, (str, os.PathLike)):
        name = Path(path).absolute()  # workers may have another folder as theirs
        if is_zarr(name):
            _check_effect([str(name)], wanted)
            return [ZarrArray(name)]
        names = _in_folder(name) if name.is_dir() else [name]
    elif _is_list_of_names(path):
        names = [Path(name).absolute() for name in path]
    else:
        raise TypeError(
            "points in shards are a folder, a file, a list of files or a 2-d array, got "
            f"{type(path).__name__}"
        )
    if not names:
        raise ValueError("the list of files is empty; give at least one file")
    _check_effect([str(name) for name in names], wanted)
    return [_file(name, wanted) for name in names]


def _check_effect(names: Sequence[str], wanted: Wanted) -> None:
    """Refuse columns where no file has any, and ids that some files lack."""
    without = [name for name in names if not _is_parquet(name)]
    for parameter, value, is_refused in (
        ("columns", wanted.columns, len(without) == len(names)),
        ("id_column", wanted.id, bool(without)),
    ):
        if value and is_refused:
            raise ValueError(
                f"{parameter}={value!r} has no effect on {without[0]!r}; only Parquet has columns"
            )


def _is_parquet(name: str) -> bool:
    return name.lower().endswith(".parquet")


def _in_folder(folder: Path) -> list[Path]:
    """The shards in a folder and its subfolders; names that begin with . or _ are no finished data."""
    found = []
    for path in folder.rglob("*"):
        if any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink() and path.is_dir():
            raise ValueError(
                f"{str(path)!r} is a link to a folder, which is not followed; give a list of files"
            )
        if path.is_file() and format_of(path.name) is not None:
            found.append(path)
    if not found:
        raise ValueError(f"the folder {str(folder)!r} holds no file that ends in {' or '.join(_SUFFIXES)}")
    return sorted(found, key=lambda path: [_natural(part) for part in path.relative_to(folder).parts])


def _natural(name: str) -> tuple[list[str | int], str]:
    """A key by which part-2 comes before part-10."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


def _file(path: Path, wanted: Wanted) -> PointFile:
    check_present(str(path))
    if path.suffix.lower() not in _SUFFIXES:
        raise ValueError(
            f"{str(path)!r} is no shard, whose name ends in {' or '.join(_SUFFIXES)}; convert it, or leave "
            "it out"
        )
    return ParquetFile(path, wanted) if _is_parquet(path.name) else NpyFile(path)


def _common_layout(files: Sequence[PointFile], layouts: Sequence[Layout]) -> Layout:
    """What all files with rows say alike; columns are those of the files that have any."""
    filled = [found for found in zip(files, layouts, strict=True) if found[1].n_samples]
    if not filled:
        others = "" if len(files) == 1 else f", as have all {len(files)} files"
        raise files[0].source.fault(f"has 0 rows{others}; give at least one point")
    for field, what in _ALIKE.items():
        told = [(file, value) for file, layout in filled if (value := getattr(layout, field)) is not None]
        for file, value in told[1:]:
            if value != told[0][1]:
                raise file.source.fault(
                    f"its {what} is {value}, but that of {told[0][0].source.name!r} is {told[0][1]}; all "
                    "shards must be alike: convert it, or leave it out"
                )
    return filled[0][1]


def _shards(file: PointFile, layout: Layout, common: Layout) -> list[Shard]:
    n_parts = max(1, -(-layout.n_samples // MOST_ROWS))
    edges = [layout.n_samples * part // n_parts for part in range(n_parts + 1)]
    return [
        Shard(file, first, last - first, common.n_features, common.dtype) for first, last in pairwise(edges)
    ]
