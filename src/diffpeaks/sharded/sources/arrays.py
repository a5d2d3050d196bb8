"""Points in one array: a `.npy`, an array that is mapped from a file, an array in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_unmasked
from diffpeaks.files import npy
from diffpeaks.files.contract import Source as FileSource
from diffpeaks.sharded.sources.contract import PIECE_BYTES, Identity, Layout, layout_of, stat_identity


class WithoutIds:
    """An array has no columns of other values."""

    def ids(self, first: int, last: int) -> None:
        return None


@dataclass(frozen=True)
class NpyFile(WithoutIds):
    """A `.npy` file."""

    path: Path

    @property
    def source(self) -> FileSource:
        return FileSource.of(str(self.path))

    def layout(self) -> Layout:
        return layout_of(self.source, npy.array(self.source))

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        step = rows_of_a_piece(npy.array(self.source))
        for start in range(first, last, step):
            yield npy.array(self.source)[start : min(start + step, last)]  # mapped anew: see PIECE_BYTES

    def identity(self) -> Identity:
        return stat_identity(self.path)


@dataclass(frozen=True)
class MappedFile(WithoutIds):
    """An array somewhere in a file, as `numpy.memmap` maps it."""

    path: Path
    offset: int
    shape: tuple[int, int]
    stored: str
    order: Literal["C", "F"]

    @property
    def source(self) -> FileSource:
        return FileSource.of(str(self.path))

    def layout(self) -> Layout:
        return layout_of(self.source, self._array())

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        step = rows_of_a_piece(self._array())
        for start in range(first, last, step):
            yield self._array()[start : min(start + step, last)]

    def identity(self) -> Identity:
        return stat_identity(self.path) | {"offset": self.offset, "stored": self.stored, "order": self.order}

    def _array(self) -> NDArray[Any]:
        try:
            return np.memmap(self.path, self.stored, "r", self.offset, self.shape, self.order)
        except ValueError as error:
            raise self.source.fault(
                f"holds no whole array of shape {self.shape} ({error}); write the file again"
            ) from error


@dataclass(frozen=True, eq=False)
class ArrayInMemory(WithoutIds):
    """An array that only this process sees."""

    array: NDArray[Any]

    @property
    def source(self) -> FileSource:
        return FileSource("array", None)

    def layout(self) -> Layout:
        return layout_of(self.source, self.array)

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        yield self.array[first:last]

    def identity(self) -> Identity:
        step = rows_of_a_piece(self.array)
        checksum = 0
        for start in range(0, len(self.array), step):
            checksum = zlib.crc32(np.ascontiguousarray(self.array[start : start + step]).data, checksum)
        return {"stored": self.array.dtype.str, "crc32": checksum}

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"an array of shape {self.array.shape} in memory cannot be given to other processes; save it "
            "with numpy.save and give the path, or use executor='serial'"
        )


def file_of_array(array: NDArray[Any]) -> ArrayInMemory | MappedFile:
    """The file that an array is mapped from, or else the array."""
    check_unmasked("the array", array)
    mapped = _root(array)
    # what was written to a copy on write is in no file, and a view with gaps is not what numpy maps
    if mapped is None or mapped.mode == "c" or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return ArrayInMemory(array)
    if array.ndim != 2 or not array.size:
        return ArrayInMemory(array)  # which its layout refuses
    mapped.flush()
    offset = mapped.offset + array.ctypes.data - mapped.ctypes.data
    order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
    n_samples, n_features = array.shape
    path = Path(mapped.filename).absolute()
    return MappedFile(path, offset, (n_samples, n_features), array.dtype.str, order)


def _root(array: NDArray[Any]) -> Any:
    """The `numpy.memmap` that an array is a view of, None where it is not one of a file with a name."""
    mapped = array
    while isinstance(mapped.base, np.ndarray):
        mapped = mapped.base
    return mapped if isinstance(mapped, np.memmap) and mapped.filename is not None else None


def rows_of_a_piece(X: NDArray[Any]) -> int:
    return max(1, PIECE_BYTES // max(1, X.dtype.itemsize * X.shape[1]))
