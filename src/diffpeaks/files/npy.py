"""`.npy`: one array, mapped into memory; objects, which would be pickles, are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.contract import Choice, Results, Samples, Source, Wanted, as_column


def read(source: Source, wanted: Wanted) -> Samples:
    return Samples(array(source))


def column(source: Source, choice: Choice) -> NDArray[Any]:
    if choice.name is not None:
        raise source.fault(f"an array has no column {choice.name!r}; leave the name out")
    return as_column(source, array(source), "the array")


def write(file: BinaryIO, results: Results, origin: Path | None) -> None:
    """The labels alone."""
    np.save(file, results["label"], allow_pickle=False)


def array(source: Source) -> NDArray[Any]:
    """The array, mapped, which reads nothing yet."""
    try:
        with source.open() as file:
            shape = _shape(file)
            if source.path is None or 0 in shape:  # nothing cannot be mapped
                file.seek(0)
                return np.lib.format.read_array(file, allow_pickle=False)
        return np.lib.format.open_memmap(source.path, mode="r")
    except (ValueError, EOFError) as error:
        raise source.fault(f"holds no whole array of numbers ({error}); write the file again") from error


def _shape(file: BinaryIO) -> tuple[int, ...]:
    version = np.lib.format.read_magic(file)
    read_header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    return read_header(file)[0]
