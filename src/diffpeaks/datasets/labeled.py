"""Labelled points, and the one table format that they are stored in."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.files import replacing

LABEL = "label"  # the header of the column of classes

Row = tuple[int, list[str]]  # number of the line, and its cells


class LabeledData(NamedTuple):
    """Points, the class of each, and the name of the set."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    name: str


def load_table(path: str | os.PathLike[str]) -> LabeledData:
    """Points and labels from a CSV with the header `f0,f1,...,label`.

    Every other column is a feature, whatever its name; a missing value is the text NaN. Labels are
    integers. Nothing is scaled.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}; give the path of a CSV with a header")
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header = [cell.strip() for cell in next(reader, [])]
        if header.count(LABEL) != 1 or len(header) < 2:
            raise ValueError(
                f"{str(path)!r} begins with {header}; its first line must name the columns, at least one "
                f"feature and one {LABEL!r}"
            )
        rows = ((reader.line_num, cells) for cells in reader if cells)
        X, y = read_rows(rows, header, str(path))
    return LabeledData(X, y, Path(path).stem)


def read_rows(
    rows: Iterable[Row], header: list[str], origin: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features and labels of cells that are text; errors name the origin, the line and the column."""
    label = header.index(LABEL)
    features, labels = [], []
    for line, cells in rows:
        if len(cells) != len(header):
            raise ValueError(
                f"{origin!r}, line {line}: there are {len(cells)} cells, but {len(header)} columns; "
                "repair the line"
            )
        try:
            labels.append(_label(cells[label]))
            features.append(np.array([float(cell) for cell in cells[:label] + cells[label + 1 :]]))
        except ValueError:
            raise _bad_cell(cells, header, f"{origin!r}, line {line}") from None
    if not labels:
        raise ValueError(f"{origin!r} has no rows; at least one sample is needed")
    return np.array(features), np.array(labels, np.int64)


def _label(cell: str) -> int:
    value = int(cell)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{cell} has more than 64 bits")
    return value


def _bad_cell(cells: list[str], header: list[str], place: str) -> ValueError:
    """What is wrong with the first cell that cannot be read."""
    for name, cell in zip(header, cells, strict=True):
        try:
            _label(cell) if name == LABEL else float(cell)
        except ValueError:
            must = "an integer of 64 bits" if name == LABEL else "a number, or NaN where a value is missing"
            return ValueError(f"{place}, column {name!r}: {cell!r} must be {must}")
    raise AssertionError("every cell can be read")


def write_table(path: str | os.PathLike[str], data: LabeledData) -> None:
    """Write the CSV that `load_table` reads to the same values, whole or not at all."""
    with replacing(path) as file:
        file.writelines(line.encode() for line in _lines(data))


def _lines(data: LabeledData) -> Iterator[str]:
    yield ",".join([*(f"f{i}" for i in range(data.X.shape[1])), LABEL]) + "\n"
    for values, label in zip(data.X.tolist(), data.y.tolist(), strict=True):
        cells = ("NaN" if value != value else repr(value) for value in values)
        yield ",".join([*cells, str(label)]) + "\n"


def checksum(data: LabeledData) -> str:
    """SHA-256 of the shape and the values, the same for any text that says these numbers."""
    X = np.where(np.isnan(data.X), np.nan, data.X)  # NaN has many bit patterns
    digest = hashlib.sha256(repr(data.X.shape).encode())
    digest.update(X.astype("<f8").tobytes())
    digest.update(data.y.astype("<i8").tobytes())
    return digest.hexdigest()
