"""`.bin`: float32 numbers in the order of rows, little-endian, and nothing else; mapped into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffpeaks.files.contract import Choice, Samples, Source, Wanted

_NUMBER = np.dtype("<f4")


def read(source: Source, wanted: Wanted) -> Samples:
    width = wanted.width
    if width is None:
        raise source.fault("does not say how many features its rows have; give --width")
    if width < 1:
        raise source.fault(f"--width={width} must be at least 1")
    n_bytes = len(source.content) if source.path is None else source.path.stat().st_size
    n_rows, rest = divmod(n_bytes, width * _NUMBER.itemsize)
    if rest:
        raise source.fault(
            f"its {n_bytes:,} bytes are {n_rows:,} rows of {width} float32 numbers and {rest} bytes more; "
            "correct --width, or the file is cut off in its last row"
        )
    if source.path is None:
        return Samples(np.frombuffer(source.content, _NUMBER).reshape(n_rows, width))
    return Samples(np.memmap(source.path, _NUMBER, mode="r", shape=(n_rows, width)))


def column(source: Source, choice: Choice) -> NDArray[Any]:
    raise source.fault("raw float32 numbers hold no labels; use another format")
