"""Embeddings of faces in the formats of learn-to-cluster and of CDP: raw float32 rows, one label a line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import some_of
from diffpeaks.datasets._checks import check_integer
from diffpeaks.datasets.checksums import check_md5
from diffpeaks.datasets.labeled import LabeledData

_BLOCK = 65_536  # rows that are normalised at once


def load_learn_to_cluster(
    folder: str | os.PathLike[str], name: str, n_features: int = 256, *, md5: str | None = None
) -> LabeledData:
    """Points of `features/NAME.bin` and labels of `labels/NAME.meta`, such as MS1M's `part1_test`.

    X is the file itself, mapped and read-only, float32 as it is stored: nothing is copied or
    normalised. The cosine metric needs no unit vectors; `unit_rows` makes them. With `md5` the file of
    features must have that checksum; `PUBLISHED_MD5` has those that the authors print.
    """
    X = _features(features_path(folder, name), n_features)
    if md5 is not None:
        check_md5(features_path(folder, name), md5)
    return LabeledData(X, _labels(labels_path(folder, name), len(X)), name)


def load_cdp(folder: str | os.PathLike[str], name: str, n_features: int = 256) -> LabeledData:
    """Points of `features/NAME.bin` and labels of `meta.txt`, such as the features of a model on emore_200k.

    `list.txt` must name as many images, one a line. X is mapped, as in `load_learn_to_cluster`.
    """
    X = _features(features_path(folder, name), n_features)
    listed = _existing(Path(folder) / "list.txt")
    with open(listed, "rb") as file:
        _check_length(listed, "images", sum(1 for _ in _up_to_blank_end(file)), len(X))
    return LabeledData(X, _labels(Path(folder) / "meta.txt", len(X)), name)


def unit_rows(X: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Rows divided by their lengths, block by block.

    `out` may be X itself, or an array on disk such as `np.lib.format.open_memmap` makes; without it
    the result is in memory, as large as X.
    """
    result = np.empty(X.shape, np.result_type(X.dtype, np.float32)) if out is None else out
    for start in range(0, len(X), _BLOCK):
        block = X[start : start + _BLOCK]
        length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        bad = np.flatnonzero(~((length > 0) & np.isfinite(length)))
        if len(bad):
            raise ValueError(
                f"rows {some_of(start + bad)} of X have length {length[bad[0]]}; drop rows that are zero, "
                "NaN or infinite"
            )
        np.divide(block, length[:, None], out=result[start : start + _BLOCK], casting="same_kind")
    return result


def features_path(folder: str | os.PathLike[str], name: str) -> Path:
    return Path(folder) / "features" / f"{name}.bin"


def labels_path(folder: str | os.PathLike[str], name: str) -> Path:
    return Path(folder) / "labels" / f"{name}.meta"


def _existing(path: Path) -> Path:
    if path.is_file():
        return path
    missing = next((parent for parent in reversed(path.parents) if not parent.is_dir()), None)
    what = f"the folder {str(missing)!r} does not exist" if missing else f"there is no file {str(path)!r}"
    raise FileNotFoundError(f"{what}; give a folder in which {path.parent.name}/{path.name} lies")


def _features(path: Path, n_features: int) -> NDArray[np.float32]:
    check_integer("n_features", n_features, 1)
    size, row = _existing(path).stat().st_size, 4 * n_features
    if size == 0 or size % row:
        raise ValueError(
            f"{str(path)!r} has {size} bytes, which is {size / row:.3f} rows of {n_features} float32 "
            f"({row} bytes); it must be a multiple above 0: fetch the file again, unless it has another "
            "n_features"
        )
    return np.memmap(path, "<f4", mode="r", shape=(size // row, n_features))


def _labels(path: Path, n_samples: int) -> NDArray[np.int64]:
    with open(_existing(path), "rb") as file:
        try:
            labels = np.fromiter(_integers(path, file), np.int64)
        except OverflowError:
            raise ValueError(f"{str(path)!r} has a label of more than 64 bits; number the labels") from None
    _check_length(path, "labels", len(labels), n_samples)
    return labels


def _integers(path: Path, file: BinaryIO) -> Iterator[int]:
    for number, line in enumerate(_up_to_blank_end(file), start=1):
        try:
            yield int(line)
        except ValueError:
            text = line.decode(errors="replace").rstrip("\r\n")
            raise ValueError(f"{str(path)!r}, line {number}: {text!r} must be an integer") from None


def _up_to_blank_end(file: BinaryIO) -> Iterator[bytes]:
    """The lines but for blank ones at the end, which an editor may leave."""
    blank: list[bytes] = []
    for line in file:
        blank.append(line)
        if line.strip():
            yield from blank
            blank.clear()


def _check_length(path: Path, what: str, found: int, n_samples: int) -> None:
    if found != n_samples:
        raise ValueError(
            f"{str(path)!r} has {found} lines of {what}, but the features have {n_samples} rows; take both "
            "from one set, and the n_features of that set"
        )
