"""One file for a few plain values and arrays that open as they lie on disk.

    8 bytes   magic
    4 bytes   version of the format          (this and what follows is little-endian)
    4 bytes   CRC-32 of the header
    8 bytes   length of the header
    header    JSON: {"scalars": {name: value}, "arrays": [{"name", "dtype", "length", "crc32"}]}
    arrays    in the order of the header, each from the next multiple of 64 bytes

An array that is not flat also has a "shape" in the header. The file ends with the last array. There is
nothing to execute in it.
"""

from __future__ import annotations

import json
import math
import mmap as memory_map
import os
import struct
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from diffpeaks._base.files import replacing

_PREFIX = struct.Struct("<8sIIQ")
_ALIGNMENT = 64
DTYPES = ("<i4", "<i8", "<f4", "<f8")
FileName: TypeAlias = str | os.PathLike[str]
Arrays: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Format:
    """What a kind of file holds, and how it begins."""

    holds: str
    magic: bytes
    version: int

    @property
    def again(self) -> str:
        return f"save the {self.holds} again"

    def damage(self, path: FileName, what: str) -> ValueError:
        return ValueError(f"{str(path)!r} is damaged: {what}; {self.again}")


def to_json(name: str, value: Any) -> Any:
    """A scalar as JSON holds it; the floats that JSON lacks go by their name."""
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise TypeError(f"{name}={value!r} cannot be saved; it must be a number, a string or None")
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def from_json(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def write_array_file(path: FileName, form: Format, scalars: dict[str, Any], arrays: Arrays) -> None:
    """Write the file, whole or not at all; the scalars are as JSON holds them."""
    flat = {
        name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")).reshape(-1) for name, a in arrays.items()
    }
    shapes = {name: a.shape for name, a in arrays.items() if a.ndim != 1}
    with replacing(path) as file:
        _write(file, form, _header(scalars, flat, shapes), flat)


def _write(file: BinaryIO, form: Format, header: bytes, arrays: Arrays) -> None:
    file.write(_PREFIX.pack(form.magic, form.version, zlib.crc32(header), len(header)))
    file.write(header)
    for values in arrays.values():
        file.write(b"\0" * (_aligned(file.tell()) - file.tell()))
        values.tofile(file)


def _header(scalars: dict[str, Any], arrays: Arrays, shapes: dict[str, tuple[int, ...]]) -> bytes:
    listed: list[dict[str, Any]] = [
        {"name": name, "dtype": values.dtype.str, "length": len(values), "crc32": zlib.crc32(values.data)}
        for name, values in arrays.items()
    ]
    for array in listed:
        if array["name"] in shapes:
            array["shape"] = shapes[array["name"]]
    return json.dumps({"scalars": scalars, "arrays": listed}, allow_nan=False).encode()


def read_array_file(path: FileName, form: Format, mmap: bool, check: bool) -> tuple[dict[str, Any], Arrays]:
    """The scalars as JSON holds them, and the arrays, read-only; without `check` they are not looked at."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header, end = _read_header(path, form, file, size)
        places = []
        for array in header["arrays"]:
            places.append(_aligned(end))
            end = places[-1] + array["length"] * np.dtype(array["dtype"]).itemsize
        if size != end:
            what = "the end is missing" if size < end else "something was appended"
            raise ValueError(f"{str(path)!r} has {size} bytes instead of {end}: {what}; {form.again}")
        whole = memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_READ) if mmap else None
        arrays = {}
        for begin, array in zip(places, header["arrays"], strict=True):
            values = _values(file, whole, begin, array)
            if check and zlib.crc32(values.data) != array["crc32"]:
                raise form.damage(path, f"{array['name']} differs from what was saved")
            values = values.astype(values.dtype.newbyteorder("="), copy=False)
            arrays[array["name"]] = values.reshape(array.get("shape", -1))
    return header["scalars"], arrays


def _values(file: BinaryIO, whole: memory_map.mmap | None, begin: int, array: dict[str, Any]) -> NDArray[Any]:
    """One array: a view of the mapped file, or a copy in memory."""
    if whole is not None:
        return np.frombuffer(whole, array["dtype"], array["length"], begin)
    file.seek(begin)
    values = np.fromfile(file, array["dtype"], array["length"])
    values.flags.writeable = False
    return values


def _read_header(path: FileName, form: Format, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    prefix = file.read(_PREFIX.size)
    if not prefix or prefix[: len(form.magic)] != form.magic[: len(prefix)]:
        raise ValueError(f"{str(path)!r} is not a saved {form.holds}: it does not begin with {form.magic!r}")
    if len(prefix) < _PREFIX.size:
        raise ValueError(f"{str(path)!r} has only {size} bytes: the end is missing; {form.again}")
    _, version, checksum, length = _PREFIX.unpack(prefix)
    if version != form.version:
        raise ValueError(
            f"{str(path)!r} is a {form.holds} of format version {version}, but this diffpeaks reads version "
            f"{form.version}; use the diffpeaks that wrote it, or {form.again} with this one"
        )
    if length > size - _PREFIX.size:
        raise ValueError(f"{str(path)!r} has only {size} bytes: the end is missing; {form.again}")
    text = file.read(length)
    if zlib.crc32(text) != checksum or not _understood(text):
        raise form.damage(path, "its header is not what was saved")
    return json.loads(text), _PREFIX.size + length


def _understood(text: bytes) -> bool:
    """Whether a header says all that is needed to find the arrays."""
    try:
        header = json.loads(text)
        return isinstance(header["scalars"], dict) and all(
            isinstance(array["name"], str)
            and array["dtype"] in DTYPES
            and isinstance(array["crc32"], int)
            and all(_is_size(size) for size in (array["length"], *array.get("shape", ())))
            and math.prod(array.get("shape", (array["length"],))) == array["length"]
            for array in header["arrays"]
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
