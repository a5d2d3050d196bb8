"""The one table of formats."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath

from diffpeaks.files import arrow, h5ad, npy, npz, raw, text
from diffpeaks.files.contract import Format


def _text(suffix: str, delimiter: str) -> Format:
    return Format(
        (suffix,),
        ("columns", "id", "header", "beside"),
        partial(text.read, delimiter=delimiter),
        partial(text.column, delimiter=delimiter),
        partial(text.write, delimiter=delimiter),
        label="label",
    )


FORMATS = {
    "npy": Format((".npy",), (), npy.read, npy.column, npy.write),
    "npz": Format((".npz",), ("key", "id"), npz.read, npz.column),
    "csv": _text(".csv", ","),
    "tsv": _text(".tsv", "\t"),
    "parquet": Format(
        (".parquet",),
        ("columns", "id", "beside"),
        partial(arrow.read, opener=arrow.parquet),
        partial(arrow.column, opener=arrow.parquet),
        arrow.write_parquet,
        needs=arrow.EXTRA,
        label="label",
    ),
    "arrow": Format(
        (".arrow", ".feather", ".arrows"),
        ("columns", "id", "beside"),
        partial(arrow.read, opener=arrow.feather),
        partial(arrow.column, opener=arrow.feather),
        needs=arrow.EXTRA,
    ),
    "bin": Format((".bin",), ("width",), raw.read, raw.column),
    "h5ad": Format(
        (".h5ad",),
        ("key", "id", "beside"),
        h5ad.read,
        h5ad.column,
        h5ad.write,
        writes_from=("h5ad",),
        needs=h5ad.EXTRA,
        label=h5ad.PREFIX + "label",
    ),
}


def format_of(name: str) -> str | None:
    """The format that a file's name tells, if any."""
    suffix = PurePath(name).suffix.lower()
    return next((found for found, format in FORMATS.items() if suffix in format.suffixes), None)
