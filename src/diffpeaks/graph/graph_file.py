"""The fields of a graph in one file."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from diffpeaks._base.array_file import FileName, Format, from_json, read_array_file, to_json, write_array_file

# A byte above 127 and both kinds of line ends: a transfer as text would damage the magic and be noticed.
GRAPH = Format("graph", b"\x89DPG\r\n\x1a\n", 1)


def write_graph_file(path: FileName, values: dict[str, Any]) -> None:
    """Write the file, whole or not at all."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    scalars = {name: to_json(name, value) for name, value in values.items() if name not in arrays}
    write_array_file(path, GRAPH, scalars, arrays)


def read_graph_file(path: FileName, defaults: dict[str, Any], mmap: bool, check: bool) -> dict[str, Any]:
    """Values of the fields that `defaults` names, MISSING for those that a file must have.

    Arrays are read-only; without `check` they are not looked at.
    """
    scalars, arrays = read_array_file(path, GRAPH, mmap, check)
    try:
        stored = {**{name: from_json(value) for name, value in scalars.items()}, **arrays}
    except (KeyError, TypeError, ValueError) as error:
        raise GRAPH.damage(path, "its header is not what was saved") from error
    required = {name for name, value in defaults.items() if value is dataclasses.MISSING}
    if arrays.keys() != required or not stored.keys() <= defaults.keys():
        raise ValueError(
            f"{str(path)!r} holds {sorted(stored)}, but a graph of this diffpeaks consists of "
            f"{sorted(defaults)}; use the diffpeaks that wrote it"
        )
    return {**defaults, **stored}
