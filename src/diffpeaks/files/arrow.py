"""Tables of Arrow: Parquet, Feather and streams of Arrow, by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.columns import chosen_columns
from diffpeaks.files.contract import Choice, Ids, Results, Samples, Source, Wanted, extra, one_of
from diffpeaks.files.numbers import check_integers

EXTRA = ("pyarrow", "parquet")
_FEATHER_SIGNS = (b"ARROW1", b"FEA1")

# The names of the columns of an open file, and a function that reads some of them.
_Opened = tuple[Sequence[str], Callable[[list[str]], Any]]
_Opener = Callable[[BinaryIO], _Opened]
_Table = TypeVar("_Table")


def parquet(file: BinaryIO) -> _Opened:
    table = extra("pyarrow.parquet", EXTRA[1]).ParquetFile(file)
    return table.schema_arrow.names, lambda columns: table.read(columns=columns)


def feather(file: BinaryIO) -> _Opened:
    """Feather, which is a file of Arrow, or else a stream of Arrow."""
    is_feather = file.read(6).startswith(_FEATHER_SIGNS)
    file.seek(0)
    if is_feather:
        table = extra("pyarrow.feather", EXTRA[1]).read_table(file)
    else:
        table = extra(*EXTRA).ipc.open_stream(file).read_all()
    return table.column_names, table.select


def read(source: Source, wanted: Wanted, opener: _Opener) -> Samples:
    with opened(source, opener) as (names, read_columns):
        chosen = chosen_columns(source, names, wanted)
        table = read_columns(list(dict.fromkeys([*chosen, *wanted.no_numbers])))
    blocks = [block(source, name, table.column(name)) for name in chosen]
    columns = tuple(name for of_block, _ in blocks for name in of_block)
    X = np.concatenate([numbers for _, numbers in blocks], axis=1)
    ids = None
    if wanted.id is not None:
        ids = Ids(wanted.id, _present(source, wanted.id, table.column(wanted.id)))
    return Samples(X, columns, ids, {name: values_of(table.column(name)) for name in wanted.beside})


def column(source: Source, choice: Choice, opener: _Opener) -> NDArray[Any]:
    with opened(source, opener) as (names, read_columns):
        name = one_of(source, names, choice, "column")
        values = read_columns([name]).column(name)
        return values_of(values) if choice.may_miss else _present(source, name, values)


def write_parquet(file: BinaryIO, results: Results, origin: Path | None) -> None:
    table = extra(*EXTRA).table(dict(results))
    extra("pyarrow.parquet", EXTRA[1]).write_table(table, file)


@contextmanager
def opened(source: Source, opener: Callable[[BinaryIO], _Table]) -> Iterator[_Table]:
    """What the opener makes of the file; whatever is wrong with it then names the file."""
    arrow = extra(*EXTRA)
    with source.open() as file:
        try:
            yield opener(file)
        except (arrow.ArrowException, OSError, EOFError) as error:
            problem = " ".join(str(error).split())  # Arrow tells some in several lines
            raise source.fault(f"cannot be read ({problem}); write the file again") from error


def block(source: Source, name: str, values: Any) -> tuple[list[str], NDArray[Any]]:
    """The numbers of a column, and their names: a column of lists is as many columns of numbers."""
    types = extra(*EXTRA).types
    kinds = (types.is_fixed_size_list, types.is_list, types.is_large_list)
    if any(is_of_kind(values.type) for is_of_kind in kinds):
        numbers = _lists(source, name, values)
        return [f"{name}[{place}]" for place in range(numbers.shape[1])], numbers
    return [name], _numbers(source, name, values)[:, None]


def _numbers(source: Source, name: str, values: Any) -> NDArray[Any]:
    """Numbers as they are, NaN where there is none."""
    arrow = extra(*EXTRA)
    types = arrow.types
    if types.is_decimal(values.type) or types.is_boolean(values.type):
        values = values.cast(arrow.float64())
    if not (types.is_integer(values.type) or types.is_floating(values.type)):
        raise source.fault(
            f"the column {name!r} holds values of type {values.type}, not numbers; name the columns of "
            "numbers with --columns, and the column of ids with --id"
        )
    numbers = values.to_numpy()
    if types.is_integer(values.type):
        check_integers(source, numbers[:, None], (name,))
    return numbers


def _lists(source: Source, name: str, values: Any) -> NDArray[Any]:
    check_present(source, name, values)
    compute = extra("pyarrow.compute", EXTRA[1])
    lengths = compute.list_value_length(values).to_numpy()
    other = np.flatnonzero(lengths != lengths[:1])
    if len(other):
        raise source.fault(
            f"{source.row(other[0])}, column {name!r}: a list of {lengths[other[0]]} numbers, but of "
            f"{lengths[0]} in {source.row(0)}; all must have one length"
        )
    flat = _numbers(source, name, compute.list_flatten(values))
    return flat.reshape(len(values), lengths[0] if len(values) else 0)


def _present(source: Source, name: str, values: Any) -> NDArray[Any]:
    """Ids and labels of any kind, but none that is missing."""
    check_present(source, name, values)
    return values_of(values)


def values_of(values: Any) -> NDArray[Any]:
    """Values of any kind, None where one is missing."""
    if extra(*EXTRA).types.is_integer(values.type) and not values.null_count:
        return values.to_numpy()
    column = np.empty(len(values), object)  # numpy has no strings of any length, and no times of all kinds
    column[:] = values.to_pylist()
    return column


def check_present(source: Source, name: str, values: Any) -> None:
    """Refuse a column in which a value is missing."""
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy())[0])
        raise source.fault(
            f"{source.row(row)}, column {name!r}: the value is missing ({values.null_count} in all); leave "
            "such rows out"
        )
