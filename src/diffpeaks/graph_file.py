"""One file for a few scalars and flat arrays that open as they lie on disk.

    8 bytes   magic
    4 bytes   version of the format          (this and what follows is little-endian)
    4 bytes   CRC-32 of the header
    8 bytes   length of the header
    header    JSON: {"scalars": {name: value}, "arrays": [{"name", "dtype", "length", "crc32"}]}
    arrays    in the order of the header, each from the next multiple of 64 bytes

The file ends with the last array. There is nothing to execute in it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import mmap as memory_map
import os
import struct
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from diffpeaks._files import replacing

# A byte above 127 and both kinds of line ends: a transfer as text would damage the magic and be noticed.
_MAGIC = b"\x89DPG\r\n\x1a\n"
_VERSION = 1
_PREFIX = struct.Struct("<8sIIQ")
_ALIGNMENT = 64
_DTYPES = ("<i4", "<i8", "<f4", "<f8")
_AGAIN = "save the graph again"

Scalars = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def write_graph_file(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write the file, whole or not at all."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    scalars = {name: value for name, value in values.items() if name not in arrays}
    stored = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    with replacing(path) as file:
        _write(file, _header(scalars, stored), stored)


def _write(file: BinaryIO, header: bytes, arrays: Arrays) -> None:
    file.write(_PREFIX.pack(_MAGIC, _VERSION, zlib.crc32(header), len(header)))
    file.write(header)
    for values in arrays.values():
        file.write(b"\0" * (_aligned(file.tell()) - file.tell()))
        values.tofile(file)


def _header(scalars: Scalars, arrays: Arrays) -> bytes:
    listed = [
        {"name": name, "dtype": values.dtype.str, "length": len(values), "crc32": zlib.crc32(values.data)}
        for name, values in arrays.items()
    ]
    plain = {name: _to_json(name, value) for name, value in scalars.items()}
    return json.dumps({"scalars": plain, "arrays": listed}, allow_nan=False).encode()


def _to_json(name: str, value: Any) -> Any:
    """A scalar as JSON holds it; the floats that JSON lacks go by their name."""
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise TypeError(f"{name}={value!r} cannot be saved; it must be a number, a string or None")
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def read_graph_file(
    path: str | os.PathLike[str], defaults: dict[str, Any], mmap: bool, check: bool
) -> dict[str, Any]:
    """Values of the fields that `defaults` names, MISSING for those that a file must have.

    Arrays are read-only; without `check` they are not looked at.
    """
    scalars, arrays = _read(path, mmap, check)
    stored = {**scalars, **arrays}
    required = {name for name, value in defaults.items() if value is dataclasses.MISSING}
    if arrays.keys() != required or not stored.keys() <= defaults.keys():
        raise ValueError(
            f"{str(path)!r} holds {sorted(stored)}, but a graph of this diffpeaks consists of "
            f"{sorted(defaults)}; use the diffpeaks that wrote it"
        )
    return {**defaults, **stored}


def _read(path: str | os.PathLike[str], mmap: bool, check: bool) -> tuple[Scalars, Arrays]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header, end = _read_header(path, file, size)
        places = []
        for array in header["arrays"]:
            places.append(_aligned(end))
            end = places[-1] + array["length"] * np.dtype(array["dtype"]).itemsize
        if size != end:
            what = "the end is missing" if size < end else "something was appended"
            raise ValueError(f"{str(path)!r} has {size} bytes instead of {end}: {what}; {_AGAIN}")
        whole = memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_READ) if mmap else None
        arrays = {}
        for begin, array in zip(places, header["arrays"], strict=True):
            values = _values(file, whole, begin, array)
            if check and zlib.crc32(values.data) != array["crc32"]:
                raise ValueError(
                    f"{str(path)!r} is damaged: {array['name']} differs from what was saved; {_AGAIN}"
                )
            arrays[array["name"]] = values.astype(values.dtype.newbyteorder("="), copy=False)
    return {name: _from_json(value) for name, value in header["scalars"].items()}, arrays


def _values(file: BinaryIO, whole: memory_map.mmap | None, begin: int, array: dict[str, Any]) -> NDArray[Any]:
    """One array: a view of the mapped file, or a copy in memory."""
    if whole is not None:
        return np.frombuffer(whole, array["dtype"], array["length"], begin)
    file.seek(begin)
    values = np.fromfile(file, array["dtype"], array["length"])
    values.flags.writeable = False
    return values


def _read_header(path: Any, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    prefix = file.read(_PREFIX.size)
    if not prefix or prefix[: len(_MAGIC)] != _MAGIC[: len(prefix)]:
        raise ValueError(f"{str(path)!r} is not a saved graph: it does not begin with {_MAGIC!r}")
    if len(prefix) < _PREFIX.size:
        raise ValueError(f"{str(path)!r} has only {size} bytes: the end is missing; {_AGAIN}")
    _, version, checksum, length = _PREFIX.unpack(prefix)
    if version != _VERSION:
        raise ValueError(
            f"{str(path)!r} is a graph of format version {version}, but this diffpeaks reads version "
            f"{_VERSION}; use the diffpeaks that wrote it, or {_AGAIN} with this one"
        )
    if length > size - _PREFIX.size:
        raise ValueError(f"{str(path)!r} has only {size} bytes: the end is missing; {_AGAIN}")
    text = file.read(length)
    if zlib.crc32(text) != checksum or not _understood(text):
        raise ValueError(f"{str(path)!r} is damaged: its header is not what was saved; {_AGAIN}")
    return json.loads(text), _PREFIX.size + length


def _understood(text: bytes) -> bool:
    """Whether a header says all that is needed to find the arrays."""
    try:
        header = json.loads(text)
        _ = {name: _from_json(value) for name, value in header["scalars"].items()}
        return all(
            isinstance(array["name"], str)
            and array["dtype"] in _DTYPES
            and isinstance(array["length"], int)
            and array["length"] >= 0
            and isinstance(array["crc32"], int)
            for array in header["arrays"]
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _from_json(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
