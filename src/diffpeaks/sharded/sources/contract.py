"""What files of points promise, and the shards that are read from them with their values checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.validation import check_integer
from diffpeaks.files.contract import Source as FileSource
from diffpeaks.files.numbers import check_integers, first_bad, place_of

PIECE_BYTES = 8 << 20  # read at once: mapped pages count as memory of the process while they are mapped
Identity: TypeAlias = dict[str, Any]


class Layout(NamedTuple):
    """What a file says of its points; without rows it may not know their features.

    `dtype` is float32 or float64, the smaller one that holds every value; `columns` are the names that were
    chosen, None where the file has none.
    """

    n_samples: int
    n_features: int
    dtype: np.dtype[Any]
    columns: tuple[str, ...] | None = None


class PointFile(Protocol):
    """Points in one place. It is made of paths and numbers, so that other processes can be given it."""

    @property
    def source(self) -> FileSource:
        """What refusals name."""
        ...

    def layout(self) -> Layout:
        """Look at the file, but not at all of its points."""
        ...

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        """The rows `first` .. `last` - 1 as they are stored, some at a time, in order."""
        ...

    def ids(self, first: int, last: int) -> Any:
        """The ids of these rows, as Arrow or numpy has them; None without a column of ids."""
        ...

    def identity(self) -> Identity:
        """What tells this content from another, as JSON holds it."""
        ...


def layout_of(source: FileSource, X: Any, columns: tuple[str, ...] | None = None) -> Layout:
    """The layout of an array, stored or not, that holds points."""
    if len(X.shape) != 2:
        raise source.fault(f"the array has shape {X.shape}; it must be (n_samples, n_features)")
    if X.shape[0] and not X.shape[1]:
        raise source.fault("its rows have 0 features; at least one is needed")
    if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
        raise source.fault(
            f"holds values of dtype {X.dtype}; give real numbers of at most 64 bits, for example float32"
        )
    return Layout(int(X.shape[0]), int(X.shape[1]), np.promote_types(X.dtype, np.float32), columns)


def stat_identity(path: Path) -> Identity:
    """Size and time of change of a file."""
    status = path.stat()
    return {"bytes": status.st_size, "modified_ns": status.st_mtime_ns}


@dataclass(frozen=True)
class Shard:
    """Consecutive rows of a file, from its row `first_row` on, as floats."""

    file: PointFile
    first_row: int
    n_samples: int
    n_features: int
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        return f"{self.file.source.name}[{self.first_row}:{self.first_row + self.n_samples}]"

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """The rows `first` .. `last` - 1 in one array."""
        blocks = self.blocks(first, last, max(1, last - first))
        return next(blocks, np.empty((0, self.n_features), self.dtype))

    def blocks(self, first: int, last: int, n_rows: int) -> Iterator[NDArray[Any]]:
        """The same rows in arrays of `n_rows` and a last one of fewer.

        A file that can only be decoded from its beginning is read once.
        """
        self._check_range(first, last)
        check_integer("n_rows", n_rows, 1)
        block, filled, row = np.empty((0, self.n_features), self.dtype), 0, first
        for piece in self.file.pieces(self.first_row + first, self.first_row + last):
            self._check_piece(piece, row)
            taken = 0
            while taken < len(piece):
                if filled == len(block):
                    block, filled = np.empty((min(n_rows, last - row), self.n_features), self.dtype), 0
                end = min(len(piece), taken + len(block) - filled)
                block[filled : filled + end - taken] = piece[taken:end]
                filled, row, taken = filled + end - taken, row + end - taken, end
                if filled == len(block):
                    self._check_finite(block, row - filled)
                    yield block
        if row != last:
            raise self._source(row).fault(f"ends after {self.first_row + row} rows; write the shard again")

    def ids(self, first: int, last: int) -> Any:
        """The ids of these rows, a ChunkedArray of Arrow; None without a column of ids."""
        self._check_range(first, last)
        return self.file.ids(self.first_row + first, self.first_row + last)

    def _source(self, row: int) -> FileSource:
        """The file as refusals name it, from that row of the shard on."""
        return replace(self.file.source, first_row=self.first_row + row)

    def _check_range(self, first: int, last: int) -> None:
        if not 0 <= first <= last <= self.n_samples:
            raise ValueError(
                f"rows {first} .. {last} of the shard {self.name!r} do not exist; give 0 <= first <= last <= "
                f"{self.n_samples}"
            )

    def _check_piece(self, piece: NDArray[Any], row: int) -> None:
        """Refuse another width, and integers that a float would change."""
        source = self._source(row)
        if piece.shape[1] != self.n_features:
            raise source.fault(
                f"{source.row(0)} has {piece.shape[1]} features, but the first row of the file has "
                f"{self.n_features}; write the shard again with rows of one length"
            )
        if np.promote_types(piece.dtype, self.dtype) != self.dtype:
            raise source.fault(
                f"from {source.row(0)} on it holds {piece.dtype}, but {self.dtype} when it was opened"
            )
        if piece.dtype.kind in "iu" and piece.dtype.itemsize == 8:
            check_integers(source, piece, None)

    def _check_finite(self, block: NDArray[Any], row: int) -> None:
        found = first_bad(block, lambda values: ~np.isfinite(values))
        if found is not None:
            source = self._source(row)
            raise source.fault(
                f"{place_of(source, found, None)}: the value is {block[found]}; drop the row, or give "
                "it a finite value"
            )


@dataclass(frozen=True)
class Source:
    """Points in shards, one after another; paths and numbers, never points."""

    shards: tuple[Shard, ...]

    @property
    def n_samples(self) -> int:
        return sum(shard.n_samples for shard in self.shards)

    @property
    def n_features(self) -> int:
        return self.shards[0].n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.shards[0].dtype

    @property
    def starts(self) -> NDArray[np.int64]:
        """The number among all rows of the first row of each shard."""
        counts = [shard.n_samples for shard in self.shards]
        return np.cumsum([0, *counts[:-1]], dtype=np.int64)

    def identity(self) -> Identity:
        """What tells this input from another one, or from what it was before it was changed.

        Names are told from the folder that holds all files, so that the folder may be moved.
        """
        paths = [shard.file.source.path for shard in self.shards]
        folders = [path.parent for path in paths if path is not None]
        base = os.path.commonpath(folders) if folders else ""
        names = ["" if path is None else Path(os.path.relpath(path, base)).as_posix() for path in paths]
        return {
            "n_features": self.n_features,
            "dtype": self.dtype.name,
            "shards": [
                {"name": name, "first_row": shard.first_row, "n_samples": shard.n_samples}
                | shard.file.identity()
                for name, shard in zip(names, self.shards, strict=True)
            ],
        }
