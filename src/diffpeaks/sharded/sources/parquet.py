"""Points in Parquet: a column of lists, or several columns of numbers, and a column of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files import arrow
from diffpeaks.files.columns import chosen_columns
from diffpeaks.files.contract import Source as FileSource
from diffpeaks.files.contract import Wanted, extra
from diffpeaks.sharded.sources.contract import PIECE_BYTES, Identity, Layout, layout_of, stat_identity

_MOST_ROWS_AT_ONCE = 1 << 16
# with these, Arrow reads a column of a row group page by page, not as a whole
_PAGE_BY_PAGE = {"buffer_size": 1 << 20, "pre_buffer": False}


@dataclass(frozen=True)
class ParquetFile:
    """A `.parquet` file, and which of its columns are points and ids."""

    path: Path
    wanted: Wanted

    @property
    def source(self) -> FileSource:
        return FileSource.of(str(self.path))

    def layout(self) -> Layout:
        with self._opened() as table:
            names = self._names(table)
            if not table.metadata.num_rows:
                return Layout(0, 0, np.dtype(np.float32), names)
            first_row = next(self._tables(table, names, 0, 1))[1]
            found = layout_of(self.source, self._numbers(first_row, names, 0), names)
            return found._replace(n_samples=table.metadata.num_rows)

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        with self._opened() as table:
            names = self._names(table)
            for row, rows in self._tables(table, names, first, last):
                yield self._numbers(rows, names, row)

    def ids(self, first: int, last: int) -> Any:
        name = self.wanted.id
        if name is None:
            return None
        with self._opened() as table:
            columns = []
            for row, rows in self._tables(table, [name], first, last):
                columns.append(rows.column(name))
                arrow.check_present(replace(self.source, first_row=row), name, columns[-1])
            kind = table.schema_arrow.field(name).type
        return extra(*arrow.EXTRA).chunked_array([c for column in columns for c in column.chunks], kind)

    def identity(self) -> Identity:
        chosen = {"columns": list(self.wanted.columns), "id": self.wanted.id}
        return stat_identity(self.path) | chosen

    def _opened(self) -> AbstractContextManager[Any]:
        reader = extra("pyarrow.parquet", arrow.EXTRA[1]).ParquetFile
        return arrow.opened(self.source, lambda file: reader(file, **_PAGE_BY_PAGE))

    def _names(self, table: Any) -> tuple[str, ...]:
        return tuple(chosen_columns(self.source, table.schema_arrow.names, self.wanted))

    def _numbers(self, rows: Any, names: Sequence[str], row: int) -> NDArray[Any]:
        source = replace(self.source, first_row=row)
        blocks = [arrow.block(source, name, rows.column(name))[1] for name in names]
        return np.concatenate(blocks, axis=1)

    def _tables(self, table: Any, names: Sequence[str], first: int, last: int) -> Iterator[tuple[int, Any]]:
        """These rows of some columns, a few at a time, each time with the number of the first one."""
        metadata = table.metadata
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        ends = np.cumsum([group.num_rows for group in groups], dtype=np.int64)
        starts = np.append(0, ends[:-1])
        read = np.flatnonzero((starts < last) & (ends > first))
        if first == last or not len(read):
            return
        row_bytes = max(1, sum(group.total_byte_size for group in groups) // metadata.num_rows)
        n_rows = int(np.clip(PIECE_BYTES // row_bytes, 1, min(_MOST_ROWS_AT_ONCE, last - first)))
        row = int(starts[read[0]])
        for batch in table.iter_batches(n_rows, row_groups=read.tolist(), columns=list(names)):
            low, high = max(first - row, 0), min(last - row, len(batch))
            if low < high:
                yield row + low, extra(*arrow.EXTRA).Table.from_batches([batch.slice(low, high - low)])
            row += len(batch)
            if row >= last:
                return
