"""What a command says of its work: lines for people on standard error, or JSON on standard output."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the summary as JSON on standard output")


def tell(summary: dict[str, Any], lines: Iterable[str], as_json: bool, file: Any = None) -> None:
    """Print the summary; `file` is where lines go, standard error by default."""
    if as_json:
        print(json.dumps(summary, indent=2, allow_nan=False))
        return
    for line in lines:
        print(line, file=sys.stderr if file is None else file)


def rounded(seconds: float) -> float:
    return round(seconds, 3)


def size(n_bytes: int) -> str:
    """A number of bytes for the eye."""
    if n_bytes < 2**20:
        return f"{n_bytes / 2**10:.1f} KiB"
    return f"{n_bytes / 2**20:.1f} MiB" if n_bytes < 2**30 else f"{n_bytes / 2**30:.1f} GiB"
