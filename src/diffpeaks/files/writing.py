"""Results into a file, whole or not at all; what cannot be written is refused before the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from diffpeaks._base.files import check_replaceable, replacing
from diffpeaks.files.contract import STANDARD_INPUT, Results
from diffpeaks.files.formats import FORMATS, format_of


def check_destination(path: str, inputs: Sequence[str] = (), is_table: bool = True) -> None:
    """Refuse a file that could not be written; with `is_table` its name must tell a format for results."""
    check_replaceable(path)
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"the folder {str(folder)!r} cannot be written; give another")
    for name in inputs:
        if name != STANDARD_INPUT and is_same_file(name, path):
            raise ValueError(f"{path!r} is an input, which would be replaced; give another name")
    if is_table:
        _check_format(path, inputs)


def is_same_file(name: str, other: str) -> bool:
    """Whether two names lead to one place, where there may be no file yet."""
    return os.path.realpath(name) == os.path.realpath(other)


def _check_format(path: str, inputs: Sequence[str]) -> None:
    found = format_of(path)
    writable = [name for name, format in FORMATS.items() if format.write]
    if found not in writable:
        raise ValueError(f"{path!r} has no ending of a format for results; use one of {writable}")
    format = FORMATS[found]
    if format.writes_from and (len(inputs) != 1 or format_of(inputs[0]) not in format.writes_from):
        raise ValueError(
            f"{path!r} would be a copy of the input with the results, and so the input must be one file of "
            f"the format {found}, not {list(inputs)}"
        )
    format.check_installed()


def write_results(path: str | None, results: Results, inputs: Sequence[str] = ()) -> None:
    """Write columns in the format that the name tells; None is csv on standard output."""
    format = FORMATS["csv" if path is None else format_of(path) or ""]
    assert format.write is not None  # checked before the work
    if path is None:
        sys.stdout.flush()
        format.write(sys.stdout.buffer, results, None)
        return
    with replacing(path) as file:
        format.write(file, results, Path(inputs[0]) if format.writes_from else None)
