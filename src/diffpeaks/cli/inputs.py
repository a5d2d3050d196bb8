"""Files of points as arguments, the same for every command that reads them."""

from __future__ import annotations

import argparse
import sys

from diffpeaks.files import FORMATS, Samples, Wanted, read_samples
from diffpeaks.progress import stage

_MAY_MISS = "nan_euclidean"  # the metric with a meaning for values that are missing


def add_inputs(parser: argparse.ArgumentParser, are_needed: bool = True) -> None:
    files = "files of points; - is standard input"
    parser.add_argument("inputs", nargs="+" if are_needed else "*", metavar="IN", help=files)
    group = parser.add_argument_group("what is read")
    add_format(group)
    group.add_argument(
        "--columns",
        action="append",
        metavar="PATTERN",
        help="a column of numbers by name, or several by a pattern like 'pc*'; may be given several times; "
        "default: all but the id",
    )
    group.add_argument(
        "--id", metavar="COLUMN", help="the column with the ids of samples; it is copied to the output"
    )
    group.add_argument("--key", help="the array in an .npz, or the matrix of obsm in an .h5ad (default: X)")
    group.add_argument("--width", type=int, metavar="N", help="the number of features in a .bin of float32")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line of a .csv or .tsv names the columns; required if that line holds only "
        "numbers",
    )


def add_format(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="the format of the input; default: from the ending of the file's name",
    )


@stage("reading")
def samples_of(given: argparse.Namespace, metric: str, beside: tuple[str, ...] = ()) -> Samples:
    """The samples that the arguments name, and the columns of any values that are wanted beside them."""
    wanted = Wanted(tuple(given.columns or ()), given.id, given.key, given.width, given.header, beside)
    samples = read_samples(given.inputs, wanted, given.format, may_miss=metric == _MAY_MISS)
    if not getattr(given, "quiet", False):
        for note in samples.notes:
            print(f"diffpeaks: {note}", file=sys.stderr)
    return samples
