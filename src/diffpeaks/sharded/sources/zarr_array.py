"""Points in a Zarr array, in version 2 or 3 of the format, by either version of the package."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from diffpeaks.files.contract import BadFileError, extra
from diffpeaks.files.contract import Source as FileSource
from diffpeaks.sharded.sources.arrays import WithoutIds, rows_of_a_piece
from diffpeaks.sharded.sources.contract import Identity, Layout, layout_of, stat_identity

_DAMAGED = (ValueError, RuntimeError, OSError, EOFError, LookupError, TypeError, zlib.error)  # of many codecs
_OF_ARRAYS, _OF_GROUPS, _OF_EITHER = ".zarray", ".zgroup", "zarr.json"


def is_zarr(folder: Path) -> bool:
    """Whether a folder is an array of Zarr, or a group of such, which has no points itself."""
    return any((folder / name).is_file() for name in (_OF_ARRAYS, _OF_GROUPS, _OF_EITHER))


@dataclass(frozen=True)
class ZarrArray(WithoutIds):
    """The folder of a Zarr array."""

    path: Path

    @property
    def source(self) -> FileSource:
        return FileSource(str(self.path), self.path)

    def layout(self) -> Layout:
        with self._opened() as array:
            missing = array.nchunks - array.nchunks_initialized
            if missing:
                raise self.source.fault(
                    f"{missing} of {array.nchunks} chunks are missing, for which Zarr would give its fill "
                    "value; write the array again, with write_empty_chunks=True where rows are all fill value"
                )
            return layout_of(self.source, array)

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        """Whole chunks, because a chunk is decoded as a whole."""
        with self._opened() as array:
            n_rows = array.chunks[0]
            n_rows *= max(1, rows_of_a_piece(array) // n_rows)
            row = first
            while row < last:
                end = min(last, (row // n_rows + 1) * n_rows)
                yield array[row:end]
                row = end

    def identity(self) -> Identity:
        """That of all chunks together."""
        found = [stat_identity(path) for path in self.path.rglob("*") if path.is_file()]
        return {
            "bytes": sum(file["bytes"] for file in found),
            "modified_ns": max(file["modified_ns"] for file in found),
        }

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        zarr = extra("zarr", "zarr")
        try:
            if self._is_group():
                raise self.source.fault("is a group of Zarr; give the path of one of its arrays")
            yield zarr.open_array(str(self.path), mode="r")
        except BadFileError:
            raise
        except _DAMAGED as error:
            raise self.source.fault(f"cannot be read ({error}); write the array again") from error

    def _is_group(self) -> bool:
        described = self.path / _OF_EITHER
        if described.is_file():
            return bool(json.loads(described.read_bytes()).get("node_type") == "group")
        return not (self.path / _OF_ARRAYS).is_file()
