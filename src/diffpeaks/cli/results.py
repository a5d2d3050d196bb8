"""The table of results that commands write: ids first, then what was found."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from diffpeaks.files import Samples, check_destination

ROW = "row"  # the column of row numbers, where samples have no ids


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="a .csv, .tsv or .parquet; an .npy of the labels alone; an .h5ad, which is a copy of the input "
        "with the results; default: csv on standard output",
    )


def check_output(given: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Refuse what could not be written before the work is done."""
    if given.output is not None:
        check_destination(given.output, inputs)
    elif given.json:
        raise ValueError(
            "--json prints the summary on standard output, where the labels would go too; write them to a "
            "file with -o OUT"
        )


def with_ids(samples: Samples, found: dict[str, Any]) -> dict[str, Any]:
    """The ids of the samples, or their row numbers from 0, and what was found of them."""
    name, values = samples.ids or (ROW, np.arange(samples.X.shape[0]))
    if name in found:
        raise ValueError(f"the id is named {name!r} like a column of the results; rename it in the input")
    return {name: values, **found}
