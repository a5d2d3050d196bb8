"""Labels in Parquet: a file for each shard of the input, in its order."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.files import replacing
from diffpeaks.files import arrow
from diffpeaks.files.columns import check_column
from diffpeaks.files.contract import Source, extra

_PART = re.compile(r"part-([0-9]{5,})\.parquet")
_Folder: TypeAlias = str | os.PathLike[str]


class Labels(NamedTuple):
    """What a fit says of samples, in the order of the input."""

    id: NDArray[Any]
    label: NDArray[Any]
    density: NDArray[Any]
    delta: NDArray[Any]
    probability: NDArray[Any]


def prepare_labels(folder: _Folder, n_shards: int) -> None:
    """Make the folder. What would stop the writing of labels is refused here, before the work."""
    extra("pyarrow.parquet", arrow.EXTRA[1], "labels in Parquet")
    if Path(folder).is_file():
        raise ValueError(f"{str(folder)!r} is a file, but labels are a file for each shard; give a folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"the folder {str(folder)!r} cannot be written; give another")
    foreign = [name for number, name in _parts(folder).items() if number >= n_shards]
    if foreign:
        raise ValueError(
            f"the folder {str(folder)!r} holds {foreign[0]!r} of another run: the number of shards is now "
            f"{n_shards}; give an empty folder"
        )


def label_file(folder: _Folder, shard_number: int) -> Path:
    """Where the labels of a shard are."""
    return Path(folder) / f"part-{shard_number:05d}.parquet"


def write_labels(
    folder: _Folder,
    shard_number: int,
    ids: Any,
    first_row: int,
    label: NDArray[Any],
    density: NDArray[Any],
    delta: NDArray[Any],
    probability: NDArray[Any],
) -> Path:
    """The labels of a shard as a file, whole or not at all.

    Without ids, which are an array of Arrow or numpy, samples are numbered as rows of the whole input, and
    the first one of the shard is `first_row`.
    """
    if ids is None:
        ids = np.arange(first_row, first_row + len(label), dtype=np.int64)
    table = extra(*arrow.EXTRA).table(Labels(ids, label, density, delta, probability)._asdict())
    path = label_file(folder, shard_number)
    with replacing(path) as file:
        extra("pyarrow.parquet", arrow.EXTRA[1]).write_table(table, file, compression="zstd")
    return path


def read_labels(folder: _Folder) -> Labels:
    """The labels of all shards."""
    found = _parts(folder)
    missing = [number for number in range(max(found, default=0) + 1) if number not in found]
    if missing:
        raise FileNotFoundError(
            f"the labels of shard {missing[0]}, {str(label_file(folder, missing[0]))!r}, are missing; run "
            "the clustering to its end"
        )
    parts = [_read(Path(folder) / found[number]) for number in sorted(found)]
    return Labels(*map(np.concatenate, zip(*parts, strict=True)))


def _read(path: Path) -> Labels:
    source = Source.of(str(path))
    with arrow.opened(source, arrow.parquet) as (names, read_columns):
        for name in Labels._fields:
            check_column(source, names, name)
        table = read_columns(list(Labels._fields))
    return Labels(
        arrow.values_of(table.column("id")), *(table.column(n).to_numpy() for n in Labels._fields[1:])
    )


def _parts(folder: _Folder) -> dict[int, str]:
    """The files of labels in a folder by the number of their shard."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r}")
    found = {name: _PART.fullmatch(name) for name in os.listdir(folder)}
    return {int(match[1]): name for name, match in found.items() if match}
