"""`.npz`: several arrays by name; objects, which would be pickles, are refused."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.contract import BadFileError, Choice, Ids, Samples, Source, Wanted, as_column, one_of


def read(source: Source, wanted: Wanted) -> Samples:
    with _archive(source) as archive:
        X = archive[one_of(source, archive.files, Choice(wanted.key, "--key", wanted.id), "array")]
        if wanted.id is None:
            return Samples(X)
        return Samples(X, None, Ids(wanted.id, _column_of(source, archive, Choice(wanted.id, "--id"))))


def column(source: Source, choice: Choice) -> NDArray[Any]:
    with _archive(source) as archive:
        return _column_of(source, archive, choice)


def _column_of(source: Source, archive: Any, choice: Choice) -> NDArray[Any]:
    name = one_of(source, archive.files, choice, "array")
    return as_column(source, archive[name], f"the array {name!r}")


@contextmanager
def _archive(source: Source) -> Iterator[Any]:
    """The arrays, read when they are named; whatever is wrong with them then names the file."""
    with source.open() as file:
        if not zipfile.is_zipfile(file):
            raise source.fault("is no .npz, or only the beginning of one")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as archive:
                yield archive
        except BadFileError:
            raise
        except MemoryError as error:
            raise source.fault(f"claims an array that memory does not hold ({error})") from error
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise source.fault(f"holds no whole arrays of numbers ({error})") from error
