"""What formats of files promise: from a source and what is wanted of it, to samples."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

STANDARD_INPUT = "-"

Results: TypeAlias = dict[str, NDArray[Any]]  # names of columns and their values, one for each sample


class BadFileError(ValueError):
    """What a file holds is not what it should."""


class Wanted(NamedTuple):
    """What is to be taken from a file.

    Attributes
    ----------
    columns : names or patterns of the columns of numbers; none stands for all
    id : name of the column that tells samples apart
    key : name of the array where a file has several
    width : number of features where a file does not say
    header : whether the first line of a text names the columns; None refuses to guess
    beside : names of columns of any values, to be read along with the points
    """

    columns: tuple[str, ...] = ()
    id: str | None = None
    key: str | None = None
    width: int | None = None
    header: bool | None = None
    beside: tuple[str, ...] = ()

    @property
    def no_numbers(self) -> tuple[str, ...]:
        """The id and what is read beside it: columns that are no points unless they are named as such."""
        return tuple(dict.fromkeys((*([] if self.id is None else [self.id]), *self.beside)))


class Choice(NamedTuple):
    """One column or array of a file.

    Attributes
    ----------
    name : what it is called; None stands for the only one
    option : the option that names it
    beside : one that it is not, unless it is named
    may_miss : whether values may be missing
    """

    name: str | None
    option: str
    beside: str | None = None
    may_miss: bool = False


class Ids(NamedTuple):
    """What tells samples apart, and what it is called."""

    name: str
    values: NDArray[Any]


class Samples(NamedTuple):
    """The points of a file, the names of their columns where it has any, their ids, and what is beside them.

    Of `beside` a value that is missing is None, NaN or an empty text. `notes` are for whoever asked: what was
    chosen among several, and what looks like a mistake.
    """

    X: Any
    columns: tuple[str, ...] | None = None
    ids: Ids | None = None
    beside: Mapping[str, NDArray[Any]] = MappingProxyType({})
    notes: tuple[str, ...] = ()


def check_present(name: str) -> None:
    """Refuse the name of a folder, or of nothing."""
    if Path(name).is_dir():
        raise IsADirectoryError(f"{name!r} is a folder; give the files in it")
    if not Path(name).exists():
        raise FileNotFoundError(f"there is no file {name!r}")


@dataclass(frozen=True)
class Source:
    """A file, or what standard input has sent, which has no path.

    Where only some rows of it are read, they begin at `first_row`.
    """

    name: str
    path: Path | None
    content: bytes = b""
    first_row: int = 0

    @classmethod
    def of(cls, name: str) -> Source:
        """Standard input is read to its end; a file is only looked at."""
        if name == STANDARD_INPUT:
            source = cls("standard input", None, sys.stdin.buffer.read())
            is_empty = not source.content
        else:
            check_present(name)
            source = cls(name, Path(name))
            is_empty = Path(name).is_file() and not Path(name).stat().st_size
        if is_empty:
            raise source.fault("is empty, it has 0 bytes")
        return source

    def open(self) -> BinaryIO:
        return io.BytesIO(self.content) if self.path is None else open(self.path, "rb")

    def fault(self, problem: str) -> BadFileError:
        """The error that names this source."""
        return BadFileError(f"{self.name!r}: {problem}")

    def row(self, row: int) -> str:
        """The place in the whole file of one of the rows that were read."""
        return f"row {self.first_row + int(row)}"


@dataclass(frozen=True)
class Format:
    """How files of one kind are read and written.

    Attributes
    ----------
    suffixes : how names of such files end
    takes : the fields of `Wanted` that mean something here
    read : the samples of a source; the caller checks their values
    column : one column of a source, of any values
    write : results into a file that is open; the last argument is the file that the samples came from
    writes_from : formats that the samples must have come from; none stands for any
    needs : a module that must be there, and the extra that installs it
    label : the column of labels in files that `write` wrote; None where they hold nothing else
    """

    suffixes: tuple[str, ...]
    takes: tuple[str, ...]
    read: Callable[[Source, Wanted], Samples]
    column: Callable[[Source, Choice], NDArray[Any]]
    write: Callable[[BinaryIO, Results, Path | None], None] | None = None
    writes_from: tuple[str, ...] = ()
    needs: tuple[str, str] | None = None
    label: str | None = None

    def check_installed(self) -> None:
        """Refuse before the work, not after it."""
        if self.needs is not None:
            extra(*self.needs)


def extra(module: str, name: str, purpose: str = "this format") -> Any:
    """A module that is no dependency; the extra of that name installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module.split('.')[0]} is needed for {purpose}; install it with: pip install "
            f"'diffpeaks[{name}]'"
        ) from error


def as_column(source: Source, values: Any, what: str) -> NDArray[Any]:
    """One value for each sample, which is no array itself."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise source.fault(f"{what} has shape {column.shape}; one value for each sample is needed")
    return column


def one_of(source: Source, names: Sequence[str], choice: Choice, what: str) -> str:
    """The one that was asked for, or the only one there is."""
    if choice.name is not None:
        if choice.name not in names:
            raise source.fault(f"has no {what} {choice.name!r}; there are {shown(names)}")
        return choice.name
    others = [name for name in names if name != choice.beside]
    if len(others) != 1:
        beside = "" if choice.beside is None else f" beside {choice.beside!r}"
        raise source.fault(
            f"has {len(others)} {what}s{beside}, {shown(others)}; name one with {choice.option}"
        )
    return others[0]


def shown(names: Sequence[str], most: int = 8) -> str:
    """Names for a message, the first ones where they are many."""
    listed = ", ".join(repr(name) for name in names[:most])
    return f"[{listed}{', ...' if len(names) > most else ''}]"
