"""`.csv` and `.tsv`: a line for each sample, and a first line that names the columns."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.columns import check_names, chosen_columns
from diffpeaks.files.contract import Choice, Ids, Results, Samples, Source, Wanted, one_of
from diffpeaks.files.numbers import EXACT_INTEGERS, inexact_integer


def read(source: Source, wanted: Wanted, delimiter: str) -> Samples:
    with _table(source, delimiter, wanted.header) as table:
        chosen = chosen_columns(source, table.names, wanted)
        places = [table.names.index(name) for name in chosen]
        X, texts = table.numbers(places, [table.names.index(name) for name in wanted.no_numbers])
    found = dict(zip(wanted.no_numbers, map(_as_text, texts), strict=True))
    ids = None if wanted.id is None else Ids(wanted.id, found[wanted.id])
    beside = {name: found[name] for name in wanted.beside}
    return Samples(X, tuple(chosen) if table.is_named else None, ids, beside)


def column(source: Source, choice: Choice, delimiter: str) -> NDArray[Any]:
    with _table(source, delimiter, header=True) as table:
        check_names(source, table.names)
        place = table.names.index(one_of(source, table.names, choice, "column"))
        return _as_text([cells[place] for cells in table])


def write(file: BinaryIO, results: Results, origin: Path | None, delimiter: str) -> None:
    """Numbers are written so that they are read as the same numbers."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(results)
    writer.writerows(zip(*(values.tolist() for values in results.values()), strict=True))
    text.flush()
    text.detach()  # the file stays open for its owner


def _as_text(cells: list[str]) -> NDArray[Any]:
    """Strings of any length; a dtype of strings would give all of them the length of the longest."""
    return np.array(cells, dtype=object)


@contextmanager
def _table(source: Source, delimiter: str, header: bool | None) -> Iterator[_Table]:
    with source.open() as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            yield _Table(source, reader, header)
        except csv.Error as error:
            raise source.fault(f"line {reader.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise source.fault(f"byte {byte:#04x} is no text in UTF-8; save the file in UTF-8") from error


class _Table:
    """The rows of a text, each with as many cells as there are columns."""

    def __init__(self, source: Source, reader: Any, header: bool | None) -> None:
        self._source, self._reader = source, reader
        first = next((cells for cells in reader if cells), None)
        if first is None:
            raise source.fault("has no lines but empty ones")
        if header is None and all(_is_number(cell) for cell in first):
            raise source.fault(
                f"the first line holds numbers alone ({', '.join(first[:4])}, ...); say --header if they are "
                "the names of columns, --no-header if they are values"
            )
        if len(first) == 1 and ";" in first[0]:
            raise source.fault(
                f"the first line has no comma or tab but semicolons ({first[0][:40]!r}); write the table "
                "with commas as .csv or with tabs as .tsv, and a point in decimal numbers"
            )
        self.is_named = header is not False
        self.names = [cell.strip() for cell in first] if self.is_named else list(map(str, range(len(first))))
        self._first = [] if self.is_named else [first]

    def __iter__(self) -> Iterator[list[str]]:
        yield from self._first
        n_columns, row = len(self.names), len(self._first)
        for cells in self._reader:
            if len(cells) != n_columns:
                if not cells:
                    continue  # an empty line
                raise self._source.fault(
                    f"row {row} (line {self._reader.line_num}) has {len(cells)} cells, but there are "
                    f"{n_columns} columns; repair the line"
                )
            yield cells
            row += 1

    def numbers(
        self, places: Sequence[int], text_places: Sequence[int]
    ) -> tuple[NDArray[np.float64], list[list[str]]]:
        """The numbers at these places of each row, NaN where there is nothing, and the texts at those."""
        values = array("d")
        texts: list[list[str]] = [[] for _ in text_places]
        first, *others = places
        pick = itemgetter(first, *others) if others else itemgetter(slice(first, first + 1))
        for row, cells in enumerate(self):
            plain = _plain_numbers(pick(cells))
            values.extend(plain or [self._number(row, place, cells[place]) for place in places])
            for column, place in zip(texts, text_places, strict=True):
                column.append(cells[place])
        return np.frombuffer(values, np.float64).reshape(-1, len(places)), texts

    def _number(self, row: int, place: int, cell: str) -> float:
        if not cell.strip():
            return np.nan
        where = f"row {row} (line {self._reader.line_num}), column {self.names[place]!r}"
        if not _is_number(cell):
            raise self._source.fault(
                f"{where}: {cell!r} is not a number; repair it, or name the columns of numbers with "
                "--columns, and the column of ids with --id"
            )
        if _is_inexact_integer(cell):
            raise inexact_integer(self._source, where, cell.strip())
        return float(cell)


def _plain_numbers(cells: Sequence[str]) -> list[float] | None:
    """The numbers of a row, or None where one of its cells must be looked at alone."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        return None
    # Python would read 1_0 as 10; a NaN that comes first is the maximum, and fails the comparison
    is_plain = "_" not in "".join(cells) and max(map(abs, numbers)) < EXACT_INTEGERS
    return numbers if is_plain else None


def _is_inexact_integer(cell: str) -> bool:
    digits = cell.strip().lstrip("+-").lstrip("0")
    is_long = len(digits) > len(str(EXACT_INTEGERS))  # Python refuses to read thousands of digits
    return digits.isdecimal() and (is_long or int(digits) > EXACT_INTEGERS)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
