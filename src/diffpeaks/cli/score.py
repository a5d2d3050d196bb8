"""`diffpeaks score LABELS [TRUTH]`: how well labels agree with the truth."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from diffpeaks._base.constants import NOISE
from diffpeaks.cli.inputs import add_format
from diffpeaks.cli.summary import add_json, tell
from diffpeaks.files import Choice, label_column, read_column
from diffpeaks.metrics import bcubed_scores, pairwise_scores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labels", metavar="LABELS", help="the file of labels, as diffpeaks cluster writes it")
    parser.add_argument(
        "truth", metavar="TRUTH", nargs="?", help="the file of true labels; default: the file of labels"
    )
    parser.add_argument(
        "--label-column", metavar="COLUMN", help="the column of labels; default: the one that cluster writes"
    )
    parser.add_argument(
        "--truth-column",
        metavar="COLUMN",
        help="the column of true labels; default: the only one beside the id",
    )
    parser.add_argument(
        "--id", metavar="COLUMN", help="match samples by this column of both files; default: row by row"
    )
    add_format(parser)
    add_json(parser)


def run(given: argparse.Namespace) -> None:
    truth_file = given.labels if given.truth is None else given.truth
    if given.truth is None and given.truth_column is None:
        raise ValueError("the truth is missing; give a second file, or --truth-column of the same one")
    labels = _labels(given)
    truth = read_column(truth_file, Choice(given.truth_column, "--truth-column", given.id), given.format)
    if given.id is not None:
        truth = truth[_matching(given, truth_file)]
    if len(labels) != len(truth):
        raise ValueError(
            f"there are {len(labels)} labels in {given.labels!r}, but {len(truth)} values of the truth in "
            f"{truth_file!r}; match them by --id, or give files of the same samples"
        )
    summary = scores(truth, labels)
    tell(summary, (f"{name:10} {_shown(value)}" for name, value in summary.items()), given.json, sys.stdout)


def scores(truth: NDArray[Any], labels: NDArray[np.int64]) -> dict[str, Any]:
    """All scores, each sample of noise as a cluster of its own."""
    noise = labels == NOISE
    alone = labels.copy()
    alone[noise] = labels.max() + 1 + np.arange(np.count_nonzero(noise))
    return {
        "n_samples": len(labels),
        "n_clusters": len(np.unique(labels[~noise])),
        "n_noise": int(np.count_nonzero(noise)),
        "pairwise": pairwise_scores(truth, labels)._asdict(),
        "bcubed": bcubed_scores(truth, labels)._asdict(),
        "ami": float(adjusted_mutual_info_score(truth, alone)),
        "ari": float(adjusted_rand_score(truth, alone)),
    }


def _labels(given: argparse.Namespace) -> NDArray[np.int64]:
    name = given.label_column or label_column(given.labels, given.format)
    found = read_column(given.labels, Choice(name, "--label-column", given.id), given.format)
    for row, value in enumerate(found.tolist()):
        if not _is_label(value):
            place = f"row {row}" if name is None else f"row {row}, column {name!r}"
            raise ValueError(f"{given.labels!r}: {place}: {value!r} is no label; labels are integers")
    return found.astype(np.int64)


def _is_label(value: Any) -> bool:
    try:
        return float(int(value)) == float(value) and abs(int(value)) < 2**63
    except (OverflowError, TypeError, ValueError):
        return False


def _matching(given: argparse.Namespace, truth_file: str) -> NDArray[np.int64]:
    """For each label the row of the truth that has its id."""
    id_column = Choice(given.id, "--id")
    rows: dict[str, int] = {}
    for row, value in enumerate(map(str, read_column(truth_file, id_column, given.format).tolist())):
        if rows.setdefault(value, row) != row:
            raise ValueError(f"{truth_file!r}: row {row}, column {given.id!r}: {value!r} occurs twice")
    ids = list(map(str, read_column(given.labels, id_column, given.format).tolist()))
    for row, value in enumerate(ids):
        if value not in rows:
            raise ValueError(f"{given.labels!r}: row {row}, column {given.id!r}: {value!r} has no truth")
    return np.array([rows[value] for value in ids], np.int64)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "F {f:.4f}, precision {precision:.4f}, recall {recall:.4f}".format(**value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
