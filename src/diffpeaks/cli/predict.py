"""`diffpeaks predict MODEL IN...`: the clusters of new points, by a model that `cluster --save` wrote."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from diffpeaks._base.constants import NOISE
from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cli.inputs import add_inputs, samples_of
from diffpeaks.cli.progress import add_quiet, progress_shown
from diffpeaks.cli.results import add_output, check_output, with_ids
from diffpeaks.cli.summary import add_json, rounded, tell
from diffpeaks.files import Samples, check_present, write_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a file that diffpeaks cluster --save wrote")
    add_inputs(parser)
    add_output(parser)
    add_json(parser)
    add_quiet(parser)


def run(given: argparse.Namespace) -> None:
    check_output(given, [*given.inputs, given.model])
    check_present(given.model)
    start = time.perf_counter()
    with progress_shown(given):
        model = DensityPeaks.load(given.model)
        samples = samples_of(given, model.metric)
        _check_names(model, samples, given.model)
        labels = model.predict(samples.X)
    write_results(given.output, with_ids(samples, {"label": labels}), given.inputs)
    summary = {
        "model": given.model,
        "inputs": given.inputs,
        "n_samples": len(labels),
        "n_noise": int(np.count_nonzero(labels == NOISE)),
        "seconds": rounded(time.perf_counter() - start),
        "output": given.output,
    }
    tell(summary, () if given.quiet else _lines(summary), given.json)


def _check_names(model: DensityPeaks, samples: Samples, name: str) -> None:
    """Refuse other columns than those of the fit, as far as both are known."""
    if not hasattr(model, "feature_names_in_"):
        return
    expected = model.feature_names_in_
    del model.feature_names_in_  # scikit-learn would warn of an array, which has no names
    if samples.columns is None or tuple(expected) == samples.columns:
        return
    raise ValueError(
        f"the points have the columns {_ends(samples.columns)}, but the model {name!r} was fitted on "
        f"{_ends(tuple(expected))}; choose the same with --columns"
    )


def _ends(columns: tuple[str, ...]) -> str:
    return f"{columns[0]!r} .. {columns[-1]!r} ({len(columns)} in all)"


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield f"predicted {summary['n_samples']:,} samples, of which {summary['n_noise']:,} are noise"
    yield f"seconds   {summary['seconds']:.2f}"
    yield f"labels    {summary['output'] or 'standard output'}"
