"""`diffpeaks report IN... -o report.html`: from files of points, or a saved model, to a page to read."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diffpeaks._density_peaks import DensityPeaks
from diffpeaks.cli.captions import add_captions
from diffpeaks.cli.inputs import add_inputs
from diffpeaks.cli.mapping import add_map
from diffpeaks.cli.parameters import add_parameters
from diffpeaks.cli.progress import add_quiet, progress_shown
from diffpeaks.cli.shown import add_model, check_shown, read_shown, title_of
from diffpeaks.cli.summary import add_json, rounded, size, tell
from diffpeaks.explorer.saved import read_session
from diffpeaks.files import check_destination, check_present
from diffpeaks.report.writing import N_CLUSTERS, N_MEMBERS, check_report, write_report
from diffpeaks.results.facts import counted, facts_of, singletons_told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser, are_needed=False)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the page, such as report.html")
    add_model(parser)
    add_json(parser)
    add_quiet(parser)
    page = parser.add_argument_group("the page")
    page.add_argument("--title", help="title of the page; default: the names of the files")
    page.add_argument(
        "--clusters",
        type=int,
        metavar="N",
        default=N_CLUSTERS,
        help=f"number of clusters that are shown in full, the largest first; default: {N_CLUSTERS}",
    )
    page.add_argument(
        "--members",
        type=int,
        metavar="N",
        default=N_MEMBERS,
        help=f"number of central members shown for each cluster, and of doubtful ones; default: {N_MEMBERS}",
    )
    page.add_argument(
        "--session", metavar="FILE", help="a session saved in the explorer, whose clusters the page shows"
    )
    add_captions(parser)
    add_map(parser)
    add_parameters(parser)


def run(given: argparse.Namespace) -> None:
    _check(given)
    with progress_shown(given):
        model, seconds = _reported(given)
    summary = _summary(given, model, seconds)
    tell(summary, () if given.quiet else _lines(summary), given.json)


def _reported(given: argparse.Namespace) -> tuple[DensityPeaks, dict[str, float]]:
    """The fit of which the page was written, and what the parts of the run took."""
    start = time.perf_counter()
    model, samples, captions, drawn = read_shown(given)
    read = time.perf_counter()
    if given.model is None:
        model.fit(samples.X)
    fitted = time.perf_counter()
    # of a fit that was saved, only what it took to read it is known
    seconds = {"read": read - start} | ({"fit": fitted - read} if given.model is None else {})
    write_report(
        model,
        given.output,
        captions,
        drawn.how,
        axis_names=drawn.axis_names,
        title=title_of(given),
        n_clusters=given.clusters,
        n_members=given.members,
        session=given.session,
        data=", ".join([*given.inputs, *filter(None, [given.model])]),
        seconds=seconds,
    )
    return model, {**seconds, "write": time.perf_counter() - fitted}


def _check(given: argparse.Namespace) -> None:
    """Refuse what would fail after the work, or would have no effect."""
    check_destination(given.output, [*given.inputs, *filter(None, [given.model])], is_table=False)
    check_report(given.clusters, given.members)
    check_shown(given)
    if given.session is not None:
        check_present(given.session)
        read_session(given.session)


def _summary(given: argparse.Namespace, model: DensityPeaks, seconds: dict[str, float]) -> dict[str, Any]:
    facts = facts_of(model)
    return {
        "inputs": given.inputs,
        "model": given.model,
        "n_samples": len(model.labels_),
        **{name: facts[name] for name in ("n_clusters", "n_singletons", "n_noise")},
        "seconds": {name: rounded(value) for name, value in seconds.items()},
        "output": given.output,
        "output_bytes": Path(given.output).stat().st_size,
    }


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield f"points     {summary['n_samples']:,} samples"
    yield f"clusters   {summary['n_clusters']:,}{singletons_told(summary['n_singletons'])}"
    yield f"noise      {counted(summary['n_noise'], 'sample')}"
    yield "seconds    " + ", ".join(f"{name} {value:.2f}" for name, value in summary["seconds"].items())
    yield f"report     {summary['output']}, {size(summary['output_bytes'])}"
