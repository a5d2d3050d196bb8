"""Samples from one file, from several, or from standard input, with their values checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks.files.contract import STANDARD_INPUT, Choice, Format, Ids, Samples, Source, Wanted, shown
from diffpeaks.files.formats import FORMATS, format_of
from diffpeaks.files.numbers import as_floats, check_finite, notes_on_counters


def read_samples(
    names: Sequence[str], wanted: Wanted, format: str | None = None, may_miss: bool = False
) -> Samples:
    """The samples of all files, one after another; all must have the same columns.

    With `may_miss` values may be NaN. What is wrong is refused by the name of the file, the row, which is
    counted from 0 as in the results, and the column.
    """
    if list(names).count(STANDARD_INPUT) > 1:
        raise ValueError("standard input, '-', can be read only once")
    for name in names:  # all, before the first is read
        _check_wanted(name, wanted, _format(name, format))
    parts = [_read(name, wanted, _format(name, format), may_miss) for name in names]
    return parts[0] if len(parts) == 1 else _stacked(names, parts)


def read_column(name: str, choice: Choice, format: str | None = None) -> NDArray[Any]:
    """One column of a file, of any values."""
    found = _format(name, format)
    found.check_installed()
    return found.column(Source.of(name), choice)


def label_column(name: str, format: str | None = None) -> str | None:
    """The column where results that were written have their labels."""
    return _format(name, format).label


def _format(name: str, format: str | None) -> Format:
    found = format or format_of(name)
    if found is None:
        where = "standard input has no name" if name == STANDARD_INPUT else f"{name!r} ends like none of them"
        raise ValueError(f"the format is not known, because {where}; give --format, one of {list(FORMATS)}")
    return FORMATS[found]


def _check_wanted(name: str, wanted: Wanted, format: Format) -> None:
    """Refuse what would have no effect."""
    for field, default in Wanted._field_defaults.items():
        if getattr(wanted, field) != default and field not in format.takes:
            takers = ", ".join(other for other, found in FORMATS.items() if field in found.takes)
            if field == "beside":
                raise ValueError(
                    f"{name!r} has no columns beside the points, but {shown(wanted.beside)} are asked for; "
                    f"only {takers} have; name a table of them with --captions"
                )
            raise ValueError(f"--{field} has no effect on {name!r}; it is for {takers}")
    format.check_installed()


def _read(name: str, wanted: Wanted, format: Format, may_miss: bool) -> Samples:
    source = Source.of(name)
    samples = format.read(source, wanted)
    X = as_floats(source, samples)
    if samples.ids is not None and len(samples.ids.values) != X.shape[0]:
        raise source.fault(f"there are {len(samples.ids.values)} ids for {X.shape[0]} samples")
    check_finite(source, X, samples.columns, may_miss)
    notes = () if wanted.columns else notes_on_counters(source, X, samples.columns)
    return samples._replace(X=X, notes=(*samples.notes, *notes))


def _stacked(names: Sequence[str], parts: list[Samples]) -> Samples:
    first = parts[0]
    for name, part in zip(names[1:], parts[1:], strict=True):
        _check_same_columns(names[0], first, name, part)
    blocks = [part.X for part in parts]
    X = sp.vstack(blocks, "csr") if any(map(sp.issparse, blocks)) else np.concatenate(blocks)
    beside = {name: np.concatenate([part.beside[name] for part in parts]) for name in first.beside}
    notes = tuple(note for part in parts for note in part.notes)
    ids = [part.ids for part in parts if part.ids is not None]
    if not ids:
        return Samples(X, first.columns, None, beside, notes)
    if len(ids) < len(parts):
        raise ValueError(f"some of the files {list(names)} have ids and others have none; cluster them apart")
    of_all = Ids(ids[0].name, np.concatenate([found.values for found in ids]))
    return Samples(X, first.columns, of_all, beside, notes)


def _check_same_columns(first_name: str, first: Samples, name: str, part: Samples) -> None:
    widths = first.X.shape[1], part.X.shape[1]
    if widths[0] != widths[1]:
        raise ValueError(f"{name!r} has {widths[1]} features, but {first_name!r} has {widths[0]}")
    if first.columns is None or part.columns is None:
        return
    for place, (expected, found) in enumerate(zip(first.columns, part.columns, strict=True)):
        if expected != found:
            raise ValueError(
                f"{name!r} has {found!r} as feature {place}, but {first_name!r} has {expected!r} there; all "
                "files must have the same columns in the same order"
            )
