"""`diffpeaks cluster IN... [-o OUT | --out FOLDER] [--save MODEL]`: from files of points to labels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cli import shards
from diffpeaks.cli.inputs import add_inputs, samples_of
from diffpeaks.cli.parameters import add_parameters, estimator_of
from diffpeaks.cli.progress import add_quiet, progress_shown
from diffpeaks.cli.results import add_output, check_output, with_ids
from diffpeaks.cli.summary import add_json, rounded, tell
from diffpeaks.files import Samples, check_destination, is_same_file, label_column, write_results
from diffpeaks.results.facts import (
    cut_told,
    density_told,
    facts_of,
    neighbors_told,
    recall_told,
    singletons_told,
    smoothing_told,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_output(parser)
    parser.add_argument("--save", metavar="MODEL", help="also save the fitted model, for predict")
    add_json(parser)
    add_quiet(parser)
    shards.add_arguments(parser)
    add_parameters(parser)


def run(given: argparse.Namespace) -> None:
    model = estimator_of(given)
    if shards.is_asked_for(given):
        return shards.run(given)
    check_output(given, given.inputs)
    _check_save(given)
    start = time.perf_counter()
    with progress_shown(given):
        samples = samples_of(given, model.metric)
        read = time.perf_counter()
        model.fit(samples.X)
        results = with_ids(samples, _results(model, given.output))
    fitted = time.perf_counter()
    if given.save is not None:
        _keep_names(model, samples)
        model.save(given.save)
    write_results(given.output, results, given.inputs)
    seconds = {"read": read - start, "fit": fitted - read, "write": time.perf_counter() - fitted}
    summary = {
        "inputs": given.inputs,
        **_summary(model, samples),
        "seconds": {name: rounded(value) for name, value in seconds.items()},
        "output": given.output,
        "model": given.save,
    }
    tell(summary, () if given.quiet else _lines(summary), given.json)


def _check_save(given: argparse.Namespace) -> None:
    if given.save is None:
        return
    check_destination(given.save, given.inputs, is_table=False)
    if given.output is not None and is_same_file(given.output, given.save):
        raise ValueError(f"{given.save!r} is named twice, by -o and by --save; give two names")


def _results(model: DensityPeaks, output: str | None) -> dict[str, Any]:
    """Columns for each sample; what costs time is left out where the format holds labels alone."""
    if output is not None and label_column(output) is None:
        return {"label": model.labels_}
    density, delta = model.decision_graph()
    return {"label": model.labels_, "density": density, "delta": delta, "probability": model.probabilities_}


def _keep_names(model: DensityPeaks, samples: Samples) -> None:
    """As scikit-learn keeps them of tables, so that a model knows its columns again."""
    if samples.columns is not None:
        model.feature_names_in_ = np.array(samples.columns, dtype=object)


def _summary(model: DensityPeaks, samples: Samples) -> dict[str, Any]:
    n_samples, n_features = samples.X.shape
    return {
        "n_samples": n_samples,
        "n_features": n_features,
        "dtype": str(samples.X.dtype),
        **facts_of(model),
    }


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    n_samples, n_noise = summary["n_samples"], summary["n_noise"]
    yield f"points     {n_samples:,} samples of {summary['n_features']:,} features, {summary['dtype']}"
    yield f"neighbours {neighbors_told(summary)}, {summary['metric']}"
    yield f"search     {summary['search']}, {recall_told(summary)}"
    yield f"density    {density_told(summary)}"
    yield f"smoothing  {smoothing_told(summary)}"
    yield f"isolated   {summary['isolation']['why']}"
    yield f"cut        {cut_told(summary)}"
    yield f"clusters   {summary['n_clusters']:,}{singletons_told(summary['n_singletons'])}"
    yield f"noise      {n_noise:,} samples ({100 * n_noise / n_samples:.1f}%)"
    yield "seconds    " + ", ".join(f"{name} {value:.2f}" for name, value in summary["seconds"].items())
    yield f"labels     {summary['output'] or 'standard output'}"
    if summary["model"] is not None:
        yield f"model      {summary['model']}"
