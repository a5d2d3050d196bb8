"""What is shown of samples beside their numbers, as options: the same for every command that shows any."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from diffpeaks.captions import Captions, Pictures
from diffpeaks.files import Choice, Samples, read_column

MOST_OWN_COLUMNS = 40  # of a table that are shown where none are named


def add_captions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown of samples")
    group.add_argument("--text", metavar="COLUMN", help="the column of texts")
    group.add_argument("--show", metavar="COLUMN", nargs="+", default=[], help="other columns")
    group.add_argument("--images", metavar="FOLDER", help="the folder of pictures")
    group.add_argument(
        "--image-column",
        metavar="COLUMN",
        help="the column of their file names, relative to the folder; default: the id, or the row number "
        "from 0, with an ending such as .png",
    )
    group.add_argument(
        "--captions",
        metavar="FILE",
        help="a table with these columns, one row for each sample in the same order; default: the input",
    )


def check_captions(given: argparse.Namespace) -> None:
    """Refuse what would have no effect, and a folder that is not there, before anything is read."""
    if given.image_column is not None and given.images is None:
        raise ValueError(f"--image-column {given.image_column!r} needs the folder of pictures; give --images")
    if given.captions is not None and not _columns(given):
        raise ValueError(f"no column of {given.captions!r} is asked for; name some with --text or --show")
    if given.captions is None and not given.inputs and _columns(given):
        raise ValueError(f"the columns {list(_columns(given))} are in no file; give the input or --captions")
    if given.images is not None:
        Pictures(given.images, np.empty(0, object))


def columns_beside(given: argparse.Namespace) -> tuple[str, ...]:
    """The columns that are to be read from the files of points."""
    return () if given.captions is not None else _columns(given)


def captions_of(given: argparse.Namespace, samples: Samples) -> Captions:
    """What the options name, of samples that were read with `columns_beside`."""
    n_samples = samples.X.shape[0]
    columns: Any = samples.beside if given.captions is None else _table(given, n_samples)
    ids = None if samples.ids is None else samples.ids.values
    names = columns[given.image_column] if given.image_column is not None else ids
    pictures = None
    if given.images is not None:
        pictures = Pictures(given.images, np.arange(n_samples) if names is None else names)
    text = None if given.text is None else columns[given.text]
    return Captions(n_samples, ids, text, {name: columns[name] for name in given.show}, pictures)


def with_own_columns(captions: Captions, samples: Samples) -> Captions:
    """A table of which nothing else is shown shows its own columns, if it is not too wide to read."""
    names = samples.columns
    says_something = captions.text is not None or captions.metadata or captions.pictures is not None
    if names is None or says_something or len(names) > MOST_OWN_COLUMNS or sp.issparse(samples.X):
        return captions
    return replace(captions, metadata={name: samples.X[:, place] for place, name in enumerate(names)})


def _columns(given: argparse.Namespace) -> tuple[str, ...]:
    named = (given.text, *given.show, given.image_column)
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _table(given: argparse.Namespace, n_samples: int) -> dict[str, NDArray[Any]]:
    table = {}
    for name in _columns(given):
        table[name] = read_column(given.captions, Choice(name, "--text", may_miss=True))
    for name, values in table.items():
        if len(values) != n_samples:
            raise ValueError(
                f"{given.captions!r} has {len(values)} values of {name!r} for {n_samples} samples; it must "
                "have one row for each, in their order"
            )
    return table
