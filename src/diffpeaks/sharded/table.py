"""Rows of numbers in consecutive files, of which only what is asked for comes into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.files import replacing

_GAP = 8  # rows that are read beside those that are asked for, so that fewer reads are needed
_TOGETHER = 4096  # rows that are asked for at once


@dataclass(frozen=True)
class Table:
    """Rows in files, one after the other.

    Attributes
    ----------
    paths : tuple of str
    starts : tuple of int
        The first row of each file, and behind the last one the number of rows.
    n_features : int
    dtype : str
    """

    paths: tuple[str, ...]
    starts: tuple[int, ...]
    n_features: int
    dtype: str

    @property
    def shape(self) -> tuple[int, int]:
        return self.starts[-1], self.n_features

    @property
    def row_bytes(self) -> int:
        return self.n_features * np.dtype(self.dtype).itemsize

    def __len__(self) -> int:
        return self.starts[-1]

    def between(self, first: int, last: int) -> NDArray[Any]:
        """The rows from `first` up to `last`."""
        return self.runs(np.array([first]), np.array([last]))

    def at(self, which: NDArray[Any]) -> NDArray[Any]:
        """The rows of these numbers, which mostly ascend."""
        rows = np.empty((len(which), self.n_features), self.dtype)
        for at in range(0, len(which), _TOGETHER):
            some = which[at : at + _TOGETHER].astype(np.int64)
            apart = np.diff(some, prepend=-np.inf)
            is_new = (apart < 0) | (apart > _GAP)
            first, last = some[is_new], some[np.append(is_new[1:], True)] + 1
            lengths = last - first
            skipped = first - (np.cumsum(lengths) - lengths)
            rows[at : at + _TOGETHER] = self.runs(first, last)[some - skipped[np.cumsum(is_new) - 1]]
        return rows

    def runs(self, first: NDArray[Any], last: NDArray[Any]) -> NDArray[Any]:
        """Runs of rows, one after the other; those that follow each other in files are read as one."""
        is_new = np.append(True, first[1:] != last[:-1])
        first, last = first[is_new], last[np.append(is_new[1:], True)]
        rows = np.empty((int(np.sum(last - first)), self.n_features), self.dtype)
        room, at = rows.reshape(-1).view(np.uint8).data, 0
        pieces = self._pieces(first, last, np.array(self.starts))
        for number, of_file in groupby(pieces, key=itemgetter(0)):
            with open(self.paths[number], "rb", buffering=0) as file:
                for _, begin, end in of_file:
                    file.seek((begin - self.starts[number]) * self.row_bytes)
                    size = (end - begin) * self.row_bytes
                    _fill(file, room[at : at + size])
                    at += size
        return rows

    @staticmethod
    def _pieces(
        first: NDArray[Any], last: NDArray[Any], begins: NDArray[np.int64]
    ) -> Iterator[tuple[int, int, int]]:
        """The file and the rows of each piece of the runs that lies in one file."""
        numbers = np.searchsorted(begins, first, side="right") - 1
        for number, begin, end in zip(numbers.tolist(), first.tolist(), last.tolist(), strict=True):
            while begin < end:
                stop = min(end, int(begins[number + 1]))
                if stop > begin:
                    yield number, begin, stop
                begin, number = stop, number + 1


def _fill(file: FileIO, room: memoryview) -> None:
    """Read as many bytes as there is room for; the system may give them in pieces."""
    at = 0
    while at < len(room):
        n_read = file.readinto(room[at:])
        if not n_read:
            raise ValueError(
                f"{str(file.name)!r} ends too early and is damaged; remove the run's folder and start again"
            )
        at += n_read


def write_rows(path: str | os.PathLike[str], rows: NDArray[Any]) -> None:
    """Write the rows of one file of a table, whole or not at all."""
    with replacing(path) as file:
        np.ascontiguousarray(rows).tofile(file)
